// griddepcontrol of kernels/ptx/control.cuh: a chain of programmatic dependent launches, each of
// which reads what the one before wrote.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 128;
constexpr int kLinks = 7;  // odd: the last one writes to `out`

// Each thread reads a word that another CTA of the previous grid wrote.
__global__ void link_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned from = (t + kThreads + 1) % p.threads;
  ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();
  p.out[t] = 3 * ptx::ld_global(p.in + from) + 1;
}

// `in` is scratch as well: the links alternate between the two.
cudaError_t launch_chain(const PtxParams& params, cudaStream_t stream) {
  std::uint32_t* in = const_cast<std::uint32_t*>(params.in);
  for (int k = 0; k < kLinks; ++k) {
    const PtxParams link = k % 2 == 0 ? params : PtxParams{params.out, in, params.threads};
    const cudaError_t error =
        ptx::launch(&link_kernel,
                    {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads), .pdl = true},
                    stream, link);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

std::span<const PtxCase> control_sm90_cases() {
  static const PtxCase cases[] = {{"griddepcontrol", 1, 1, kThreads, &launch_chain}};
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
