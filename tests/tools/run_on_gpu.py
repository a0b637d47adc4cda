"""Runs a program that needs a GPU; where nvidia-smi lists none, says so and exits 77 (skipped).

usage: run_on_gpu.py PROGRAM [ARGUMENTS...]
"""

import shutil
import subprocess
import sys


def main():
    smi = shutil.which("nvidia-smi")
    listed = subprocess.run([smi, "-L"], capture_output=True, text=True, check=False).stdout \
        if smi else ""
    if not listed.startswith("GPU "):
        print("skipped 1: no GPU")
        return 77
    return subprocess.run(sys.argv[1:], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
