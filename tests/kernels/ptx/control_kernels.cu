// The dynamic shared memory of kernels/ptx/control.cuh, as kernels see it.
#include <cstdint>
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 64;

template <std::size_t kBytes>
struct Smem {
  std::uint32_t words[kBytes / sizeof(std::uint32_t)];
};

// Writes a word of the first and of the last 256 bytes and reads its neighbour's. Outputs: the two
// words, the alignment's remainder, and whether both names of the memory are one object.
template <std::size_t kBytes>
__global__ void smem_kernel(PtxParams p) {
  constexpr unsigned kWords = unsigned(kBytes / sizeof(std::uint32_t));
  Smem<kBytes>& smem = ptx::dynamic_smem<Smem<kBytes>>();
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned i = threadIdx.x;
  smem.words[i] = p.in[t];
  smem.words[kWords - 1 - i] = p.in[p.threads + t];
  __syncthreads();
  const unsigned j = kThreads - 1 - i;
  Smem<kBytes>& again = ptx::dynamic_smem<Smem<kBytes>>();
  p.out[t] = again.words[j];
  p.out[p.threads + t] = again.words[kWords - 1 - j];
  p.out[2 * p.threads + t] = std::uint32_t(reinterpret_cast<std::uintptr_t>(&smem) % 1024);
  p.out[3 * p.threads + t] = &smem == &again ? 1u : 0u;
}

template <std::size_t kBytes>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&smem_kernel<kBytes>,
                     {.grid = dim3(params.threads / kThreads),
                      .block = dim3(kThreads),
                      .smem = sizeof(Smem<kBytes>)},
                     stream, params);
}

template <std::size_t kBytes>
constexpr PtxCase make_case(const char* name) {
  return {name, 2, 4, kThreads, &launch<kBytes>};
}

}  // namespace

// Below, at and above the 48 KB that need no opting in; and the most that a CTA has anywhere.
std::span<const PtxCase> control_cases() {
  static const PtxCase cases[] = {
      make_case<1024>("dynamic_smem_1k"),
      make_case<48 * 1024>("dynamic_smem_48k"),
      make_case<48 * 1024 + 1024>("dynamic_smem_49k"),
      make_case<99 * 1024>("dynamic_smem_99k"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
