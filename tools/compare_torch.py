#!/usr/bin/env python3
"""PyTorch (eager, torch.compile) and Triton beside libkernels, in one table.

usage: tools/compare_torch.py RECORDS.json [--op gelu,softmax,row_sum,matmul] [--peers eager,...]
                              [--seconds 0.2] [--max-bytes 9e9] [--out FILE.json] [--list]

RECORDS.json is a file that lkbench wrote on this machine, in this hour: its measured rows of the
library say which cases are run, and give the first column. The peers are timed as lkbench times: a
CUDA graph of many calls over sets of buffers that together exceed 300 MB and twice the L2 (so that
the L2 is cold), normally distributed values, the peers of a row interleaved, median of the replays
with its 95% interval by order statistics. A plain copy (torch's copy_) runs beside each row:
where it differs from the ceiling in RECORDS.json, so does the machine's state.

Exit codes: 0; 2: RECORDS.json cannot be used (another GPU, nothing measured, no such file);
77: skipped, with the reason (no torch, no GPU).
"""

import argparse
import json
import math
import sys

try:
    import torch
except ImportError:
    torch = None
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

SKIPPED = 77
UNUSABLE = 2
OPS = ("gelu", "softmax", "row_sum", "matmul")
PEERS = ("eager", "compile", "triton", "copy")
COLD_BYTES = 300e6
L2_MULTIPLE = 2.5
GRAPH_SECONDS = 1e-3
MOST_SETS = 4096
MOST_CALLS = 1000
MIN_ROUNDS = 7
MOST_ROUNDS = 60
PRECISION = 0.005


# ---- What needs no GPU --------------------------------------------------------------------------


class Unusable(Exception):
    """Why a file of records says nothing here."""


def is_record(record):
    """What is read of a record here, as bench/schema.json has it."""
    if not isinstance(record, dict) or \
            not all(isinstance(record.get(key), str) for key in ("op", "role", "types")):
        return False
    shape, us = record.get("shape"), record.get("us")
    extents = [record.get("elements")] if shape is None else shape
    return isinstance(extents, list) and all(isinstance(e, int) for e in extents) and (
        us is None or isinstance(us, dict) and isinstance(us.get("median"), (int, float)))


def load_rows(path, ops):
    """(context, the library's measured rows of these operations)."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path}: {error}") from error
    if not isinstance(results, dict) or not isinstance(results.get("context"), dict) or \
            not isinstance(results.get("records"), list):
        raise Unusable(f"{path}: not a file of lkbench")
    context, records = results["context"], results["records"]
    for number, record in enumerate(records):
        if not is_record(record):
            raise Unusable(f"{path}: record {number} is not as bench/schema.json has it")
    if context.get("cache", "").startswith("warm") or context.get("mode") != "graph":
        raise Unusable(f"{path}: holds no times of graphs on a cold cache")
    rows = [r for r in records if r["role"] == "fused" and r["op"] in ops and r.get("us") and
            not r.get("failed")]
    if not rows:
        raise Unusable(f"{path}: no measured row of {', '.join(ops)}")
    return context, rows


def median_ranks(n):
    """Ranks of the order statistics that hold the median with 95% confidence; None below six."""
    tail, low = 0.0, None
    for k in range((n + 1) // 2):
        tail += math.comb(n, k) / 2.0**n
        if 1 - 2 * tail < 0.95:
            break
        low = k
    return None if low is None else (low, n - 1 - low)


def summarize(samples):
    """(median, low, high); low and high are None below six samples."""
    ordered = sorted(samples)
    n = len(ordered)
    median = (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
    ranks = median_ranks(n)
    return (median, None, None) if ranks is None else (median, ordered[ranks[0]],
                                                       ordered[ranks[1]])


def converged(samples):
    median, low, high = summarize(samples)
    return low is not None and (high - low) / 2 <= PRECISION * median


def sets_for_cold(bytes_per_set, l2_bytes):
    footprint = max(COLD_BYTES, L2_MULTIPLE * l2_bytes)
    return max(1, min(MOST_SETS, math.ceil(footprint / max(bytes_per_set, 1))))


def calls_per_graph(seconds, sets):
    rotations = max(1, math.ceil(GRAPH_SECONDS / (max(seconds, 1.3e-6) * sets)))
    return min(MOST_CALLS, rotations * sets)


def shape_of(row):
    return row.get("shape") or [row["elements"]]


def label(row):
    return " ".join(part for part in (row["op"], row["types"], row.get("form", ""),
                                      "x".join(map(str, shape_of(row))), row.get("variant", ""))
                    if part)


def table(lines, peers):
    """lines: (row, {peer: (median, low, high) in us, or a text why not})."""
    head = ["case", "ours us"] + [f"{p} us" for p in peers] + \
           [f"x {p}" for p in peers if p != "copy"] + ["of the ceiling"]
    cells = [head]
    for row, times in lines:
        ours = row["us"]["median"]
        line = [label(row), f"{ours:.2f}"]
        for peer in peers:
            t = times.get(peer)
            line.append(f"{t[0]:.2f}" if isinstance(t, tuple) else "-")
        for peer in peers:
            t = times.get(peer)
            if peer != "copy":
                line.append(f"{t[0] / ours:.2f}" if isinstance(t, tuple) else "-")
        fraction = row.get("ceiling_fraction")
        cells.append(line + ["-" if fraction is None else f"{fraction:.3f}"])
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    text = "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                               for i, (c, w) in enumerate(zip(line, widths))) for line in cells)
    notes = [f"{label(row)}: {peer}: {t}" for row, times in lines for peer, t in times.items()
             if isinstance(t, str)]
    return "\n".join([text] + ([""] + notes if notes else []))


# ---- Timing -------------------------------------------------------------------------------------


class Work:
    """A graph of many calls f(set) between two events."""

    def __init__(self, call, sets):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for i in range(3):
                call(i % sets)
            begin.record()
            call(0)
            end.record()
        torch.cuda.synchronize()
        self.calls = calls_per_graph(max(begin.elapsed_time(end) * 1e-3 - 4e-6, 0), sets)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for i in range(self.calls):
                call(i % sets)
        self.begin, self.end = begin, end
        self.call = call  # owns the buffers that the graph reads and writes

    def enqueue(self):
        self.begin.record()
        self.graph.replay()
        self.end.record()

    def microseconds(self):
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1e3 / self.calls


def time_interleaved(works, seconds):
    """{name: samples}: every work once a round, each round starting with another."""
    names = list(works)
    samples = {name: [] for name in names}
    warm_up = 2
    spent = 0.0
    for number in range(warm_up + MOST_ROUNDS):
        order = names[number % len(names):] + names[:number % len(names)]
        works[order[-1]].graph.replay()  # untimed, while the queue fills
        for name in order:
            works[name].enqueue()
        for name in order:
            us = works[name].microseconds()
            if number >= warm_up:
                samples[name].append(us)
            spent += us * works[name].calls * 1e-6
        if len(samples[names[0]]) >= MIN_ROUNDS and (
                spent > seconds or all(converged(s) for s in samples.values())):
            break
    return samples


# ---- The peers ----------------------------------------------------------------------------------

if triton is not None:

    @triton.jit
    def gelu_kernel(x_ptr, y_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
        i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
        if TANH:
            e = tl.exp(2 * 0.79788456 * (x + 0.044715 * x * x * x))
            y = 0.5 * x * (1 + (1 - 2 / (e + 1)))
        else:
            y = 0.5 * x * (1 + tl.math.erf(x * 0.70710678))
        tl.store(y_ptr + i, y, mask=i < n)

    @triton.jit
    def softmax_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
        r = tl.program_id(0).to(tl.int64)
        c = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + r * cols + c, mask=c < cols, other=float("-inf")).to(tl.float32)
        e = tl.exp(x - tl.max(x, 0))
        tl.store(y_ptr + r * cols + c, e / tl.sum(e, 0), mask=c < cols)

    @triton.jit
    def row_sum_kernel(x_ptr, y_ptr, cols, BLOCK: tl.constexpr):
        r = tl.program_id(0).to(tl.int64)
        sums = tl.zeros([BLOCK], dtype=tl.float32)
        for first in range(0, cols, BLOCK):
            c = first + tl.arange(0, BLOCK)
            sums += tl.load(x_ptr + r * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(y_ptr + r, tl.sum(sums, 0))


def dtype_of(name):
    return {"f32": torch.float32, "tf32": torch.float32, "f16": torch.float16,
            "bf16": torch.bfloat16}.get(name)


class Case:
    """A row's buffers, and the peers' calls on set i by name; several of a name: the best counts."""

    def __init__(self, row, l2_bytes):
        self.row = row
        self.shape = shape_of(row)
        types = row["types"].split("->")
        self.x_type, self.y_type = dtype_of(types[0]), dtype_of(types[-1])
        self.sets = sets_for_cold(row["floor_bytes"], l2_bytes)
        self.form = row.get("form", "")

    def why_not(self):
        if self.row.get("variant"):
            return "only packed rows have peers"
        if self.x_type is None or self.y_type is None:
            return f"no type {self.row['types']} here"
        return None

    def random(self, *shape):
        return [torch.randn(*shape, device="cuda", dtype=self.x_type) for _ in range(self.sets)]

    def empty(self, *shape):
        return [torch.empty(*shape, device="cuda", dtype=self.y_type) for _ in range(self.sets)]

    def calls(self, peer):
        if peer == "compile":
            torch._dynamo.reset()  # after eight shapes of a function it would run eagerly
        return getattr(self, self.row["op"])(peer)

    def copy(self):
        half = self.row["floor_bytes"] // 2
        source = [torch.randn(-(-half // 4), device="cuda") for _ in range(self.sets)]
        target = [torch.empty_like(s) for s in source]
        return [lambda i: target[i].copy_(source[i])]

    def gelu(self, peer):
        n = self.shape[0]
        x, y = self.random(n), self.empty(n)
        form = "tanh" if self.form == "tanh" else "none"
        if peer == "eager":
            if self.x_type != self.y_type:
                return []
            return [lambda i: torch.ops.aten.gelu.out(x[i], approximate=form, out=y[i])]
        if peer == "compile":
            f = torch.compile(lambda v: torch.nn.functional.gelu(v, approximate=form)
                              .to(self.y_type), dynamic=False)
            return [lambda i: f(x[i])]
        return [lambda i, b=b: gelu_kernel[(triton.cdiv(n, b),)](x[i], y[i], n, form == "tanh",
                                                                 BLOCK=b) for b in (1024, 4096)]

    def softmax(self, peer):
        rows, cols = self.shape
        x, y = self.random(rows, cols), self.empty(rows, cols)
        f = torch.log_softmax if self.form.startswith("log") else torch.softmax
        if peer == "eager":
            if self.x_type != self.y_type:
                return []
            return [lambda i: f(x[i], 1, out=y[i])]
        if peer == "compile":
            g = torch.compile(lambda v: f(v, 1).to(self.y_type), dynamic=False)
            return [lambda i: g(x[i])]
        block = triton.next_power_of_2(cols)
        if cols > 131072 or f is torch.log_softmax:
            return []
        warps = [w for w in (1, 2, 4, 8, 16, 32) if 32 * w <= block and block <= 8192 * w]
        return [lambda i, w=w: softmax_kernel[(rows,)](x[i], y[i], cols, BLOCK=block, num_warps=w)
                for w in warps]

    def row_sum(self, peer):
        rows, cols = self.shape
        x, y = self.random(rows, cols), self.empty(rows)
        if peer == "eager":
            return [lambda i: torch.sum(x[i], 1, dtype=self.y_type, out=y[i])]
        if peer == "compile":
            f = torch.compile(lambda v: torch.sum(v, 1, dtype=self.y_type), dynamic=False)
            return [lambda i: f(x[i])]
        if cols > 1 << 22:
            return []
        blocks = ((64, 1), (256, 1), (1024, 4), (4096, 4), (4096, 8), (8192, 16))
        return [lambda i, b=b, w=w: row_sum_kernel[(rows,)](x[i], y[i], cols, BLOCK=b, num_warps=w)
                for b, w in blocks if b <= max(64, 2 * cols)]

    def matmul(self, peer):
        m, n, k = self.shape
        torch.backends.cuda.matmul.allow_tf32 = self.row["types"].startswith("tf32")
        a, b, bias = self.random(m, k), self.random(k, n), torch.randn(n, device="cuda").to(self.x_type)
        has_bias, has_relu = "bias" in self.form, "relu" in self.form

        def plain(i):
            c = torch.addmm(bias, a[i], b[i]) if has_bias else torch.mm(a[i], b[i])
            return torch.relu_(c) if has_relu else c

        if peer == "eager":
            return [plain]
        if peer == "compile":
            f = torch.compile(lambda p, q: torch.relu(torch.addmm(bias, p, q) if has_bias
                                                      else torch.mm(p, q)) if has_relu
                              else torch.mm(p, q), dynamic=False)
            return [lambda i: f(a[i], b[i])]
        return []  # no Triton product here: the peers of matmul are in lkbench


def time_case(row, peers, seconds, l2_bytes):
    """{peer: (median, low, high) in us, or a text why not}."""
    times, works = {}, {}
    case = Case(row, l2_bytes)
    if case.why_not():
        return {"all": case.why_not()}
    for peer in peers:
        if peer == "triton" and triton is None:
            continue
        try:
            calls = case.copy() if peer == "copy" else case.calls(peer)
            for number, call in enumerate(calls):
                works[peer, number] = Work(call, case.sets)
        except Exception as error:  # a peer that cannot is a note, whatever its reason
            times[peer] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
            torch.cuda.synchronize()
    if works:
        for (peer, _), samples in time_interleaved(works, seconds).items():
            result = summarize(samples)
            if not isinstance(times.get(peer), tuple) or result < times[peer]:
                times[peer] = result
    return times


def why_skipped():
    if torch is None:
        return "torch is not installed"
    if not torch.cuda.is_available():
        return "torch sees no GPU"
    return None


def run(options, context, rows):
    here = torch.cuda.get_device_name()
    if context.get("device") != here:
        raise Unusable(f"{options.records}: of a {context.get('device')}, and this is a {here}")
    torch.manual_seed(0)
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    lines = []
    for row in rows:
        if row["floor_bytes"] > options.max_bytes:
            continue
        lines.append((row, time_case(row, options.peers, options.seconds, l2_bytes)))
        torch.cuda.empty_cache()
        if sys.stderr.isatty():
            print(f"\r\033[K[{len(lines)}/{len(rows)}] {label(row)}", end="", file=sys.stderr)
    versions = f"torch {torch.__version__}, triton {triton.__version__ if triton else 'absent'}"
    print(f"{here}, {versions}; ours: lkbench {context.get('commit')}, {context.get('date')}")
    print("us: median of a call in a graph, cold; x peer: its time over ours; copy: torch's copy_ of "
          "as many bytes\n")
    print(table(lines, options.peers))
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"device": here, "versions": versions, "ours": context,
                       "rows": [{"case": label(r), "ours_us": r["us"], "peers_us": {
                           p: dict(zip(("median", "low", "high"), t)) if isinstance(t, tuple) else t
                           for p, t in times.items()}} for r, times in lines]}, file, indent=1)


def choice_of(known):
    def parse(text):
        for part in text.split(","):
            if part not in known:
                raise argparse.ArgumentTypeError(f"{part}: choose out of {', '.join(known)}")
        return text.split(",")
    return parse


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("records", metavar="RECORDS.json")
    parser.add_argument("--op", type=choice_of(OPS), default=list(OPS))
    parser.add_argument("--peers", type=choice_of(PEERS), default=list(PEERS))
    parser.add_argument("--seconds", type=float, default=0.2, help="of timing a row, at most")
    parser.add_argument("--max-bytes", type=float, default=9e9, help="rows above it are left out")
    parser.add_argument("--out", help="the table as JSON")
    parser.add_argument("--list", action="store_true", help="the rows that would run")
    options = parser.parse_args(arguments)
    try:
        context, rows = load_rows(options.records, options.op)
        if options.list:
            print("\n".join(label(row) for row in rows))
            return 0
        if why_skipped():
            print(f"compare_torch: skipped: {why_skipped()}", file=sys.stderr)
            return SKIPPED
        run(options, context, rows)
    except Unusable as error:
        print(f"compare_torch: {error}", file=sys.stderr)
        return UNUSABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
