// Host code that every row needs: the cap that max_sms puts on a grid, and what a kernel takes of
// an SM.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/common/kernel_row.h"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND {

// CTAs to launch out of `ctas`: all of them, or, if max_sms leaves SMs to others, what fills
// max_sms SMs. A kernel must therefore loop: for (i = blockIdx.x; i < ctas; i += gridDim.x).
inline unsigned capped_grid(std::int64_t ctas, const LaunchContext& context, int threads_per_cta) {
  constexpr std::int64_t kMostCtas = (std::int64_t{1} << 31) - 1;  // gridDim.x
  std::int64_t most = kMostCtas;
  if (context.max_sms < context.properties.sm_count) {
    const int per_sm = std::max(1, context.properties.max_threads_per_sm / threads_per_cta);
    most = std::int64_t(context.max_sms) * per_sm;
  }
  return unsigned(std::min(ctas, most));
}

// KernelRow::resources of a kernel with __launch_bounds__(threads, ctas_per_sm) and `smem` bytes of
// dynamic shared memory. Loads the kernel, so it serves preload too. Where the compiler's register
// count is unknown (emulated) it is the most that the launch bounds allow.
template <class Params>
cudaError_t kernel_resources(void (*kernel)(Params), int threads, int ctas_per_sm, std::size_t smem,
                             KernelResources* out) {
  ptx::FuncAttributes a;
  const cudaError_t error = ptx::func_attributes(kernel, &a);
  if (error != cudaSuccess) return error;
  constexpr int kRegistersPerSm = 65536;
  constexpr int kRegistersPerThread = 255;
  const int limit = std::min(kRegistersPerThread, kRegistersPerSm / (threads * ctas_per_sm));
  *out = {.threads_per_cta = threads,
          .registers = a.registers > 0 ? a.registers : limit,
          .registers_exact = a.registers > 0,
          .smem_bytes = a.smem_static + smem,
          .local_bytes = a.local_bytes};
  return cudaSuccess;
}

}  // namespace libkernels::inline LK_BACKEND
