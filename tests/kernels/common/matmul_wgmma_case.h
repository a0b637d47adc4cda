// The warp-specialised test matmul, seen from outside.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "kernels/ptx/backend.h"

namespace libkernels::test {

// d = a b^T: bf16 a [m, k] and b [n, k], rows of a multiple of 8; fp32 d [m, n]
struct MatmulProblem {
  const std::uint16_t* a;
  const std::uint16_t* b;
  float* d;
  int m, n, k;
  int ctas;  // of the persistent grid, at most; a multiple of the cluster
};

struct MatmulCase {
  const char* name;
  int cluster;
  cudaError_t (*launch)(const MatmulProblem& problem, cudaStream_t stream);
};

}  // namespace libkernels::test
