#!/usr/bin/env python3
"""Writes the figures in README.md out of bench/results/h200.json, between the two markers.

usage: tools/update_readme.py [--check]

--check changes nothing and exits 1 if README.md does not hold what the file says. The file is
written by `lkbench --out=bench/results/h200.json` (its schema: bench/report.h).
"""

import argparse
import json
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
README = os.path.join(ROOT, "README.md")
RESULTS = os.path.join(ROOT, "bench", "results", "h200.json")
BEGIN = "<!-- figures: written by tools/update_readme.py -->"
END = "<!-- end of figures -->"

# The rows of the file that the README shows; all others stay in the file.
SIZES = [2**16, 2**20, 2**24, 2**28, 2**30]
TYPES = ["f32", "bf16"]
ABSENT = "No figures yet: `bench/results/h200.json` does not exist."


def power(elements):
    exponent = elements.bit_length() - 1
    return f"2^{exponent}" if elements == 1 << exponent else str(elements)


def number(value, form):
    return "-" if value is None else format(value, form)


def row(record):
    measured = record["us"]["median"]
    return [
        power(record["elements"]) + (f", {record['variant']}" if record.get("variant") else ""),
        record["types"],
        record.get("form") or "-",
        record["kernel"],
        number(measured, ".1f" if measured >= 10 else ".2f"),
        number(record.get("gb_per_s"), ".0f"),
        number(record.get("ceiling_fraction"), ".3f"),
        number(record.get("speedup_unfused"), ".1f"),
        number(record.get("speedup_naive"), ".1f"),
        number(record.get("error_ulp"), ".2f"),
    ]


HEAD = ["elements", "types", "form", "kernel", "us", "GB/s", "of the ceiling", "x unfused",
        "x naive", "error, ulp"]


def shown(record):
    return (record.get("role") == "fused" and record.get("us") is not None and
            record.get("types") in TYPES and record.get("elements") in SIZES)


def figures(results):
    """The text between the markers."""
    if results is None:
        return ABSENT
    context = results["context"]
    lines = [
        f"{context.get('device', 'unknown device')}, {context.get('date', 'no date')[:10]}, "
        f"CUDA {context.get('toolkit', 'unknown')}, driver {context.get('driver', 'unknown')}, "
        f"mode {context.get('mode', 'unknown')}, cache {context.get('cache', 'unknown')}.",
    ]
    records = [r for r in results["records"] if shown(r)]
    for op in sorted({r["op"] for r in records}):
        lines += ["", f"**{op}**", "", "| " + " | ".join(HEAD) + " |",
                  "|" + "---|" * 4 + "---:|" * (len(HEAD) - 4)]
        lines += ["| " + " | ".join(row(r)) + " |" for r in records if r["op"] == op]
    if not records:
        lines.append("The file holds no measured row of a fused kernel.")
    return "\n".join(lines)


def with_figures(readme, text):
    """README with `text` between its markers."""
    if readme.count(BEGIN) != 1 or readme.count(END) != 1 or readme.index(BEGIN) > readme.index(END):
        raise ValueError(f"README.md needs one line {BEGIN} and, below it, one line {END}")
    head, rest = readme.split(BEGIN)
    return f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 if stale")
    check = parser.parse_args().check
    results = None
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            results = json.load(file)
        if results.get("schema") != 1:
            sys.exit(f"{RESULTS} has schema {results.get('schema')}; this script reads 1")
    with open(README, encoding="utf-8") as file:
        before = file.read()
    after = with_figures(before, figures(results))
    if before == after:
        print("README.md holds the figures of bench/results/h200.json" if results else
              "README.md says that there are no figures yet")
        return 0
    if check:
        print("README.md is stale: run tools/update_readme.py and commit the result")
        return 1
    with open(README, "w", encoding="utf-8") as file:
        file.write(after)
    print("README.md updated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
