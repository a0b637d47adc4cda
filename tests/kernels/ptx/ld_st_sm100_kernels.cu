// The 256-bit accesses of sm_100, as in ld_st_kernels.cu.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 128;

__global__ void global_v8_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const auto* elements = reinterpret_cast<const ptx::uint8x32*>(p.in + p.threads);
  auto* out = reinterpret_cast<ptx::uint8x32*>(p.out);
  ptx::st_global_v8_b32(out + 2 * (p.threads - 1 - t) + 1,
                        ptx::ld_global_v8_b32(elements + p.in[t]));
}

cudaError_t launch_v8(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&global_v8_kernel,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

}  // namespace

std::span<const PtxCase> ld_st_sm100_cases() {
  static const PtxCase cases[] = {{"global_v8_b32", 9, 16, kThreads, &launch_v8}};
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
