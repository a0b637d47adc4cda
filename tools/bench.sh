#!/usr/bin/env bash
# Builds lkbench and runs it: for CUDA where nvcc is, else the emulated build, which counts bytes
# and FLOPs and models time, but measures none.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/tools/build_env.sh"

usage() {
  cat <<'END'
usage: tools/bench.sh [-j N] [--emulated-only] [lkbench arguments]

  -j N             compilers at a time (default: the number of cores)
  --emulated-only  build and run the emulated lkbench, even if nvcc is here

Other arguments go to lkbench; `tools/bench.sh --help-lkbench` shows them. The records of the run
are written to build/cuda/lkbench.json (build/emu/lkbench.json if emulated), or to --out=FILE.
END
}

# lkbench's own help, out of its source: nothing has to be built for it.
help_lkbench() {
  sed -n '/^const char\* help_text()/,/^}/ { s/^  return R"(//; /^const char/d; /^)";$/d; /^}$/d; p; }' \
    "$root/bench/flags.cc"
}

jobs=$(nproc)
configure=()
backend=cuda
lkbench_arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --help-lkbench) help_lkbench; exit 0 ;;
    -j) [ $# -ge 2 ] || die "-j needs a number"; jobs=$2; shift ;;
    -j[0-9]*) jobs=${1#-j} ;;
    --emulated-only) backend=emu ;;
    *) lkbench_arguments+=("$1") ;;
  esac
  shift
done
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "-j needs a number, not '$jobs'"

ensure_packages
find_nvcc
if [ "$backend" = cuda ] && [ -z "$nvcc" ]; then
  say "there is no nvcc on PATH, in \$CUDA_HOME or in /usr/local/cuda: emulated lkbench"
  backend=emu
elif [ "$backend" = cuda ] && ! has_gpu; then
  say "nvidia-smi lists no GPU: lkbench can only model time, not measure it"
fi
build "$backend" lkbench

# The records go to a file, unless the arguments name another or ask for no run.
results=build/$backend/lkbench.json
for argument in "${lkbench_arguments[@]}"; do
  case $argument in
    --out | --out=* | --help | --list | --benchmark_list*) results= ;;
  esac
done
[ -z "$results" ] || lkbench_arguments+=("--out=$root/$results")
# Ctrl-C is for lkbench, which then shows and writes what it has.
trap : INT
changed() { [ -z "$results" ] || stat -c '%i %y' "$root/$results" 2>/dev/null || true; }
before=$(changed)
code=0
"$root/build/$backend/bench/lkbench" "${lkbench_arguments[@]}" || code=$?
[ "$(changed)" = "$before" ] || say "records: $results"
exit "$code"
