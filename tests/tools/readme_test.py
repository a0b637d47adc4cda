"""README.md tells the truth: its code is the compiled one, its figures are generated, and the
paths it names exist."""

import glob
import json
import os
import re
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import readme_tables  # noqa: E402
import update_readme  # noqa: E402


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


CONTEXT = {"device": "NVIDIA H200", "date": "2026-11-30T10:00:00Z", "toolkit": "13.0",
           "driver": "580", "mode": "graph", "cache": "cold"}


def record(op, types, form, shape, us, role="fused", **more):
    timed = {} if us is None else {"us": {"median": us}}
    return {"op": op, "role": role, "kernel": f"{op}_sm80", "types": types, "form": form,
            "shape": shape, "elements": shape[0] * (shape[1] if len(shape) > 1 else 1),
            "variant": "", "note": "", "failed": False, **timed, **more}


def product(types, form, shape, variant, us, cublaslt, **more):
    """Ours and cuBLASLt's."""
    return [record("matmul", types, form, shape, us, variant=variant, **more),
            record("matmul", types, form, shape, cublaslt, "cublaslt", variant=variant)]


def results(*records, schema=2, **context):
    return {"schema": schema, "context": {**CONTEXT, **context}, "records": list(records),
            "ceilings": []}


def text_of(*records):
    return update_readme.figures({"h200.json": results(*records)})


GELU = record("gelu", "bf16", "tanh", [2**28], 251.234, gb_per_s=4273.9, ceiling_fraction=0.994,
              error_fraction_of_bound=0.5)


class Example(unittest.TestCase):

    def test_is_the_compiled_file(self):
        source = read("tests/include/readme_example.cc")
        self.assertIn(f"```cpp\n{source}```\n", read("README.md"),
                      "README.md does not hold tests/include/readme_example.cc, byte for byte")

    def test_other_code_is_part_of_compiled_files(self):
        files = ["tests/include/readme_layer_test.cc", "tests/readme/kernels/row_max/row_max_sm80.cu"]
        blocks = re.findall(r"```cpp\n(.*?)^ *```\n", read("README.md"), re.S | re.M)[1:]
        self.assertEqual(len(blocks), len(files))
        for block, path in zip(blocks, files):
            self.assertIn(textwrap.dedent(block), read(path),
                          f"this code of README.md is not part of {path}")


class Tables(unittest.TestCase):

    def test_gelu(self):
        text = text_of(GELU, record("gelu", "bf16", "erf", [2**28], 260, gb_per_s=4130),
                       record("gelu", "bf16", "tanh", [2**28], 2512.34, "unfused"),
                       record("gelu", "bf16", "tanh", [2**28], 20, cache="warm"),
                       record("gelu", "f32", "tanh", [2**24], 33.7, variant="x+1 y+1"))
        self.assertTrue(text.startswith(
            "NVIDIA H200, 2026-11-30, CUDA 13.0, driver 580, mode graph, cache cold.\n"),
                        text)
        self.assertIn("| 2^28 | 251.2 / 260.0 | 4.27 / 4.13 | 99.4 | 10.00 | - | - | - | - |", text)
        self.assertIn("| 2^24, x+1 y+1 | - | - | - | - | 33.7 | - | - | - |", text)
        self.assertNotIn("2^20", text)
        self.assertIn("Of `bench/results/h200.json`: 3 cases; largest error 0.50 of what is promised.",
                      text)

    def test_a_missing_first_form_leaves_its_place(self):
        self.assertIn("| 2^28 | - / 260.0 |", text_of(record("gelu", "bf16", "erf", [2**28], 260)))

    def test_rows(self):
        text = text_of(record("softmax", "f32", "", [8, 131072], 6.5, ceiling_fraction=0.5),
                       record("softmax", "f32", "", [8, 131072], 65, "unfused"),
                       record("row_sum", "bf16->f32", "", [2**24, 16], 125, gb_per_s=4300),
                       record("row_sum", "bf16->f32", "", [2**24, 16], 1250, "naive"),
                       record("row_sum", "bf16->f32", "", [2**24, 16], 15000, "cub"))
        self.assertIn("| 8 x 131072 | - | - | - | - | 6.50 | - | 50.0 | 10.00 |", text)
        self.assertIn("| 2^24 x 16 | 125.0 | 4.30 | - | 120.00 | - | - | - | - |", text)
        self.assertLess(text.index("Softmax"), text.index("Row-sum"))

    def test_matmul(self):
        text = text_of(*product("bf16", "bias+relu", [1024] * 3, "NN", 6, 5.7, tflops=358.0),
                       *product("tf32", "bias+relu", [4096] * 3, "NN", 380, 475),
                       *product("bf16", "none", [4096] * 3, "TT", 180, 180),
                       record("matmul", "tf32", "bias+relu", [4096] * 3, 418, "unfused",
                              variant="NN"))
        self.assertIn("| 1024^3 | bf16 | NN | 6.00 | 358.0 | - | 0.95 | - | - |", text)
        self.assertIn("| 4096^3 | tf32 | NN | 380.0 | - | - | 1.25 | 1.10 | - |", text)
        self.assertIn("Of `bench/results/h200.json`: 3 cases; x cuBLASLt: geometric mean 1.06, least "
                      "0.95 (bf16 bias+relu 1024^3 NN).", text)

    def test_cliff(self):
        text = text_of(*product("bf16", "relu", [1793] * 3, "NN", 30, 120),
                       *product("bf16", "relu", [1794] * 3, "NN", 27, 66),
                       *product("bf16", "relu", [1920] * 3, "NN", 25, 24),
                       *product("bf16", "relu", [4095] * 3, "NN", 220, 907))  # without its 4096
        self.assertIn("| bf16 | 2 | 1.19 | 1.25 (1793) | 3.71 | 5.00 (1793) |", text)
        self.assertIn("| 1793^3 | 30.0 | 1.25 | 120.0 | 5.00 |", text)
        self.assertIn("| 4095^3 | 220.0 | - | 907.0 | - |", text)

    def test_decode(self):
        text = text_of(*product("bf16", "relu", [1, 14336, 4096], "NT", 30, 30.6,
                                ceiling_fraction=0.95),
                       *product("bf16", "relu", [64, 14336, 4096], "NT", 31, None))
        self.assertIn("| bf16 NT 14336 x 4096 | 30.0 | 95.0 | 1.02 | - | - | - | 31.0 | - | - |",
                      text)

    def test_rows_that_failed_are_told(self):
        self.assertIn("**1 of them failed**", text_of(
            GELU, record("gelu", "f16", "tanh", [2**28], None, failed=True)))

    def test_no_table_is_long(self):
        everything = [case._asdict() for case in readme_tables.MATMUL_CASES]
        everything += [record("softmax", "f32", "", s, 1) for s in readme_tables.SOFTMAX_SHAPES]
        everything += [record("row_sum", "f32", "", s, 1) for s in readme_tables.ROW_SUM_SHAPES]
        rows = readme_tables.Rows([{"role": "fused", "us": {"median": 1}, **r} for r in everything])
        for suite, lines in readme_tables.tables(rows, "file"):
            with self.subTest(suite):
                self.assertLessEqual(sum(line.startswith("|") for line in lines) - 2, 17)


class Figures(unittest.TestCase):

    def test_readme_holds_those_of_the_files(self):
        text = update_readme.figures(update_readme.load_all())
        self.assertIn(f"{update_readme.BEGIN}\n{text}\n{update_readme.END}", read("README.md"),
                      "README.md is stale: run tools/update_readme.py and commit the result")

    def test_no_file(self):
        self.assertEqual(update_readme.figures({}), update_readme.ABSENT)

    def test_an_older_schema_is_told(self):
        old = {key: GELU[key] for key in GELU if key != "shape"}
        text = update_readme.figures({"h200.json": results(old, schema=1)})
        self.assertIn("(schema 1): regenerate", text.replace("\n", " "))
        self.assertIn("| 2^28 | 251.2 |", text)
        self.assertNotIn("regenerate", text_of(GELU))

    def test_a_file_a_suite(self):
        softmax = record("softmax", "f32", "", [8, 131072], 6.5)
        files = {"h200_gelu.json": results(GELU), "h200_softmax.json": results(softmax)}
        text = update_readme.figures(files)
        self.assertEqual(text.count("NVIDIA H200, 2026-11-30"), 1)
        self.assertIn("`bench/results/h200_softmax.json`", text)
        files["h200_softmax.json"] = results(softmax, date="2026-12-01T00:00:00Z")
        self.assertEqual(update_readme.figures(files).count("NVIDIA H200, 2026-1"), 2)

    def test_what_the_readme_cannot_show_is_refused(self):
        for files in ({"h200.json": results(record("gelu", "f32", "erf", [777], 1))},
                      {"h200.json": results(GELU), "h200_gelu.json": results(GELU)}):
            with self.assertRaises(ValueError):
                update_readme.figures(files)

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
        counted = record("gelu", "f32", "erf", [2**16], None, counted={})
        for all_of_it in (results(GELU), results(counted, GELU), results(GELU, schema=1)):
            self.assertEqual(self.load(json.dumps(all_of_it)), all_of_it)

    def test_what_gives_no_table_is_refused_in_one_line(self):
        def with_record(**changes):
            return json.dumps(results({**GELU, **changes}))

        good = results(GELU)
        for text in ("", "{", "[]", "{}", '{"schema": 2}', "\x00",
                     json.dumps({**good, "schema": 3}), json.dumps({**good, "schema": None}),
                     json.dumps({**good, "records": []}), json.dumps({**good, "records": [1]}),
                     json.dumps({**good, "context": []}),
                     json.dumps(results(GELU, mode="counted")),
                     json.dumps(results(record("gelu", "f32", "erf", [2**16], None))),
                     with_record(us={}), with_record(us={"median": 0}), with_record(us=1),
                     with_record(types=None), with_record(shape=["4"]),
                     with_record(shape=None, elements=None), with_record(gb_per_s="fast"),
                     with_record(role="naive")):
            with self.subTest(text[:60]):
                with self.assertRaises(ValueError) as caught:
                    self.load(text)
                self.assertNotIn("\n", str(caught.exception))

    def test_the_folder_names_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(update_readme.load_all(folder), {})
            for name, text in (("h200_gelu.json", json.dumps(results(GELU))), ("a100.json", "{")):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            self.assertEqual(list(update_readme.load_all(folder)), ["h200_gelu.json"])
            with open(os.path.join(folder, "h200_row_sum.json"), "w", encoding="utf-8") as file:
                file.write("{")
            with self.assertRaisesRegex(ValueError, "h200_row_sum.json: cannot be read"):
                update_readme.load_all(folder)


class Generations(unittest.TestCase):

    def test_the_table_of_operations_has_the_kernels_that_there_are(self):
        found = {}
        for path in glob.glob(os.path.join(ROOT, "kernels", "*", "*.cu")):
            op, name = path.split(os.sep)[-2:]
            found.setdefault(op, set()).update(re.findall(rf"^{op}_(sm\d+)[_.]", name))
        introduction = read("README.md").partition("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", introduction, re.M)
        told = {op: set(re.findall(r"sm\d+", cells)) for op, cells in rows}
        self.assertEqual({op: told.get(op) for op in found}, found,
                         "the README's first table, last column: which generations an operation has")


class Suites(unittest.TestCase):

    def test_the_readme_and_the_help_name_those_of_lkbench(self):
        suites = re.findall(r'\{\.name = "(\w+)"', read("bench/suites.cc"))
        self.assertIn("gelu", suites)
        told = read("README.md").partition("| suite | rows |")[2].partition("\n\n")[0]
        self.assertEqual(re.findall(r"^\| `(\w+)` \|", told, re.M), suites)
        self.assertEqual([name for name, *_ in readme_tables.SUITES], suites)
        self.assertIn(f"every row of the suites: {', '.join(suites)}\n", read("bench/flags.cc"))


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
