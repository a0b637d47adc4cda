"""compare_bench.py on made-up results."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
import compare_bench  # noqa: E402

CONTEXT = {"device": "NVIDIA H200", "driver": "580", "power_cap_watts": "700", "cache": "cold",
           "mode": "graph"}


def record(us, shape=(4096, 4096), half=0.002, role="fused", **more):
    summary = {"median": us, "low": us * (1 - half), "high": us * (1 + half)}
    return {"op": "softmax", "role": role, "types": "bf16", "form": "", "shape": list(shape),
            "variant": "", "us": summary, **more}


def results(records, **context):
    return {"schema": 2, "context": {**CONTEXT, **context}, "records": records}


class CompareBench(unittest.TestCase):

    def compare(self, old, new, *flags):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, content in (("old", old), ("new", new)):
                paths.append(os.path.join(folder, name))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    file.write(content if isinstance(content, str) else json.dumps(content))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = compare_bench.main([*paths, *flags])
        return code, out.getvalue(), err.getvalue()

    def test_equal_runs_pass(self):
        run = results([record(10), record(20, (1, 2))])
        code, out, _ = self.compare(run, run, "--fail-if", "slower:2%", "--all")
        self.assertEqual(code, 0)
        self.assertIn("1.000", out)
        self.assertIn("(2 rows)", out)

    def test_a_slower_row_fails(self):
        old, new = results([record(10)]), results([record(10.5)])
        code, out, err = self.compare(old, new, "--fail-if=slower:2%")
        self.assertEqual(code, 1)
        self.assertIn("SLOWER", out)
        self.assertIn("1 rows are slower by more than 2%", err)
        self.assertEqual(self.compare(old, new, "--fail-if=slower:10%")[0], 0)
        self.assertEqual(self.compare(old, new)[0], 0)
        self.assertEqual(self.compare(new, old, "--fail-if=slower:2%")[0], 0)

    def test_what_the_intervals_do_not_tell_apart_is_not_slower(self):
        old, new = results([record(10, half=0.05)]), results([record(10.5, half=0.05)])
        self.assertEqual(self.compare(old, new, "--fail-if=slower:2%")[0], 0)

    def test_refuses_unlike_conditions_unless_told(self):
        for name, key in compare_bench.CONDITIONS.items():
            old, new = results([record(10)]), results([record(10)], **{key: "other"})
            code, _, err = self.compare(old, new)
            self.assertEqual(code, 2, name)
            self.assertIn(f"--allow-different={name}", err)
            self.assertEqual(self.compare(old, new, f"--allow-different={name}")[0], 0, name)

    def test_refuses_what_is_no_result(self):
        run = results([record(10)])
        for broken in ("", "{", "[]", "{}", results([record(10, (9, 9))]), results([]),
                       results([{**record(10), "us": None}]), "[" * 100000, results([5]),
                       results([None]), results([{}]), results([{**record(10), "us": 5}]),
                       results([{**record(10), "shape": 7}]), results([{**record(10), "types": []}]),
                       results([{**record(10), "us": {"median": 10, "low": 0, "high": 10}}]),
                       results([{**record(10), "us": {"median": "x"}}]),
                       results([{**record(10), "op": None}])):
            code, _, err = self.compare(run, broken)
            self.assertEqual(code, 2, broken)
            self.assertTrue(err.startswith("compare_bench: "), err)

    def test_a_row_without_a_new_time_fails(self):
        old, new = results([record(10), record(10, (9, 9))]), results([record(10)])
        self.assertEqual(self.compare(old, new)[0], 0)
        self.assertEqual(self.compare(new, old, "--fail-if=slower:2%")[0], 0)
        code, _, err = self.compare(old, new, "--fail-if=slower:2%")
        self.assertEqual(code, 1)
        self.assertIn("1 rows have no time in", err)

    def test_roles(self):
        run = results([record(10), record(100, role="naive")])
        self.assertIn("(1 rows)", self.compare(run, run)[1])
        self.assertIn("(2 rows)", self.compare(run, run, "--role=all")[1])
        self.assertIn("naive", self.compare(run, run, "--role=naive", "--all")[1])

    def test_files_without_intervals_are_compared_by_their_medians(self):
        old = results([{**record(10), "us": {"median": 10.0}}])
        self.assertEqual(self.compare(old, results([record(11)]), "--fail-if=slower:2%")[0], 1)

    def test_the_flags_are_checked(self):
        for flag in ("--fail-if=faster:2%", "--fail-if=slower:x", "--fail-if=slower:2", "--allow-different=weather"):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                compare_bench.main(["a", "b", flag])


if __name__ == "__main__":
    unittest.main()
