// What the cuBLAS and the cuBLASLt baseline share: how a row-major product is put to a library that
// counts columns first.
//
// C = A B, row-major, is C^T = B^T A^T, and a row-major matrix read column by column is its
// transpose: the library's first operand is B, its second A, its m is N and its n is M.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>
#include <string>

#include "bench/baselines/tables.h"

namespace libkernels::inline LK_BACKEND::bench_device {

inline void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

inline void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(error));
}

// An operand as the library sees it: rows x cols, column by column, `ld` apart.
struct ColumnMajor {
  cublasOperation_t op;
  std::int64_t rows, cols, ld;
};

// `rows` x `cols` is the row-major operand; it comes out transposed, as the formula above wants it.
inline ColumnMajor column_major(const bench::Strides& s, std::int64_t rows, std::int64_t cols) {
  // Of a single row or column both strides are 1; then the extents tell.
  if (s.col == 1 && s.row >= cols)
    return {.op = CUBLAS_OP_N, .rows = cols, .cols = rows, .ld = s.row};
  if (s.row == 1) return {.op = CUBLAS_OP_T, .rows = rows, .cols = cols, .ld = s.col};
  throw bench::Refusal("takes operands with a unit stride");
}

inline cudaDataType_t data_type(DType type) {
  switch (type) {
    case DType::f32:
      return CUDA_R_32F;
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::f8_e4m3:
      return CUDA_R_8F_E4M3;
    case DType::f8_e5m2:
      return CUDA_R_8F_E5M2;
  }
  throw bench::Refusal("does not take this type");
}

// The library has no tf32x3; it is held against plain fp32.
inline cublasComputeType_t compute_type(const bench::MatmulArgs& args) {
  const bool tf32 = args.in_type == DType::f32 && args.math == bench::Math::tf32;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
