// Matmul on every shape, layout and alignment: integers, tolerance 0. Memory around and between the
// elements is NaN before the call and must be the same afterwards; no result may depend on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulLayout : public MatmulTest {
 protected:
  // Row major, column major, and strides with gaps, from an offset.
  static Layout layout(std::int64_t rows, std::int64_t cols, bool columns, std::int64_t gap = 0,
                       std::int64_t offset = 0) {
    return columns ? col_major(rows, cols, rows + gap, offset)
                   : row_major(rows, cols, cols + gap, offset);
  }
};

TEST_P(MatmulLayout, FourLayoutsAligned) {
  for (const int which : {0, 1, 2, 3, 4, 5, 6, 7}) {
    MatmulCase t(80, 96, 64);
    t.a = layout(t.m, t.k, which & 1);
    t.b = layout(t.k, t.n, which & 2);
    t.c = layout(t.m, t.n, which & 4);
    check_exact(t);
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulLayout, testing::ValuesIn(matmul_params()), matmul_name);

}  // namespace
}  // namespace libkernels::test
