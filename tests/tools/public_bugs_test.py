"""Each public bug case of kinds A to J is named by a test of every operation that it concerns.

A test names cases by the beginning of its name: TEST_P(EveryKernel, F7E8G5RightWith...).
"""

import collections
import os
import re
import sys

TESTS = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
GELU, SOFTMAX, ROW_SUM, MATMUL = OPERATIONS = ("gelu", "softmax", "row_sum", "matmul")
ROWS = (SOFTMAX, ROW_SUM)

# What is not listed concerns all operations.
CONCERNS = {
    # NaN and infinity
    "A1": (SOFTMAX,), "A2": ROWS, "A4": ROWS, "A5": (MATMUL,), "A7": ROWS, "A8": (GELU,),
    "A9": (GELU,), "A10": (MATMUL,),
    # accuracy
    "B1": (GELU,), "B2": (GELU,), "B4": (SOFTMAX,), "B6": (ROW_SUM,), "B7": (ROW_SUM, MATMUL),
    "B8": ROWS, "B10": (MATMUL,), "B11": (SOFTMAX,), "B12": (SOFTMAX,), "B13": (MATMUL,),
    # 32-bit indices and grids
    "C1": (GELU, *ROWS), "C3": (GELU, *ROWS), "C4": (MATMUL,), "C5": (MATMUL,), "C6": OPERATIONS,
    "C8": OPERATIONS,
    # alignment
    "D1": (ROW_SUM, MATMUL), "D2": (MATMUL,), "D3": (GELU, *ROWS), "D5": (MATMUL,),
    "D6": (MATMUL,),
    # zero, tiny and odd shapes
    "E1": (MATMUL,), "E2": OPERATIONS, "E4": ROWS, "E5": ROWS, "E7": (MATMUL,), "E8": OPERATIONS,
    "E9": (MATMUL,), "E10": (MATMUL,),
    # views
    "F1": ROWS, "F4": OPERATIONS, "F5": OPERATIONS, "F6": OPERATIONS, "F7": OPERATIONS, "F8": ROWS,
    # epilogue
    "G2": (MATMUL,), "G3": (MATMUL,), "G4": (MATMUL,), "G5": (MATMUL,), "G6": (MATMUL,),
    # devices; streams, graphs, threads; determinism
    **{case: OPERATIONS for case in ("H1", "H3", "H4", "H5", "H6", "H7", "I3", "I4", "I5", "I6",
                                     "I7", "I8", "I9", "J3")},
    "J2": (MATMUL,),
}
FOR_ALL = (os.path.join("kernels", "all"), os.path.join("src", "public_bugs_test.cc"))


def operations_of(path):
    if path.startswith(FOR_ALL):
        return OPERATIONS
    return [op for op in OPERATIONS if path.startswith(os.path.join("kernels", op) + os.sep)]


def named_cases():
    """{(case, operation): [test, ...]}"""
    found = collections.defaultdict(list)
    for folder, _, files in os.walk(TESTS):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), TESTS)
            if not file.endswith(".cc"):
                continue
            with open(os.path.join(TESTS, path), encoding="utf-8") as text:
                tests = re.findall(r"^TEST(?:_[PF])?\((\w+),\s*((?:[A-Z]\d+)+)(\w*)\)", text.read(),
                                   re.M)
            for suite, cases, rest in tests:
                for case in re.findall(r"[A-Z]\d+", cases):
                    for op in operations_of(path):
                        found[case, op].append(f"{suite}.{cases}{rest}")
    return found


def main():
    found = named_cases()
    if not found:
        print("no test names a case: this test does not understand them any more")
        return 1
    missing = [f"{case}: no test of {op} names it" for case, operations in CONCERNS.items()
               for op in operations if not found[case, op]]
    if "--table" in sys.argv:
        for case, operations in CONCERNS.items():
            tests = dict.fromkeys(test for op in operations for test in found[case, op])
            print(f"{case:4}{', '.join(operations)}: {', '.join(tests)}")
    print("\n".join(missing) or f"{len(CONCERNS)} cases, each named by a test of each operation")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
