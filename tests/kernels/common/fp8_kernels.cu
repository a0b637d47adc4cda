// One kernel around each function of kernels/common/fp8.cuh.
#include <span>

#include "kernels/common/fp8.cuh"
#include "kernels/ptx/launch.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 128;

template <std::uint32_t (*kDecode)(std::uint32_t)>
__global__ void pair_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  p.out[t] = kDecode(p.in[t]);
}
template <void (*kDecode)(std::uint32_t, std::uint32_t (&)[2])>
__global__ void word_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t d[2];
  kDecode(p.in[t], d);
  p.out[t] = d[0];
  p.out[p.threads + t] = d[1];
}

template <auto kKernel>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(kKernel, {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)},
                     stream, params);
}

}  // namespace

std::span<const PtxCase> fp8_cases() {
  static const PtxCase cases[] = {
      {"e4m3x2", 1, 1, kThreads, &launch<&pair_kernel<&decode_e4m3x2>>},
      {"e5m2x2", 1, 1, kThreads, &launch<&pair_kernel<&decode_e5m2x2>>},
      {"e4m3x4", 1, 2, kThreads, &launch<&word_kernel<&decode_e4m3x4>>},
      {"e5m2x4", 1, 2, kThreads, &launch<&word_kernel<&decode_e5m2x4>>},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
