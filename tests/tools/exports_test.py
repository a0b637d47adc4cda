"""libkernels.so exports its C ABI, all of it, and nothing else; and carries a versioned SONAME.

usage: exports_test.py path/to/libkernels.so
"""

import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library = sys.argv[1]
    exported = {line.split()[-1].split("@")[0]
                for line in output("nm", "-D", "--defined-only", library).splitlines()}
    with open(os.path.join(ROOT, "include", "libkernels", "c_api.h"), encoding="utf-8") as file:
        declared = set(re.findall(r"^LK_API\b[^;(]*?\b(lk_\w+)\s*\(", file.read(), re.M))
    dynamic = output("readelf", "-d", library)
    needed = re.findall(r"\(NEEDED\).*\[(.*?)\]", dynamic)

    failures = []
    if not declared:
        failures.append("c_api.h declares no function: this test does not understand it any more")
    if exported - declared:
        failures.append(f"exported, but not declared in c_api.h: {sorted(exported - declared)}")
    if declared - exported:
        failures.append(f"declared in c_api.h, but not exported: {sorted(declared - exported)}")
    if not re.search(r"\(SONAME\).*\[libkernels\.so\.\d+\.\d+\]", dynamic):
        failures.append("the SONAME is not libkernels.so.MAJOR.MINOR")
    if any(re.search("fmt|cudart|gtest|benchmark|tsan|asan", name) for name in needed):
        failures.append(f"needs libraries that its user may not have: {needed}")
    print("\n".join(failures) or f"{len(exported)} functions exported, {needed} needed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
