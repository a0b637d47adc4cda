// Softmax: what the host side knows of its kernels.
#pragma once

#include <cstdint>

#include "include/libkernels/dtype.h"
#include "kernels/common/kernel_row.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

// y[r, :] = softmax of scale * x[r, :]; both views have the same shape, rows and cols >= 1, strides
// in elements. y is x itself or disjoint from it; strides of x may be 0, elements of y do not
// overlap.
struct Problem {
  const void* x;
  void* y;
  DType x_type;           // f32, f16, bf16
  DType y_type;           // x_type or f32
  float scale;            // finite
  bool log;               // the logarithm of the softmax
  bool zero_neg_inf_row;  // a row of only -inf gives 0 (log: -inf), not NaN
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_row_stride, y_col_stride;
};

// Each defined at the end of its softmax_<arch>.cu. src/softmax.cc lists them.
extern const KernelRow<Problem> sm80;          // unit column strides, rows that a warp can hold
extern const KernelRow<Problem> sm80_block;    // unit column strides, rows that a CTA can hold
extern const KernelRow<Problem> sm80_split;    // unit column strides, longer rows
extern const KernelRow<Problem> sm80_strided;  // everything else
extern const KernelRow<Problem> sm90_cluster;  // unit column strides, rows that a cluster can hold
extern const KernelRow<Problem> sm90_strided;  // the same as sm80_strided

}  // namespace libkernels::inline LK_BACKEND::op::softmax
