"""README.md tells the truth: its code is the compiled one, its figures are generated, and the
paths it names exist."""

import json
import os
import re
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import update_readme  # noqa: E402


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


RESULTS = {
    "schema": 1,
    "context": {"device": "NVIDIA H200", "date": "2026-11-30T10:00:00Z", "toolkit": "13.0",
                "driver": "580", "mode": "graph", "cache": "cold"},
    "records": [
        {"op": "gelu", "role": "fused", "kernel": "gelu_sm90", "types": "bf16", "form": "tanh",
         "elements": 2**28, "variant": "", "us": {"median": 251.234}, "gb_per_s": 4273.9,
         "ceiling_fraction": 0.994, "speedup_unfused": 2.0, "speedup_naive": 11.04,
         "error_fraction_of_bound": 0.5},
        {"op": "gelu", "role": "fused", "kernel": "gelu_sm90", "types": "f32", "form": "erf",
         "elements": 2**16, "variant": "x+1", "us": {"median": 1.337}, "gb_per_s": None},
        {"op": "gelu", "role": "naive", "kernel": "chain", "types": "bf16", "form": "tanh",
         "elements": 2**28, "us": {"median": 2800}},
        {"op": "gelu", "role": "fused", "kernel": "gelu_sm80", "types": "bf16", "form": "tanh",
         "elements": 2**28, "counted": {}},
    ],
}


class Example(unittest.TestCase):

    def test_is_the_compiled_file(self):
        source = read("tests/include/readme_example.cc")
        self.assertIn(f"```cpp\n{source}```\n", read("README.md"),
                      "README.md does not hold tests/include/readme_example.cc, byte for byte")

    def test_other_code_is_part_of_the_compiled_kernel(self):
        kernel = read("tests/readme/kernels/row_max/row_max_sm80.cu")
        blocks = re.findall(r"```cpp\n(.*?)^ *```\n", read("README.md"), re.S | re.M)[1:]
        self.assertTrue(blocks)
        for block in blocks:
            self.assertIn(textwrap.dedent(block), kernel,
                          "this code of README.md is not part of row_max_sm80.cu")


class Figures(unittest.TestCase):

    def test_table(self):
        text = update_readme.figures(RESULTS)
        self.assertIn("NVIDIA H200, 2026-11-30, CUDA 13.0, driver 580, mode graph, cache cold.", text)
        self.assertIn("| 2^28 | bf16 | tanh | gelu_sm90 | 251.2 | 4274 | 0.994 | 2.0 | 11.0 | 0.50 |",
                      text)
        self.assertIn("| 2^16, x+1 | f32 | erf | gelu_sm90 | 1.34 | - | - | - | - | - |", text)
        self.assertNotIn("chain", text)
        self.assertNotIn("gelu_sm80", text)

    def test_absent_file(self):
        self.assertEqual(update_readme.figures(None), update_readme.ABSENT)

    def test_replaces_only_what_is_between_the_markers(self):
        readme = f"a\n{update_readme.BEGIN}\nold\n{update_readme.END}\nb\n"
        self.assertEqual(update_readme.with_figures(readme, "new"),
                         f"a\n{update_readme.BEGIN}\nnew\n{update_readme.END}\nb\n")

    def test_is_idempotent(self):
        readme = f"a\n{update_readme.BEGIN}\n{update_readme.END}\nb\n"
        once = update_readme.with_figures(readme, "new")
        self.assertEqual(update_readme.with_figures(once, "new"), once)

    def test_missing_marker(self):
        for readme in ("", update_readme.BEGIN, update_readme.END + update_readme.BEGIN):
            with self.assertRaises(ValueError):
                update_readme.with_figures(readme, "new")


class Files(unittest.TestCase):

    def load(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            return update_readme.load(file.name)

    def test_measured_records_are_taken(self):
        self.assertEqual(self.load(json.dumps(RESULTS)), RESULTS)

    def test_what_gives_no_table_is_refused_in_one_line(self):
        counted = {**RESULTS, "records": RESULTS["records"][3:]}
        headless = {**RESULTS, "records": [{**RESULTS["records"][0], "us": {}}]}
        for text in ("", "{", "[]", "{}", '{"schema": 1}', "\x00", json.dumps({**RESULTS, "schema": 2}),
                     json.dumps({**RESULTS, "records": []}), json.dumps({**RESULTS, "records": [1]}),
                     json.dumps({**RESULTS, "context": []}), json.dumps(counted),
                     json.dumps({**RESULTS, "context": {"mode": "counted"}}), json.dumps(headless)):
            with self.subTest(text[:60]):
                with self.assertRaises(ValueError) as caught:
                    self.load(text)
                self.assertNotIn("\n", str(caught.exception))


class Paths(unittest.TestCase):

    def test_paths_in_the_readme_exist(self):
        # A path with a placeholder (<op>, *) or of the worked example is no path yet.
        for path in re.findall(r"`((?:include|src|kernels|bench|tests|tools|\.ci)/[\w./-]*)`",
                               read("README.md")):
            if "row_max" in path or path.startswith("bench/results"):
                continue
            with self.subTest(path):
                self.assertTrue(os.path.exists(os.path.join(ROOT, path)))


if __name__ == "__main__":
    unittest.main()
