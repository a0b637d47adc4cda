#!/usr/bin/env bash
# Builds libkernels and runs its tests: installs what is missing, then the emulated build, which
# needs no GPU, and the CUDA build where nvcc is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tools/build_env.sh"

usage() {
  cat <<'END'
usage: tools/test.sh [-j N] [--emulated-only] [--werror] [-R REGEX] [-E REGEX] [-- ctest arguments]

  -j N             compilers and tests at a time (default: the number of cores)
  --emulated-only  leave out the CUDA build, even if nvcc is here
  --werror         compile with warnings, and register spills, as errors
  -R REGEX         run the tests whose names match; it is an error if none does
  -E REGEX         leave out the tests whose names match

What follows `--` goes to ctest as it is: `tools/test.sh -R gelu -- --repeat until-fail:5`.
Builds are in build/emu and build/cuda. The exit code is 0 only if every build and test succeeded.
END
}

jobs=$(nproc)
configure=()
emulated_only=false
selected=false
ctest_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    -j) [ $# -ge 2 ] || die "-j needs a number"; jobs=$2; shift ;;
    -j*) jobs=${1#-j} ;;
    --emulated-only) emulated_only=true ;;
    --werror) configure+=(-DLIBKERNELS_WERROR=ON) ;;
    -R | -E)
      case ${2:-} in
        '' | -*) die "$1 needs a regular expression: $1 gelu" ;;
      esac
      ctest_arguments+=("$1" "$2"); selected=true; shift ;;
    --) shift; ctest_arguments+=("$@"); [ $# -eq 0 ] || selected=true; break ;;
    *)
      near=$(nearest "$1" --help --emulated-only --werror)
      die "unknown argument '$1'${near:+; did you mean $near?}; ctest's own arguments stand behind --" ;;
  esac
  shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "-j needs a number, not '$jobs'"

# run_tests emu|cuda: ctest, then one line for the summary. A selection may leave one of the two
# builds without a test, but not both.
summary=()
failed=false
matched=false
no_tests=error
! $selected || no_tests=ignore
run_tests() {
  local log=$root/build/$1/ctest.log result seconds
  ctest --test-dir "$root/build/$1" -j "$jobs" --output-on-failure "--no-tests=$no_tests" \
    "${ctest_arguments[@]}" 2>&1 | tee "$log" || failed=true
  result=$(grep -E 'tests passed' "$log" || true)
  if [ -n "$result" ]; then
    matched=true
    seconds=$(sed -n 's/^Total Test time (real) = *//p' "$log")
    summary+=("$1: $result${seconds:+, $seconds}")
  elif grep -q 'No tests were found' "$log"; then
    summary+=("$1: no test matches")
    return
  else
    matched=true  # or something else was asked of ctest
    summary+=("$1: ctest ran no tests")
    return
  fi
  # Why cases were skipped: tests print "skipped N: reason" (tests/support/main.cc).
  while IFS= read -r line; do summary+=("$line"); done < <(
    sed -nE 's/^skipped ([0-9]+): (.*)$/\1 \2/p' \
      "$root/build/$1/Testing/Temporary/LastTest.log" 2>/dev/null |
      awk '{ n = $1; sub(/^[0-9]+ /, ""); count[$0] += n }
           END { for (r in count)
                   printf "      %d case%s skipped: %s\n", count[r], count[r] == 1 ? "" : "s", r }')
}

# What a build that failed leaves for the summary is that it did.
build_and_test() {
  rm -f "$root/build/$1/ctest.log"
  if (build "$1"); then
    run_tests "$1"
  else
    summary+=("$1: NOT TESTED, the build failed (above; build/$1/configure.log and build.log)")
    failed=true
    matched=true
  fi
}

ensure_packages
find_nvcc
build_and_test emu
if $emulated_only; then
  summary+=("cuda: left out (--emulated-only)")
elif [ -z "$nvcc" ]; then
  summary+=("cuda: left out, there is no nvcc on PATH, in \$CUDA_HOME or in /usr/local/cuda")
else
  build_and_test cuda
fi

echo
echo "== summary =="
printf '%s\n' "${summary[@]}"
$matched || die "no test was run: nothing matches ${ctest_arguments[*]}"
if $failed; then exit 1; fi
