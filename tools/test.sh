#!/usr/bin/env bash
# Builds libkernels and runs its tests: installs what is missing, then the emulated build, which
# needs no GPU, and the CUDA build where nvcc is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tools/build_env.sh"

usage() {
  cat <<'END'
usage: tools/test.sh [-j N] [--emulated-only] [--werror] [ctest arguments]

  -j N             compilers and tests at a time (default: the number of cores)
  --emulated-only  leave out the CUDA build, even if nvcc is here
  --werror         compile with warnings, and register spills, as errors

Other arguments go to ctest: `tools/test.sh -R gelu` runs the tests with "gelu" in their names.
Builds are in build/emu and build/cuda.
END
}

jobs=$(nproc)
configure=()
emulated_only=false
ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -j) [ $# -ge 2 ] || die "-j needs a number"; jobs=$2; shift ;;
    -j*) jobs=${1#-j} ;;
    --emulated-only) emulated_only=true ;;
    --werror) configure+=(-DLIBKERNELS_WERROR=ON) ;;
    *) ctest_arguments+=("$1") ;;
  esac
  shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "-j needs a number, not '$jobs'"

# run_tests emu|cuda: ctest, then one line for the summary.
summary=()
failed=false
run_tests() {
  local log=$root/build/$1/ctest.log result
  ctest --test-dir "$root/build/$1" -j "$jobs" --output-on-failure "${ctest_arguments[@]}" 2>&1 |
    tee "$log" || failed=true
  result=$(grep -E 'tests passed|No tests were found' "$log" || echo "ctest did not finish")
  summary+=("$1: $result, $(sed -n 's/^Total Test time (real) = *//p' "$log")")
  # Why cases were skipped: tests print "skipped N: reason" (tests/support/main.cc).
  while IFS= read -r line; do summary+=("$line"); done < <(
    sed -nE 's/^skipped ([0-9]+): (.*)$/\1 \2/p' \
      "$root/build/$1/Testing/Temporary/LastTest.log" 2>/dev/null |
      awk '{ n = $1; sub(/^[0-9]+ /, ""); count[$0] += n }
           END { for (r in count) printf "      %d cases skipped: %s\n", count[r], r }')
}

ensure_packages
find_nvcc
build emu
run_tests emu
if $emulated_only; then
  summary+=("cuda: left out (--emulated-only)")
elif [ -z "$nvcc" ]; then
  summary+=("cuda: left out, there is no nvcc on PATH, in \$CUDA_HOME or in /usr/local/cuda")
else
  build cuda
  run_tests cuda
fi

echo
echo "== summary =="
printf '%s\n' "${summary[@]}"
if $failed; then exit 1; fi
