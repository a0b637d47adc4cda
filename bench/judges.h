// Is a result of softmax, row-sum or matmul right? Kernels that compute the exact answer in fp64 on
// the device and look at every element of the output (of a large product: at 256 x 256 of them, one
// of each part of C), so that gigabytes need not travel. Nothing is timed that has not passed here.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "bench/baselines/baseline.h"
#include "bench/problem.h"
#include "include/libkernels/dtype.h"

namespace libkernels::bench {

// What was found, by one CTA or in all.
struct Findings {
  double ulp = 0;               // largest |error| in units in the last place of the output type
  double fraction = 0;          // largest |error| as a fraction of what the library promises
  double wide = 0;              // ... of what a baseline must keep
  std::int64_t worst = 0;       // the element, in reading order, where `fraction` is
  std::int64_t not_finite = 0;  // results that are NaN or infinite; the exact ones never are
};

// Exact properties of a row, in fp64.
struct RowFacts {
  double max = 0;
  double sum = 0;
  double sum_abs = 0;
  double sum_exp = 0;  // of exp(x - max)
};

struct RowJudgeCall {
  const void* x;
  const void* y;
  RowFacts* facts;       // `rows` of them
  RowFacts* pieces;      // scratch: facts_pieces(rows, cols) of them
  Findings* findings;    // kFindings of them
  DType x_type, y_type;  // f32, f16, bf16
  std::int64_t rows, cols;
  Strides x_strides, y_strides;  // of row-sum's y: {1, any}
  cudaStream_t stream;
};

// The exact value and the sum of the magnitudes, of an element of C before its activation.
struct ProductFacts {
  double value;
  double sum_abs;
};

// The largest error of a sum of products of zero-mean random operands before its rounding to C's
// type, as a multiple of S, the sum of the magnitudes: what the library promises, and what a
// baseline must keep.
struct ProductBounds {
  double fused;
  double wide;
};
ProductBounds product_bounds(DType in, Math math, std::int64_t k);

struct MatmulJudgeCall {
  MatmulArgs args;      // the operands, C, the bias and the epilogue
  ProductFacts* facts;  // kMatmulSamples^2 of them
  Findings* findings;   // kFindings of them
  ProductBounds bounds;
};

inline constexpr int kFindings = 512;
inline constexpr int kMatmulSamples = 256;         // rows, and columns, of C at most
inline constexpr std::int64_t kFactsPiece = 4096;  // elements of a row that one warp looks at

inline std::int64_t facts_pieces(std::int64_t rows, std::int64_t cols) {
  return cols <= kFactsPiece ? 0 : rows * ((cols + kFactsPiece - 1) / kFactsPiece);
}

// The largest of each.
Findings combine(std::span<const Findings> all);

// What the findings say of the library's result, or of a baseline's.
Verdict verdict_of(const Findings& found, bool is_library);

struct Judges {
  // Fills facts in: once a problem, before any judging. `with_exp`: sum_exp too.
  cudaError_t (*row_facts)(const RowJudgeCall& call, bool with_exp);
  cudaError_t (*softmax)(const RowJudgeCall& call);  // findings, from facts
  cudaError_t (*row_sum)(const RowJudgeCall& call);
  cudaError_t (*matmul_facts)(const MatmulJudgeCall& call);
  cudaError_t (*matmul)(const MatmulJudgeCall& call);
};

}  // namespace libkernels::bench
