# Sourced by test.sh, bench.sh and .ci/run: finds or installs what the build needs, and builds.
# Needs $root (the checkout) and bash with `set -euo pipefail`.

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }
version_at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# nearest WORD CANDIDATE...: prints the candidate that WORD is most likely meant to be, if any is near.
nearest() {
  printf '%s\n' "$@" | awk '
    function distance(a, b,   i, j, row, diagonal, replaced, least) {
      for (j = 0; j <= length(b); ++j) row[j] = j
      for (i = 1; i <= length(a); ++i) {
        diagonal = row[0]
        row[0] = i
        for (j = 1; j <= length(b); ++j) {
          replaced = diagonal + (substr(a, i, 1) != substr(b, j, 1))
          diagonal = row[j]
          least = replaced < row[j] + 1 ? replaced : row[j] + 1
          row[j] = least < row[j - 1] + 1 ? least : row[j - 1] + 1
        }
      }
      return row[length(b)]
    }
    NR == 1 { word = $0; best = 5; next }
    { d = distance(word, $0); if (d < best && 2 * d <= length($0) - 2) { best = d; found = $0 } }
    END { if (found != "") print found }'
}

# install PACKAGE...: by apt-get, as root or through sudo.
install() {
  command -v apt-get >/dev/null || die "missing: $*. This machine has no apt-get: install the" \
    "equivalent packages yourself, then run this again."
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "missing: $*. Run as root: apt-get install $*"
    as_root=(sudo)
  fi
  say "installing $*"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c '
    apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1 ||
      { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@" >/dev/null; }' \
    sh "$@" >&2 || die "apt-get could not install $*"
}

has_header() { printf '#include <%s>\n' "$1" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }

# Installs what is missing of the tools and libraries; leaves alone what is there, however it came.
ensure_packages() {
  local missing=()
  command -v cmake >/dev/null || missing+=(cmake)
  command -v ninja >/dev/null || missing+=(ninja-build)
  command -v python3 >/dev/null || missing+=(python3)
  command -v "${CXX:-c++}" >/dev/null || missing+=(g++)
  if command -v "${CXX:-c++}" >/dev/null; then
    has_header gtest/gtest.h || missing+=(libgtest-dev)
    has_header benchmark/benchmark.h || missing+=(libbenchmark-dev)
    has_header fmt/format.h || missing+=(libfmt-dev)
  else
    missing+=(libgtest-dev libbenchmark-dev libfmt-dev)
  fi
  [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
  local have
  have=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  version_at_least "$have" 3.25 || die "CMake $have is too old, 3.25 is needed. A newer one:" \
    "python3 -m pip install cmake, or https://cmake.org/download"
}

# Sets nvcc to the compiler's path, or to nothing.
find_nvcc() {
  local dir
  nvcc=$(command -v nvcc || true)
  for dir in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ -n "$nvcc" ] || [ ! -x "$dir/bin/nvcc" ] || nvcc=$dir/bin/nvcc
  done
}

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# build emu|cuda [TARGET]: configures once and builds build/emu or build/cuda. $configure: further
# arguments for CMake; $jobs: how many compilers at a time.
build() {
  local dir=$root/build/$1 arguments=("${configure[@]}") target=()
  [ "$1" = emu ] && arguments+=(-DLIBKERNELS_EMULATE=ON) || arguments+=("-DCMAKE_CUDA_COMPILER=$nvcc")
  [ -e "$dir/CMakeCache.txt" ] || arguments+=(-G Ninja)
  [ $# -lt 2 ] || target=(--target "$2")
  mkdir -p "$dir"
  say "building build/$1"
  cmake -S "$root" -B "$dir" "${arguments[@]}" >"$dir/configure.log" 2>&1 ||
    { cat "$dir/configure.log" >&2; die "CMake failed"; }
  cmake --build "$dir" -j "$jobs" "${target[@]}" >"$dir/build.log" 2>&1 ||
    { tail -n 60 "$dir/build.log" >&2; die "the build failed; all of it is in build/$1/build.log"; }
}
