"""lkbench as a program: its exit codes, its outputs that cannot be written, Ctrl-C. No GPU is used.

usage: lkbench_test.py LKBENCH BENCH_TEST
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
BENCH_TEST = sys.argv.pop(1)

sys.path.insert(0, os.path.dirname(__file__))
import schema  # noqa: E402


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

    def hold_against_schema(self, path, context_too=True):
        with open(os.path.join(ROOT, "bench", "schema.json"), encoding="utf-8") as file:
            rules = json.load(file)
        with open(path, encoding="utf-8") as file:
            found = schema.faults(json.load(file), rules)
        if not context_too:
            found = [f for f in found if not f.startswith("$.context: ")]
        self.assertEqual(found, [])

    def test_files_keep_to_the_schema(self):
        self.assertEqual(run(*SMALL, "--n=2^10", f"--out={self.out}").returncode, 0)
        self.hold_against_schema(self.out)
        # A record with every figure that a GPU gives.
        subprocess.run([BENCH_TEST, "--gtest_filter=Json.WritesEveryFieldThereIs"], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "LKBENCH_TEST_JSON": self.out})
        self.hold_against_schema(self.out, context_too=False)
        results = os.path.join(ROOT, "bench", "results")
        for name in os.listdir(results):
            with open(os.path.join(results, name), encoding="utf-8") as file:
                if name.endswith(".json") and json.load(file).get("schema") == 2:
                    self.hold_against_schema(os.path.join(results, name))

    def test_the_schema_check_sees_faults(self):
        rules = {"type": "object", "required": ["a"], "additionalProperties": False,
                 "properties": {"a": {"type": "integer"}, "b": {"enum": ["x"]}}}
        self.assertEqual(schema.faults({"a": 1, "b": "x"}, rules), [])
        for wrong in ({}, {"a": "1"}, {"a": True}, {"a": 1, "b": "y"}, {"a": 1, "c": 2}, []):
            self.assertNotEqual(schema.faults(wrong, rules), [], wrong)
        self.assertNotEqual(schema.faults(1, {"minimum": 2}), [])

    def test_l8_no_profiler_can_be_in_the_way(self):
        # Public bug L8: a second CUPTI subscriber made start-up fail. lkbench subscribes to none.
        with open(LKBENCH, "rb") as file:
            self.assertNotIn(b"libcupti", file.read())

    def test_explain_says_which_kernel_and_why(self):
        result = run(*SMALL, "--explain", "--device=h200")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gelu_sm90", result.stdout)
        pinned = run(*SMALL, "--arch=80")
        self.assertIn("gelu_sm80", pinned.stdout)
        self.assertNotIn("gelu_sm90", pinned.stdout)

    def test_a_pipe_gets_no_progress(self):
        self.assertNotIn("left", run(*SMALL, "--n=2^10,2^11").stderr)

    def test_filters_without_a_row(self):
        self.refused("--benchmark_filter=nothing", says="the filters leave no row")
        self.refused("--benchmark_filter=(", says="the filters leave no row")

    def test_a_wrong_environment_stops_before_the_table(self):
        for name, value in (("LK_EMU_DEVICE", "foo"), ("LIBKERNELS_FORCE", "nonsense")):
            result = run(*SMALL, env={**os.environ, name: value})
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(name, result.stderr)
            self.assertEqual(result.stdout, "")

    def test_rows_too_large_for_the_emulator(self):
        arguments = ["--emulate", "--suite=softmax", "--dtype=bf16", "--shape=2^20x2^20"]
        result = run(*arguments, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("too many for the emulator", result.stdout)
        self.assertRegex(run(*arguments, "--list").stdout, r"/1048576x1048576  4398046511104 bytes")

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
