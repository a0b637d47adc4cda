"""tools/test.sh and tools/bench.sh refuse what they do not know before they install or build."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


class Arguments(unittest.TestCase):

    def run_script(self, script, *arguments):
        return subprocess.run([os.path.join(ROOT, "tools", script), *arguments],
                              capture_output=True, text=True, check=False, timeout=20)

    def test_wrong_ones_are_refused(self):
        for arguments, says in ((["--emulated_only"], "did you mean --emulated-only?"),
                                (["--weror"], "did you mean --werror?"),
                                (["--repeat", "until-fail:2"], "behind --"),
                                (["gelu"], "behind --"),
                                (["-R"], "needs a regular expression"),
                                (["-R", ""], "needs a regular expression"),
                                (["-R", "--werror"], "needs a regular expression"),
                                (["-j"], "needs a number"), (["-jx"], "needs a number")):
            with self.subTest(arguments):
                result = self.run_script("test.sh", *arguments)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(says, result.stderr)
                self.assertNotIn("building", result.stderr)

    def test_help_builds_nothing(self):
        for script, argument in (("test.sh", "--help"), ("bench.sh", "--help"),
                                 ("bench.sh", "--help-lkbench")):
            with self.subTest(f"{script} {argument}"):
                result = self.run_script(script, argument)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout.strip())


class Results(unittest.TestCase):
    """tools/test.sh in a checkout of its own, with stand-ins for all that builds and tests."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        shutil.copytree(os.path.join(ROOT, "tools"), os.path.join(self.root, "tools"))
        self.stand_in("c++", "exit 0")
        self.stand_in("ninja", "exit 0")
        self.stand_in("nvcc", "exit 0")
        self.stand_in("cmake", 'echo "cmake version 3.30.0"')
        self.stand_in("ctest", 'echo "100% tests passed, 0 tests failed out of 3"\n'
                               'echo "Total Test time (real) =   1.00 sec"')

    def stand_in(self, name, text):
        path = os.path.join(self.root, "bin", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def run_test_sh(self, *arguments):
        path = os.path.join(self.root, "bin") + os.pathsep + os.environ["PATH"]
        result = subprocess.run([os.path.join(self.root, "tools", "test.sh"), *arguments],
                                capture_output=True, text=True, check=False, timeout=60,
                                env={**os.environ, "PATH": path, "CXX": "c++"})
        return result.returncode, result.stdout.split("== summary ==")[-1], result.stderr

    def test_success(self):
        code, summary, _ = self.run_test_sh()
        self.assertEqual(code, 0)
        self.assertEqual(summary.count("100% tests passed, 0 tests failed out of 3, 1.00 sec"), 2)

    def test_a_failed_build_leaves_the_other_ones_results(self):
        self.stand_in("cmake", 'echo "cmake version 3.30.0"\n'
                               'case "$*" in *--build*/cuda*) exit 1 ;; esac')
        code, summary, _ = self.run_test_sh()
        self.assertEqual(code, 1)
        self.assertIn("emu: 100% tests passed", summary)
        self.assertIn("cuda: NOT TESTED, the build failed", summary)

    def test_a_selection_must_match_in_one_build_at_least(self):
        self.stand_in("ctest", 'echo "No tests were found!!!"')
        code, summary, errors = self.run_test_sh("-R", "nothing")
        self.assertNotEqual(code, 0)
        self.assertIn("emu: no test matches\ncuda: no test matches\n", summary)
        self.assertIn("no test was run: nothing matches -R nothing", errors)
        self.stand_in("ctest", 'case "$*" in *build/emu*) echo "No tests were found!!!" ;;\n'
                               '*) echo "100% tests passed, 0 tests failed out of 1" ;; esac')
        self.assertEqual(self.run_test_sh("-R", "gelu_gpu")[0], 0)

    def test_failed_tests(self):
        self.stand_in("ctest", 'echo "50% tests passed, 1 tests failed out of 2"; exit 8')
        self.assertEqual(self.run_test_sh()[0], 1)


if __name__ == "__main__":
    unittest.main()
