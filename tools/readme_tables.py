"""The README's tables out of lkbench's records (bench/schema.json): a function a suite, of at most
some sixteen rows. tools/update_readme.py calls it."""

import math
from collections import namedtuple

Case = namedtuple("Case", "op types form shape variant")

ABSENT = "-"


class Rows:
    """The measured cases of one file: each with its contestants by role, of the cold runs."""

    def __init__(self, records):
        self.roles = {}
        for record in records:
            if record.get("cache") == "warm":
                continue
            case = Case(record["op"], record["types"], record.get("form") or "",
                        tuple(record.get("shape") or [record["elements"]]),
                        record.get("variant") or "")
            self.roles.setdefault(case, {}).setdefault(record["role"], record)

    def cases(self, wanted):
        return [case for case in self.roles if wanted(case)]

    def record(self, case, role="fused"):
        return self.roles.get(case, {}).get(role, {})

    def us(self, case, role="fused"):
        us = self.record(case, role).get("us")
        return us["median"] if us else None

    def figure(self, case, name):
        return self.record(case).get(name) if self.us(case) else None

    def times(self, case, role):
        """How many times as long as the library another contestant takes."""
        ours, theirs = self.us(case), self.us(case, role)
        return theirs / ours if ours and theirs else None


# ---- Cells ----------------------------------------------------------------------------------------


def number(value, form):
    return ABSENT if value is None else format(value, form)


def time(us):
    return ABSENT if us is None else format(us, ".2f" if us < 10 else ".1f" if us < 1000 else ".0f")


def extent(n, least=20):
    """Powers of two from 2^least on as such."""
    exponent = n.bit_length() - 1
    return f"2^{exponent}" if n == 1 << exponent and exponent >= least else str(n)


def shape_text(shape):
    if len(shape) == 3 and len(set(shape)) == 1:
        return f"{extent(shape[0])}^3"
    return " x ".join(extent(n) for n in shape)


def case_text(case):
    return " ".join(part for part in (case.types, case.form, shape_text(case.shape), case.variant)
                    if part)


def us_cell(rows, case):
    return time(rows.us(case))


def tb_cell(rows, case):
    rate = rows.figure(case, "gb_per_s")
    return number(None if rate is None else rate / 1000, ".2f")


def ceiling_cell(rows, case):
    fraction = rows.figure(case, "ceiling_fraction")
    return number(None if fraction is None else 100 * fraction, ".1f")


def times_cell(role):
    return lambda rows, case: number(rows.times(case, role), ".2f")


# ---- Tables ---------------------------------------------------------------------------------------


def table(head, lines, labels=1):
    """A table whose first `labels` columns are texts; none if there is no line."""
    if not lines:
        return []
    return ["", "| " + " | ".join(head) + " |", "|" + "---|" * labels +
            "---:|" * (len(head) - labels)] + ["| " + " | ".join(line) + " |" for line in lines]


def side_by_side(rows, label, groups, columns, lines):
    """A table with the same columns for each of `groups`, pairs of a name and what it is called.

    `lines` are pairs of a label and a function from a group's name to the cases whose figures share a
    cell. A line without any time is left out.
    """
    head = [label]
    for _, title in groups:
        head += [f"{title} {columns[0][0]}"] + [name for name, _ in columns[1:]]
    body = []
    for name, cases_of in lines:
        cells = []
        for group, _ in groups:
            cases = cases_of(group)
            for _, cell in columns:
                parts = [cell(rows, case) for case in cases]
                while len(parts) > 1 and parts[-1] == ABSENT:
                    parts.pop()
                cells.append(" / ".join(parts))
        if any(cell != ABSENT for cell in cells):
            body.append([name] + cells)
    return table(head, body)


BYTE_COLUMNS = [("us", us_cell), ("TB/s", tb_cell), ("% of ceiling", ceiling_cell)]


def gelu(rows):
    def line(n, variant=""):
        label = extent(n, 0) if n & (n - 1) == 0 else f"{extent(n + 1)} - 1"
        return (label + (f", {variant}" if variant else ""),
                lambda types: [Case("gelu", types, form, (n,), variant) for form in ("tanh", "erf")])

    lines = [line(2**e) for e in (16, 20, 22, 24, 26, 28, 30)]
    lines += [line(2**24, "x+1 y+1"), line(2**28, "x+1 y+1"), line(2**28, "x+1"), line(2**28 - 1)]
    return side_by_side(rows, "elements, tanh / erf", [("bf16", "bf16"), ("f32", "f32")],
                        BYTE_COLUMNS + [("x chain", times_cell("unfused"))], lines)


def matrix_lines(op, shapes):
    def line(shape):
        return shape_text(shape), lambda types: [Case(op, types, "", shape, "")]

    return [line(shape) for shape in shapes]


SOFTMAX_SHAPES = [(2**22, 32), (2**20, 128), (2**18, 512), (2**17, 1024), (2**16, 2048),
                  (32768, 4096), (32768, 4095), (16384, 8192), (4096, 32768), (2670, 50257),
                  (1024, 131072), (512, 262144), (128, 2**20), (128, 1024), (8, 131072),
                  (1, 262144)]


def softmax(rows):
    return side_by_side(rows, "rows x columns", [("bf16", "bf16"), ("f32", "f32")],
                        BYTE_COLUMNS + [("x chain", times_cell("unfused"))],
                        matrix_lines("softmax", SOFTMAX_SHAPES))


ROW_SUM_SHAPES = [(1, 2**28), (16, 2**24), (128, 2**21), (1024, 262144), (16384, 16384),
                  (65536, 4096), (65536, 4095), (5341, 50257), (262144, 1024), (2**20, 256),
                  (2**22, 64), (2**24, 16), (4096, 4096), (1024, 1024)]


def row_sum(rows):
    return side_by_side(rows, "rows x columns", [("bf16->f32", "bf16"), ("f32", "f32")],
                        BYTE_COLUMNS + [("x CUB", times_cell("cub"))],
                        matrix_lines("row_sum", ROW_SUM_SHAPES))


def cubes(types, layout, sizes):
    return [Case("matmul", types, "bias+relu", (n, n, n), layout) for n in sizes]


MATMUL_CASES = (
    cubes("bf16", "NN", [256, 512, 1024, 2048, 4096, 8192]) + cubes("bf16", "NT", [4096]) +
    [Case("matmul", "bf16", "bias+relu", shape, "NT")
     for shape in ((512, 14336, 4096), (4096, 14336, 4096), (256, 256, 262144), (16384, 16384, 64))] +
    cubes("f16", "NN", [4096]) + cubes("tf32", "NN", [4096]) + cubes("tf32x3", "NN", [4096]) +
    cubes("f32", "NN", [4096]) + cubes("f8_e4m3->bf16", "NT", [4096, 8192]))


def matmul(rows):
    lines = []
    for case in MATMUL_CASES:
        if rows.us(case) is None:
            continue
        lines.append([shape_text(case.shape), case.types, case.variant, us_cell(rows, case),
                      number(rows.figure(case, "tflops"), ".1f"), ceiling_cell(rows, case)] +
                     [times_cell(role)(rows, case) for role in ("cublaslt", "unfused", "naive")])
    return table(["M x N x K", "types", "layout", "us", "TFLOP/s", "% of ceiling", "x cuBLASLt",
                  "x unfused", "x naive"], lines, 3)


# ---- The cliff: sizes that are no multiple of a tile ----------------------------------------------

TILE = 128
CLIFF_SIZES = [1023, 1500, 1793, 2047, 2049, 4095, 4097, 8191]


def over_next_tile(rows, case, role):
    """A contestant's time over the best time of the next multiple of 128."""
    n = -(-case.shape[0] // TILE) * TILE
    next_case = case._replace(shape=(n, n, n))
    best = [us for us in (rows.us(next_case), rows.us(next_case, "cublaslt")) if us]
    us = rows.us(case, role)
    return us / min(best) if us and best else None


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def mean_and_worst(ratios):
    """Of pairs (ratio, size): two cells."""
    if not ratios:
        return [ABSENT, ABSENT]
    worst, size = max(ratios)
    return [format(geometric_mean([ratio for ratio, _ in ratios]), ".2f"), f"{worst:.2f} ({size})"]


def cliff(rows):
    cases = [c for c in rows.cases(is_cliff) if c.shape[0] % TILE]
    summary = []
    for types in sorted({c.types for c in cases}):
        cells, count = [], 0
        for role in ("fused", "cublaslt"):
            ratios = [(over_next_tile(rows, c, role), c.shape[0]) for c in cases if c.types == types]
            ratios = [(ratio, n) for ratio, n in ratios if ratio]
            cells += mean_and_worst(ratios)
            count = max(count, len(ratios))
        if count:
            summary.append([types, str(count)] + cells)
    lines = []
    for n in CLIFF_SIZES:
        case = Case("matmul", "bf16", "relu", (n, n, n), "NN")
        if rows.us(case) is None:
            continue
        ratios = [number(over_next_tile(rows, case, role), ".2f") for role in ("fused", "cublaslt")]
        lines.append([f"{n}^3", us_cell(rows, case), ratios[0], time(rows.us(case, "cublaslt")),
                      ratios[1]])
    return (table(["types", "sizes", "ours / next: mean", "worst (N)", "cuBLASLt / next: mean",
                   "worst (N)"], summary) +
            (table(["bf16", "us", "/ next", "cuBLASLt us", "/ next"], lines) if summary else []))


# ---- Decoding: few rows times a layer's weights ---------------------------------------------------


def decode(rows):
    layers = dict.fromkeys((c.types, c.variant, c.shape[1:]) for c in rows.cases(is_decode))
    columns = [("us", us_cell), ("%", ceiling_cell), ("x cuBLASLt", times_cell("cublaslt"))]

    def line(types, variant, shape):
        return (f"{types} {variant} {shape_text(shape)}",
                lambda m: [Case("matmul", types, "relu", (m, *shape), variant)])

    return side_by_side(rows, "B: types, layout, N x K", [(m, f"M = {m}:") for m in (1, 16, 64)],
                        columns, [line(*layer) for layer in layers])


# ---- All of them ----------------------------------------------------------------------------------


def is_cliff(c):
    return c.op == "matmul" and c.form == "relu" and c.variant == "NN" and len(set(c.shape)) == 1


def is_decode(c):
    return c.op == "matmul" and c.form == "relu" and c.shape[0] <= 64 and not is_cliff(c)


def of_op(op):
    return lambda c: c.op == op and not is_cliff(c) and not is_decode(c)


# Name, what the README calls it, which cases are its own, its table.
SUITES = [
    ("gelu", "GeLU", of_op("gelu"), gelu),
    ("softmax", "Softmax", of_op("softmax"), softmax),
    ("row_sum", "Row-sum", of_op("row_sum"), row_sum),
    ("matmul", "Matmul with bias and ReLU", of_op("matmul"), matmul),
    ("cliff", "Matmul with ReLU, N^3 beside the next multiple of 128", is_cliff, cliff),
    ("decode", "Matmul with ReLU, few rows", is_decode, decode),
]


def closing(rows, wanted, source):
    """What the table leaves out, in a sentence."""
    cases = rows.cases(wanted)
    text = f"Of `{source}`: {len(cases)} cases"
    errors = [e for e in (rows.figure(c, "error_fraction_of_bound") for c in cases) if e is not None]
    if errors:
        text += f"; largest error {max(errors):.2f} of what is promised"
    ratios = [(rows.times(c, "cublaslt"), case_text(c)) for c in cases]
    ratios = [(ratio, name) for ratio, name in ratios if ratio]
    if ratios:
        worst, name = min(ratios)
        mean = geometric_mean([ratio for ratio, _ in ratios])
        text += f"; x cuBLASLt: geometric mean {mean:.2f}, least {worst:.2f} ({name})"
    failed = sum(bool(rows.record(c).get("failed")) for c in cases)
    if failed:
        text += f"; **{failed} of them failed**"
    return text + "."


def tables(rows, source):
    """(suite, its lines of Markdown) of every suite that the file has something to show of."""
    for name, title, wanted, make in SUITES:
        lines = make(rows)
        if lines:
            yield name, ["", f"**{title}**"] + lines + ["", closing(rows, wanted, source)]
