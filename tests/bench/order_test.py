"""The same row, first in the list, last and alone, takes the same time within 3%. Needs a GPU.

usage: order_test.py LKBENCH
"""

import json
import os
import subprocess
import sys
import tempfile

LKBENCH = sys.argv[1]
WITHIN = 0.03
ROUNDS = 2
SKIPPED = 77


def median(sizes, folder):
    """Of the row of 2^22 elements among `sizes`; None where nothing is measured."""
    out = os.path.join(folder, "records.json")
    subprocess.run([LKBENCH, "--suite=gelu", "--dtype=bf16", "--form=tanh", f"--n={sizes}",
                    "--seconds=0.1", f"--out={out}"], check=True, stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as file:
        for record in json.load(file)["records"]:
            if record["role"] == "fused" and record["elements"] == 2**22 and "us" in record:
                return record["us"]["median"]
    return None


def main():
    probe = subprocess.run([LKBENCH, "--list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True, check=True)
    smi = subprocess.run(["sh", "-c", "nvidia-smi -L"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    if "emulator" in probe.stderr or "GPU 0" not in smi.stdout:
        print("skipped: no GPU")
        return SKIPPED
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            # Rows run from small to large.
            for sizes in ("2^22", "2^22,2^24,2^26", "2^16,2^20,2^22"):
                times.append(median(sizes, folder))
    print("us:", ", ".join(f"{t:.3f}" for t in times))
    spread = max(times) / min(times) - 1
    print(f"largest over smallest: {100 * spread:.2f}%")
    return 0 if spread <= WITHIN else 1


if __name__ == "__main__":
    sys.exit(main())
