// Matmul: what the host side knows of its kernels.
#pragma once

#include <cstdint>

#include "include/libkernels/dtype.h"
#include "kernels/common/kernel_row.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

enum class Activation : std::int32_t { none = 0, relu = 1, gelu_tanh = 2, gelu_erf = 3 };
enum class Math : std::int32_t { fp32 = 0, tf32 = 1, tf32x3 = 2 };  // of f32 inputs

// A batch of matrices. Strides in elements.
struct Matrix {
  const void* data;
  DType type;
  std::int64_t row_stride, col_stride, batch_stride;
};

// C = act(alpha scale_a scale_b (A B) + beta C_in + bias), `batch` times. m, n, batch >= 1. Strides
// of inputs may be 0; those of extents of one mean nothing, nor does any of A and B where the
// product is absent. Types as matmul.h says. C_in is C itself or disjoint from C, as all inputs
// are.
struct Problem {
  Matrix a, b, c;        // m x k, k x n, m x n
  Matrix c_in;           // data null: beta is 0
  std::int64_t m, n, k;  // k is 0 if alpha is: then A and B are not read, and the product,
  std::int64_t batch;    // whatever alpha and the scales, is 0
  float alpha, beta;
  const void* bias;      // n values; null: none
  DType bias_type;       // f32 or C's type
  const float* scale_a;  // one value; null: 1
  const float* scale_b;
  Activation activation;
  Math math;
  const DeviceProperties* device;  // for KernelRow::resources: the tile depends on it
};

constexpr bool is_f8(DType t) { return t == DType::f8_e4m3 || t == DType::f8_e5m2; }

// Defined in matmul_<arch>.cu. src/matmul.cc lists them.
extern const KernelRow<Problem> sm90_skinny, sm90, sm90_repack, sm80_skinny, sm80;

}  // namespace libkernels::inline LK_BACKEND::op::matmul
