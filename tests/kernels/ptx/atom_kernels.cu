// What kernels/ptx/atom.cuh is for: tickets.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 64;

// out[0] counts, out[1 + i] is what the thread with ticket i came with: in[t]. All start at
// kUnwritten, which is what the first one finds.
__global__ void ticket_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t start = p.in[p.threads];
  const std::uint32_t ticket = ptx::atom_add_relaxed_gpu_global(p.out, 1) - start;
  if (ticket < p.threads - 1) ptx::st_global(p.out + 1 + ticket, p.in[t]);
}

template <void (*kKernel)(PtxParams)>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(kKernel, {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)},
                     stream, params);
}

}  // namespace

// Of the second word of a thread only the first one's counts: what the output starts as.
std::span<const PtxCase> atom_cases() {
  static const PtxCase cases[] = {
      {"atom_add_relaxed", 2, 1, kThreads, &launch<&ticket_kernel>},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
