"""compare_torch.py as far as it goes without torch: files, statistics, plans, the table."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
import compare_torch  # noqa: E402

ROW = {"op": "softmax", "role": "fused", "types": "bf16", "form": "", "shape": [8, 131072],
       "variant": "", "floor_bytes": 4194304, "us": {"median": 5.0}, "ceiling_fraction": 0.9}
GOOD = {"context": {"device": "NVIDIA H200", "mode": "graph", "cache": "cold: x"},
        "records": [ROW, {**ROW, "role": "naive"}, {**ROW, "op": "gelu", "us": None}]}


def call(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = compare_torch.main(list(arguments))
    return code, out.getvalue(), err.getvalue()


class CompareTorch(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "records.json")

    def write(self, content):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(content, file)
        return self.path

    def test_lists_the_librarys_measured_rows(self):
        code, out, _ = call(self.write(GOOD), "--list")
        self.assertEqual((code, out), (0, "softmax bf16 8x131072\n"))
        self.assertEqual(call(self.path, "--list", "--op=gelu")[0], 2)

    def test_refuses_what_it_cannot_compare_with(self):
        for context in ({"mode": "counted"}, {"cache": "warm: x"}):
            content = {**GOOD, "context": {**GOOD["context"], **context}}
            self.assertEqual(call(self.write(content), "--list")[0], 2)
        record = GOOD["records"][0]
        for content in ([], None, {}, {**GOOD, "records": [5]}, {**GOOD, "records": [{}]},
                        {**GOOD, "records": [{**record, "shape": 7}]},
                        {**GOOD, "records": [{**record, "us": 5}]}):
            self.assertEqual(call(self.write(content), "--list")[0], 2, content)
        self.assertEqual(call("/nonexistent", "--list")[0], 2)

    @unittest.skipIf(compare_torch.torch is not None, "torch is here")
    def test_skips_with_the_reason_without_torch(self):
        code, _, err = call(self.write(GOOD))
        self.assertEqual(code, 77)
        self.assertIn("torch is not installed", err)

    def test_statistics_are_lkbenchs(self):
        self.assertIsNone(compare_torch.median_ranks(5))
        for n, ranks in ((6, (0, 5)), (9, (1, 7)), (20, (5, 14)), (100, (39, 60))):
            self.assertEqual(compare_torch.median_ranks(n), ranks)
        self.assertEqual(compare_torch.summarize([3, 1, 2]), (2, None, None))
        self.assertTrue(compare_torch.converged([1.0] * 8))
        self.assertFalse(compare_torch.converged([1.0, 2.0] * 8))

    def test_sets_exceed_the_cache(self):
        for size in (1 << 16, 1 << 24, 1 << 28):
            self.assertGreaterEqual(compare_torch.sets_for_cold(size, 60 << 20) * size, 2 * (60 << 20))
        self.assertEqual(compare_torch.sets_for_cold(1 << 33, 60 << 20), 1)
        self.assertEqual(compare_torch.calls_per_graph(16e-6, 5) % 5, 0)

    def test_the_table_has_ratios_and_reasons(self):
        text = compare_torch.table([(ROW, {"eager": (33.0, 32.9, 33.1), "triton": "OutOfMemory"})],
                                   ["eager", "triton"])
        self.assertIn("33.00", text)
        self.assertIn("6.60", text)
        self.assertIn("triton: OutOfMemory", text)
        self.assertIn("0.900", text)


if __name__ == "__main__":
    unittest.main()
