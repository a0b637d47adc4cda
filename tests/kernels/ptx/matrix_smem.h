// What the kernels around ldmatrix and stmatrix share.
#pragma once

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {

inline constexpr unsigned kMatrixThreads = 64;
inline constexpr int kMatrixInputs = 5;

struct MatrixSmem {
  uint4 tile[kMatrixThreads / 32][32];  // of each warp: a row of 16 bytes a lane
};

// The first four input words of thread t.
LK_DEVICE uint4 input_row(const test::PtxParams& p, unsigned t) {
  return {p.in[t], p.in[p.threads + t], p.in[2 * p.threads + t], p.in[3 * p.threads + t]};
}

template <auto kKernel>
cudaError_t launch_matrix(const test::PtxParams& params, cudaStream_t stream) {
  return ptx::launch(kKernel,
                     {.grid = dim3(params.threads / kMatrixThreads),
                      .block = dim3(kMatrixThreads),
                      .smem = sizeof(MatrixSmem)},
                     stream, params);
}

}  // namespace libkernels::inline LK_BACKEND
