"""lkbench as a program: its exit codes, its outputs that cannot be written, Ctrl-C. No GPU is used.

usage: lkbench_test.py LKBENCH
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SMALL = ["--emulate", "--n=2^10", "--dtype=f32", "--form=tanh"]
LKBENCH = sys.argv.pop(1)


def run(*arguments, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([LKBENCH, *arguments], text=True, check=False, **options)


class Lkbench(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "records.json")

    def refused(self, *arguments, says):
        result = run(*SMALL, f"--out={self.out}", *arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertFalse(os.path.exists(self.out))

    def test_writes_records(self):
        self.assertEqual(run(*SMALL, f"--out={self.out}").returncode, 0)
        with open(self.out, encoding="utf-8") as file:
            kernels = [r["kernel"] for r in json.load(file)["records"]]
        self.assertEqual(len(kernels), len(set(kernels)))

    def test_filters_without_a_row(self):
        self.refused("--benchmark_filter=nothing", says="the filters leave no row")
        self.refused("--benchmark_filter=(", says="the filters leave no row")

    def test_values_of_google_benchmarks_flags(self):
        self.refused("--benchmark_format=xml", says="console, json, csv")
        self.refused("--benchmark_repetitions=3", says="--seconds")

    def test_out_is_checked_before_the_run(self):
        for path, reason in (("/nonexistent/x.json", "No such file or directory"),
                             ("/", "Is a directory")):
            self.refused(f"--out={path}", says=f"--out={path}: cannot be written: {reason}")

    def test_flags_without_effect_are_named(self):
        result = run(*SMALL, "--large", "--seconds=1")
        self.assertIn("no effect on counted rows: --large, --seconds\n", result.stderr)

    def test_standard_output_that_cannot_be_written(self):
        for arguments in (["--help"], ["--emulate", "--list"], SMALL + [f"--out={self.out}"]):
            with self.subTest(arguments), open("/dev/full", "w", encoding="utf-8") as full:
                result = run(*arguments, stdout=full)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("No space left on device", result.stderr)
        self.assertTrue(os.path.exists(self.out))
        result = run(*SMALL, stdout=None, preexec_fn=lambda: os.close(1))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("standard output is closed", result.stderr)

    def test_ctrl_c_shows_and_writes_what_there_is(self):
        process = subprocess.Popen(
            [LKBENCH, "--emulate", "--n=2^16,2^18,2^19,2^20", "--large", f"--out={self.out}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        for line in process.stderr:
            if "no effect" in line:
                break  # it has begun, and heeds signals
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted", errors)
        self.assertIn("COUNTED", output)
        with open(self.out, encoding="utf-8") as file:
            records = json.load(file)["records"]
        self.assertTrue(records)
        self.assertFalse(any(r["elements"] > 2**19 for r in records))

    def test_help_is_what_the_script_shows(self):
        script = subprocess.run([os.path.join(ROOT, "tools", "bench.sh"), "--help-lkbench"],
                                stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(run("--help").stdout, script.stdout)


if __name__ == "__main__":
    unittest.main()
