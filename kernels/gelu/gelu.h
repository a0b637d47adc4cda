// GeLU: what the host side knows of its kernels.
#pragma once

#include <cstdint>

#include "include/libkernels/dtype.h"
#include "kernels/common/kernel_row.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

enum class Form : std::int32_t { tanh = 0, erf = 1 };

// y[r, c] = gelu(x[r, c]); both views have the same shape, rows and cols >= 1, strides in elements.
// y is x itself or disjoint from it; strides of x may be 0, elements of y do not overlap.
struct Problem {
  const void* x;
  void* y;
  DType x_type;  // f32, f16, bf16
  DType y_type;  // x_type or f32
  Form form;
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_row_stride, y_col_stride;
};

// One row a generation, each defined at the end of its gelu_<arch>.cu. src/gelu.cc lists them.
extern const KernelRow<Problem> sm80;
extern const KernelRow<Problem> sm90;
extern const KernelRow<Problem> sm100;

}  // namespace libkernels::inline LK_BACKEND::op::gelu
