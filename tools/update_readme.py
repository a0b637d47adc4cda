#!/usr/bin/env python3
"""Writes the figures in README.md out of bench/results/h200.json, between the two markers.

usage: tools/update_readme.py [--check]

--check changes nothing and exits 1 if README.md does not hold what the file says. The file is
written by `lkbench --out=bench/results/h200.json` (its schema: bench/schema.json). A file without a
measured row to show is refused.
"""

import argparse
import json
import math
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
README = os.path.join(ROOT, "README.md")
RESULTS = os.path.join(ROOT, "bench", "results", "h200.json")
BEGIN = "<!-- figures: written by tools/update_readme.py -->"
END = "<!-- end of figures -->"

# The rows of the file that the README shows; all others stay in the file.
SIZES = [2**16, 2**20, 2**24, 2**28, 2**30]
TYPES = ["f32", "f16", "bf16"]
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
        number(record.get("error_fraction_of_bound"), ".2f"),
    ]


HEAD = ["elements", "types", "form", "kernel", "us", "GB/s", "of the ceiling", "x unfused",
        "x naive", "error / bound"]


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
    return "\n".join(lines)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def fault_of(record):
    """What the table needs and a record that it would show does not have; None if it has all."""
    for key in ("op", "types", "kernel"):
        if not isinstance(record.get(key), str):
            return f'no "{key}"'
    if not isinstance(record["us"], dict) or not is_number(record["us"].get("median")):
        return 'no number "us"."median"'
    for key in ("gb_per_s", "ceiling_fraction", "speedup_unfused", "speedup_naive",
                "error_fraction_of_bound"):
        if record.get(key) is not None and not is_number(record[key]):
            return f'"{key}" is no number'
    return None


def load(path):
    """The results; ValueError, in one line, if they give no table."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot be read: {error}") from None
    if not isinstance(results, dict) or results.get("schema") != 1:
        raise ValueError('is not of "schema" 1, which this script reads')
    context, records = results.get("context"), results.get("records")
    if not isinstance(context, dict) or not all(isinstance(v, str) for v in context.values()):
        raise ValueError('"context" is no object of texts')
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise ValueError('"records" is no list of objects')
    if context.get("mode") == "counted" or not any(shown(r) for r in records):
        raise ValueError("holds no measured row to show: lkbench writes those on a machine with a GPU")
    for index, record in enumerate(records):
        fault = fault_of(record) if shown(record) else None
        if fault:
            raise ValueError(f"record {index}: {fault}")
    return results


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
        try:
            results = load(RESULTS)
        except ValueError as error:
            sys.exit(f"{os.path.relpath(RESULTS, ROOT)}: {error}")
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
