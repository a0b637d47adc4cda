// The cases of the suites matmul, cliff and decode: which products lkbench looks at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/baselines/baseline.h"
#include "bench/problem.h"
#include "bench/selection.h"

namespace libkernels::bench {

// Whether an operand's rows (N) or its columns (T) are contiguous, as BLAS counts it for row-major
// matrices: NN is A [M][K], B [K][N]; NT is A [M][K], B [N][K].
struct Layout {
  bool a_transposed = false;
  bool b_transposed = false;
  bool operator==(const Layout&) const = default;
};

struct MatmulCase {
  DType in;
  DType out;
  Math math = Math::fp32;  // of fp32 operands
  Epilogue epilogue = Epilogue::bias_relu;
  Layout layout;
  std::int64_t m, n, k;
  int offset = 0;  // elements that A's and B's pointers lie behind a 256-byte boundary
  int pad = 0;     // elements that the leading dimensions of A and B exceed the extent by
  // The library and cuBLASLt alone: of a sweep over many sizes.
  bool brief = false;
  // On the emulator: no library, no workspace for one.
  bool emulated = false;
};

std::vector<MatmulCase> matmul_cases(const Selection& selection);
std::vector<MatmulCase> cliff_cases(const Selection& selection);
std::vector<MatmulCase> decode_cases(const Selection& selection);

// The sizes N of the products N^3 of the suite cliff, ascending: multiples of 128, and for each of
// them others that want no more tiles of 128 and are aligned to 2 bytes, or to 4, but not to 16.
std::vector<std::int64_t> cliff_sizes();

Case matmul_case(const MatmulCase& c);
std::unique_ptr<Problem> matmul_problem(const MatmulCase& c);

}  // namespace libkernels::bench
