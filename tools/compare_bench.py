#!/usr/bin/env python3
"""Compares two runs of lkbench, row by row.

usage: tools/compare_bench.py OLD.json NEW.json [--fail-if slower:2%] [--role ROLE] [--all]
                              [--allow-different gpu,driver,power_cap,cache,mode]

Prints old and new time of every row that both files have, their ratio (old / new: above 1, the new
one is faster) with its interval out of the two medians' 95% intervals, and the geometric mean last.
A row counts as slower or faster only if its interval does not hold 1.

Exit codes: 0; 1, with --fail-if: a row is slower by more than that, or has a time in OLD.json alone;
2: the files cannot be compared (different GPUs, drivers, power caps, cache states or modes, unless
allowed; no common row; no such file, or none of lkbench).
"""

import argparse
import json
import math
import sys

# What must agree: name on the command line, key of the context.
CONDITIONS = {"gpu": "device", "driver": "driver", "power_cap": "power_cap_watts",
              "cache": "cache", "mode": "mode"}
INCOMPARABLE = 2


class Incomparable(Exception):
    """Why two files say nothing about each other."""


def is_time(value):
    return isinstance(value, (int, float)) and 0 < value < 1e15


def is_record(record):
    """What is read of a record here, as bench/schema.json has it."""
    if not isinstance(record, dict) or \
            not all(isinstance(record.get(key), str) for key in ("op", "role", "types", "form")) or \
            not isinstance(record.get("variant", ""), str):
        return False
    shape, us = record.get("shape"), record.get("us")
    if not (shape is None or isinstance(shape, list) and
            all(isinstance(extent, int) for extent in shape)):
        return False
    return us is None or isinstance(us, dict) and all(
        is_time(us[key]) for key in ("median", "low", "high") if us.get(key) is not None)


def load(path):
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise Incomparable(f"{path}: {error}") from error
    if not isinstance(results, dict) or not isinstance(results.get("records"), list) or \
            not isinstance(results.get("context"), dict):
        raise Incomparable(f"{path}: not a file of lkbench")
    for number, record in enumerate(results["records"]):
        if not is_record(record):
            raise Incomparable(f"{path}: record {number} is not as bench/schema.json has it")
    return results


def check_conditions(old, new, allowed):
    for name, key in CONDITIONS.items():
        before, after = old["context"].get(key, "unknown"), new["context"].get(key, "unknown")
        if before != after and name not in allowed:
            raise Incomparable(f"different {key}: {before} and {after} "
                               f"(--allow-different={name} compares nevertheless)")


def key_of(record):
    return (record["op"], record["role"], record["types"], record["form"],
            tuple(record.get("shape") or [record.get("elements")]), record.get("variant", ""))


def timed(results, role):
    """Rows with a time, by their key."""
    found = {}
    for record in results["records"]:
        us = record.get("us")
        if us and us.get("median") is not None and role in (None, record["role"]):
            found[key_of(record)] = record
    return found


def interval(us):
    """The median's interval; the median alone where there is none."""
    low, high = us.get("low"), us.get("high")
    return us["median"] if low is None else low, us["median"] if high is None else high


def compare(old, new):
    """(ratio, low, high) of old over new time."""
    (old_low, old_high), (new_low, new_high) = interval(old["us"]), interval(new["us"])
    return old["us"]["median"] / new["us"]["median"], old_low / new_high, old_high / new_low


def geometric_mean(ratios):
    """(mean, low, high) of independent ratios: log-widths add in quadrature."""
    logs = [math.log(ratio) for ratio, _, _ in ratios]
    squares = sum((math.log(high / low) / 2) ** 2 for _, low, high in ratios)
    mean, half = sum(logs) / len(logs), math.sqrt(squares) / len(logs)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def label(key):
    op, role, types, form, shape, variant = key
    return " ".join(part for part in (op, role, types, form, "x".join(map(str, shape)), variant)
                    if part)


def limit_of(text):
    """'slower:2%' as 0.02."""
    what, _, amount = text.partition(":")
    try:
        value = float(amount.removesuffix("%")) / 100
    except ValueError:
        value = -1
    if what != "slower" or not amount.endswith("%") or not 0 <= value < 10:
        raise argparse.ArgumentTypeError(f"{text}: write slower:2%")
    return value


def allowed_of(text):
    names = text.split(",")
    for name in names:
        if name not in CONDITIONS:
            raise argparse.ArgumentTypeError(f"{name}: choose out of {', '.join(CONDITIONS)}")
    return names


def report(old, new, limit, role, everything):
    """Prints the comparison; the rows that are slower than allowed, and those without a new time."""
    before, after = timed(old, role), timed(new, role)
    common = [key for key in after if key in before]
    if not common:
        roles = sorted({record["role"] for file in (old, new) for record in file["records"]})
        raise Incomparable(f"no row of role {role or 'all'} that both files have a time of (roles "
                           f"there: {', '.join(roles)})")
    width = max(len(label(key)) for key in common)
    slower, ratios = [], []
    print(f"{'row':<{width}} {'old us':>10} {'new us':>10} {'old/new':>8}  95%")
    for key in common:
        ratio, low, high = compare(before[key], after[key])
        ratios.append((ratio, low, high))
        mark = ""
        if high < 1:
            mark = "slower"
            if limit is not None and ratio < 1 / (1 + limit):
                mark = "SLOWER"
                slower.append(key)
        elif low > 1:
            mark = "faster"
        if everything or mark:
            print(f"{label(key):<{width}} {before[key]['us']['median']:10.2f} "
                  f"{after[key]['us']['median']:10.2f} {ratio:8.3f}  {low:.3f} .. {high:.3f} {mark}"
                  .rstrip())
    mean, low, high = geometric_mean(ratios)
    print(f"{'geometric mean':<{width}} {'':>10} {'':>10} {mean:8.3f}  {low:.3f} .. {high:.3f} "
          f"({len(ratios)} rows)")
    for name, missing in (("old", set(after) - set(before)), ("new", set(before) - set(after))):
        if missing:
            print(f"{len(missing)} rows are not in the {name} file")
    return slower, [key for key in before if key not in after]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--fail-if", type=limit_of, metavar="slower:2%")
    parser.add_argument("--role", default="fused", help="default: fused; all: every contestant")
    parser.add_argument("--all", action="store_true", help="also rows that did not change")
    parser.add_argument("--allow-different", type=allowed_of, default=[], metavar="gpu,driver,...")
    options = parser.parse_args(arguments)
    try:
        old, new = load(options.old), load(options.new)
        check_conditions(old, new, options.allow_different)
        role = None if options.role == "all" else options.role
        slower, missing = report(old, new, options.fail_if, role, options.all)
    except Incomparable as error:
        print(f"compare_bench: {error}", file=sys.stderr)
        return INCOMPARABLE
    if options.fail_if is None:
        return 0
    if slower:
        print(f"compare_bench: {len(slower)} rows are slower by more than "
              f"{100 * options.fail_if:g}%", file=sys.stderr)
    if missing:
        print(f"compare_bench: {len(missing)} rows have no time in {options.new}, such as "
              f"{label(missing[0])}", file=sys.stderr)
    return 1 if slower or missing else 0


if __name__ == "__main__":
    sys.exit(main())
