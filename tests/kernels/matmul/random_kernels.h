// Device code of the test of random products. Plain CUDA, not behind the front door.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "include/libkernels/dtype.h"
#include "tests/reference/matmul.h"

namespace libkernels::test {

// Products one after the other; strides in elements.
struct RandomView {
  void* data;
  DType type;
  std::int64_t rows, cols, batch;
  std::int64_t row_stride, col_stride, batch_stride;
};

struct RandomProduct {
  RandomView a, b, c, c_in;  // c_in: no data if beta is 0
  const void* bias;          // may be null
  DType bias_type;
  double alpha, beta;  // alpha with the scales
  reference::MatmulActivation activation;
  // What a result may err by: half an ulp of C, S times this, and this. And what it hardly ever
  // errs by, in units of S.
  double relative, absolute, typical;
  double least_normal;  // see reference::MatmulProblem
};

struct RandomElement {
  double inner;  // what the activation is given
  double sum;    // S
};

struct RandomFindings {
  unsigned long long wrong;     // results outside of the bound
  unsigned long long unlikely;  // within it, but beyond what is typical
  unsigned long long stray;     // bytes beside C's elements that were written
  long long first;              // one of them, if any: its place among C's elements
  double got, expected, allowed;
};

// Elements depend on their place in memory and the seed: integers of -most .. most, or, where most
// is 0, normally distributed ones times `factor`.
cudaError_t fill_random(const RandomView& x, std::uint64_t seed, int most, double factor);

// The exact results, in fp64: one element for each of C's.
cudaError_t exact_product(const RandomProduct& p, RandomElement* exact);

// Compares C with them, and overwrites its elements with `poison` bytes.
cudaError_t judge_product(const RandomProduct& p, const RandomElement* exact,
                          RandomFindings* findings);

inline constexpr int kRandomPoison = 0xff;  // NaN in each type

// Counts the bytes that are not poison.
cudaError_t count_strays(const void* data, std::size_t bytes, RandomFindings* findings);

}  // namespace libkernels::test
