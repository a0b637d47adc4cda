// What lkbench times beside softmax, row-sum and matmul: chains of small kernels, kernels as a
// first try writes them, and the libraries that a user would pick instead. Like contestants.h,
// tables of function pointers, so that one program holds those of both backends.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

#include "include/libkernels/dtype.h"

namespace libkernels::bench {

// Why a baseline has no part in a row: an operand it does not take, or a time nobody waits for.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// y = softmax of the rows of x. Both are packed: row r begins at element r * cols.
struct SoftmaxArgs {
  const void* x;
  void* y;
  void* scratch;
  DType x_type;  // f32, f16, bf16
  DType y_type;  // x_type or f32
  std::int64_t rows;
  std::int64_t cols;
  cudaStream_t stream;
};

// y[r] = the sum of row r of x, a packed matrix; y is fp32.
struct RowSumArgs {
  const void* x;
  float* y;
  void* scratch;
  DType x_type;  // f32, f16, bf16
  std::int64_t rows;
  std::int64_t cols;
  cudaStream_t stream;
};

// How fp32 operands are multiplied; the values of lk_math.
enum class Math { fp32, tf32, tf32x3 };
enum class Epilogue { none, relu, bias_relu };

// c = epilogue(a b). Element (r, c) of an operand is at r * row + c * col; one of the two is 1.
struct Strides {
  std::int64_t row;
  std::int64_t col;
  bool operator==(const Strides&) const = default;
};
struct MatmulArgs {
  const void* a;
  const void* b;
  void* c;
  const void* bias;  // n elements of c's type; read with Epilogue::bias_relu alone
  void* scratch;
  DType in_type;  // of a and b
  DType out_type;
  Math math;
  Epilogue epilogue;
  std::int64_t m, n, k;
  Strides a_strides, b_strides, c_strides;
  cudaStream_t stream;
};

// A baseline that is ready for calls of one shape; they differ in their pointers and streams.
template <class Args>
struct Prepared {
  std::string kernel;  // its name, with what preparing chose
  int launches = 1;    // kernels of a call
  std::function<cudaError_t(const Args& args)> call;
};

template <class Args>
struct Baseline {
  const char* role;    // "naive", "unfused", "cublaslt", ...
  const char* kernel;  // the name before anything is prepared
  // `examples` are calls that may be made, again and again and in turn, each on buffers of its own,
  // to choose between variants by their time with a cold cache. Not empty. Throws Refusal.
  Prepared<Args> (*prepare)(std::span<const Args> examples);
};

// Bytes that the args' scratch must have, 256-byte aligned, for whichever baseline.
constexpr std::size_t softmax_scratch_bytes(std::int64_t rows, std::int64_t cols, DType x_type) {
  const std::size_t matrix = (std::size_t(rows * cols) * size_of(x_type) + 255) / 256 * 256;
  const std::size_t row_values = (std::size_t(rows) * sizeof(float) + 255) / 256 * 256;
  constexpr std::size_t kPieceValues = 512 * sizeof(float);
  return 2 * matrix + row_values + (row_values > kPieceValues ? row_values : kPieceValues);
}
inline constexpr std::size_t kRowSumScratch = std::size_t{1} << 20;
inline constexpr std::size_t kMatmulScratch = std::size_t{32} << 20;  // NVIDIA's advice for Hopper

struct Baselines {
  std::span<const Baseline<SoftmaxArgs>> softmax;
  std::span<const Baseline<RowSumArgs>> row_sum;
  std::span<const Baseline<MatmulArgs>> matmul;
  // c = relu(c) or relu(c + bias), in place, as one kernel each step: what a library's product
  // without epilogue still needs. Reads c, c_strides, bias, out_type, m, n, stream, epilogue.
  Prepared<MatmulArgs> (*matmul_steps)(const MatmulArgs& example);
};

}  // namespace libkernels::bench
