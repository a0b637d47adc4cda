// Row-sum: what the host side knows of its kernels.
#pragma once

#include <cstdint>

#include "include/libkernels/dtype.h"
#include "kernels/common/kernel_row.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

// y[r] = sum over c of x[r, c]; rows >= 1, cols >= 0 (no columns: 0), strides in elements. y is
// disjoint from x; strides of x may be 0, elements of y do not overlap. x is not read if cols is 0.
struct Problem {
  const void* x;
  void* y;
  DType x_type;  // f32, f16, bf16
  DType y_type;  // x_type or f32
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_stride;
};

// One row a generation, each defined at the end of its row_sum_<arch>.cu. src/row_sum.cc lists
// them.
extern const KernelRow<Problem> sm80;
extern const KernelRow<Problem> sm90;

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
