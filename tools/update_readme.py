#!/usr/bin/env python3
"""Writes the figures in README.md out of bench/results/h200*.json, between the two markers.

usage: tools/update_readme.py [--check]

--check changes nothing and exits 1 if README.md does not hold what the files say. They are written
by `lkbench --suite=gelu --large --out=bench/results/h200_gelu.json` (their schema:
bench/schema.json): one file a suite, or one of all. A file without a measured row to show is
refused, and so is a suite that two files have. tools/readme_tables.py chooses the rows; all others
stay in the files.
"""

import argparse
import glob
import json
import math
import os
import sys
import textwrap

import readme_tables

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
README = os.path.join(ROOT, "README.md")
RESULTS = os.path.join(ROOT, "bench", "results")
BEGIN = "<!-- figures: written by tools/update_readme.py -->"
END = "<!-- end of figures -->"

SCHEMA = 2
ABSENT = "No figures yet: there is no file `bench/results/h200*.json`."
FIGURES = ("gb_per_s", "tflops", "ceiling_fraction", "error_fraction_of_bound")


def conditions(results):
    """Under which conditions a file came about."""
    context = results["context"]
    line = (f"{context.get('device', 'unknown device')}, {context.get('date', 'no date')[:10]}, "
            f"CUDA {context.get('toolkit', 'unknown')}, driver {context.get('driver', 'unknown')}, "
            f"mode {context.get('mode', 'unknown')}, cache {context.get('cache', 'unknown')}.")
    if results["schema"] != SCHEMA:
        line += (f" Written by an older lkbench (schema {results['schema']}): regenerate it with "
                 "`lkbench --out`.")
    return textwrap.fill(line, 100, break_on_hyphens=False)


def figures(files):
    """The text between the markers, of results by the names of their files."""
    if not files:
        return ABSENT
    found = {}
    for name, results in files.items():
        source = f"bench/results/{name}"
        shown = list(readme_tables.tables(readme_tables.Rows(results["records"]), source))
        if not shown:
            raise ValueError(f"{source}: holds no row that the README shows")
        for suite, lines in shown:
            if suite in found:
                raise ValueError(f"{source}: has the suite {suite}, and so has another file")
            found[suite] = (conditions(results), lines)
    text, before = [], None
    for suite, *_ in readme_tables.SUITES:
        if suite not in found:
            continue
        head, lines = found[suite]
        if head != before:
            text += ["", head]
        text, before = text + lines, head
    return "\n".join(text).strip()


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_shape(value):
    return isinstance(value, list) and bool(value) and all(
        isinstance(n, int) and n > 0 for n in value)


def fault_of(record):
    """Why a record cannot stand in a table; None if it can."""
    for key in ("op", "role", "types"):
        if not isinstance(record.get(key), str):
            return f'no "{key}"'
    if not is_shape(record.get("shape") or [record.get("elements")]):
        return 'no "shape"'
    us = record.get("us")
    if us is not None and not (isinstance(us, dict) and is_number(us.get("median")) and
                               us["median"] > 0):
        return 'no positive number "us"."median"'
    for key in FIGURES:
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
    if not isinstance(results, dict) or results.get("schema") not in (1, SCHEMA):
        raise ValueError(f'is not of "schema" {SCHEMA}, which this script reads')
    context, records = results.get("context"), results.get("records")
    if not isinstance(context, dict) or not all(isinstance(v, str) for v in context.values()):
        raise ValueError('"context" is no object of texts')
    if not isinstance(records, list) or not all(isinstance(r, dict) for r in records):
        raise ValueError('"records" is no list of objects')
    for index, record in enumerate(records):
        fault = fault_of(record)
        if fault:
            raise ValueError(f"record {index}: {fault}")
    if context.get("mode") == "counted" or \
            not any(r["role"] == "fused" and r.get("us") for r in records):
        raise ValueError("holds no measured row: lkbench writes those on a machine with a GPU")
    return results


def load_all(folder=RESULTS):
    """Results by file name; ValueError, with the file's name, if one gives no table."""
    files = {}
    for path in sorted(glob.glob(os.path.join(folder, "h200*.json"))):
        name = os.path.basename(path)
        try:
            files[name] = load(path)
        except ValueError as error:
            raise ValueError(f"bench/results/{name}: {error}") from None
    return files


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
    with open(README, encoding="utf-8") as file:
        before = file.read()
    try:
        files = load_all()
        after = with_figures(before, figures(files))
    except ValueError as error:
        sys.exit(str(error))
    if before == after:
        print(f"README.md holds the figures of {', '.join(files)}" if files else
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
