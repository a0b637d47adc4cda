// Row maximum: what the host side knows of its kernels.
#pragma once

#include <cstdint>

#include "kernels/common/kernel_row.h"

namespace libkernels::inline LK_BACKEND::op::row_max {

// y[r] = max over c of x[r, c]; rows >= 1, cols >= 0, strides in elements.
struct Problem {
  const float* x;
  float* y;
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_stride;
};

extern const KernelRow<Problem> sm80;

}  // namespace libkernels::inline LK_BACKEND::op::row_max
