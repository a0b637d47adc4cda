// The clock of kernels/ptx/timer.cuh, as kernels see it.
#include <cstdint>
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 32;

// Waits for as many nanoseconds as it is told. Outputs: how long that was, and whether the clock
// ever ran backwards.
__global__ void wait_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint64_t begin = ptx::globaltimer();
  std::uint64_t now = begin;
  std::uint32_t backwards = 0;
  while (now - begin < p.in[t]) {
    const std::uint64_t next = ptx::globaltimer();
    if (next < now) backwards = 1;
    now = next;
  }
  p.out[t] = std::uint32_t(now - begin);
  p.out[p.threads + t] = backwards;
}

cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&wait_kernel,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

}  // namespace

std::span<const PtxCase> timer_cases() {
  static const PtxCase cases[] = {{"globaltimer", 1, 2, kThreads, &launch}};
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
