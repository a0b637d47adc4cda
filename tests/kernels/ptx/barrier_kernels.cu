// Kernels whose results are right only if the barriers of kernels/ptx/barrier.cuh hold.
//
// All of them mix the words of a CTA's (or warp's) threads over several rounds through shared
// memory: in round k thread i takes its own word times 3 plus that of thread i + step(k).
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 128;
constexpr unsigned kHalf = kThreads / 2;
constexpr int kRounds = 6;

struct Smem {
  std::uint32_t words[kThreads];
  std::uint32_t handed_over[kHalf];
};

// Neighbour in a group of `size` threads, a power of two, in round k.
LK_DEVICE unsigned neighbour(unsigned i, int k, unsigned size) {
  return (i & ~(size - 1)) | ((i + 1 + 5 * unsigned(k)) & (size - 1));
}

// `Barrier` waits for the group of `kGroup` threads that the calling one is in.
template <class Barrier, unsigned kGroup>
__global__ void rounds_kernel(PtxParams p) {
  Smem& smem = ptx::dynamic_smem<Smem>();
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned i = threadIdx.x;
  std::uint32_t mine = p.in[t];
  for (int k = 0; k < kRounds; ++k) {
    smem.words[i] = mine;
    Barrier()(i);
    const std::uint32_t other = smem.words[neighbour(i, k, kGroup)];
    Barrier()(i);
    mine = 3 * mine + other;
  }
  p.out[t] = mine;
}

struct SyncThreads {
  LK_DEVICE void operator()(unsigned) const { __syncthreads(); }
};
struct BarSyncAll {
  LK_DEVICE void operator()(unsigned) const { ptx::bar_sync(3, kThreads); }
};
// Each half of the CTA on a barrier of its own: 1 and 2.
struct BarSyncHalf {
  LK_DEVICE void operator()(unsigned i) const { ptx::bar_sync(1 + i / kHalf, kHalf); }
};
struct SyncWarp {
  LK_DEVICE void operator()(unsigned) const { __syncwarp(); }
};
struct BarWarpSync {
  LK_DEVICE void operator()(unsigned) const { ptx::bar_warp_sync(); }
};
struct BarWarpSyncHalf {
  LK_DEVICE void operator()(unsigned i) const {
    if (i % 32 < 16) {
      ptx::bar_warp_sync(0x0000ffffu);
    } else {
      ptx::bar_warp_sync(0xffff0000u);
    }
  }
};

// The lower half of the CTA produces, the upper one consumes: full is barrier 1, empty barrier 2.
// Neither waits for the other where it need not: each arrives on one barrier and syncs on the
// other.
__global__ void producer_consumer_kernel(PtxParams p) {
  Smem& smem = ptx::dynamic_smem<Smem>();
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned i = threadIdx.x;
  std::uint32_t mine = p.in[t];
  if (i < kHalf) {
    for (int k = 0; k < kRounds; ++k) {
      ptx::bar_sync(2, kThreads);
      smem.handed_over[i] = mine;
      ptx::bar_arrive(1, kThreads);
      mine = 3 * mine + 1;
    }
  } else {
    for (int k = 0; k < kRounds; ++k) {
      ptx::bar_arrive(2, kThreads);
      ptx::bar_sync(1, kThreads);
      mine = 3 * mine + smem.handed_over[(i + unsigned(k)) % kHalf];
      // All consumers have read before any of them lets the producers go on.
      ptx::bar_sync(3, kHalf);
    }
  }
  p.out[t] = mine;
}

template <void (*kKernel)(PtxParams)>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(
      kKernel,
      {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads), .smem = sizeof(Smem)},
      stream, params);
}

template <void (*kKernel)(PtxParams)>
constexpr PtxCase make_case(const char* name) {
  return {name, 1, 1, kThreads, &launch<kKernel>};
}

}  // namespace

std::span<const PtxCase> barrier_cases() {
  static const PtxCase cases[] = {
      make_case<&rounds_kernel<SyncThreads, kThreads>>("syncthreads"),
      make_case<&rounds_kernel<BarSyncAll, kThreads>>("bar_sync_cta"),
      make_case<&rounds_kernel<BarSyncHalf, kHalf>>("bar_sync_half"),
      make_case<&rounds_kernel<SyncWarp, 32>>("syncwarp"),
      make_case<&rounds_kernel<BarWarpSync, 32>>("bar_warp_sync"),
      make_case<&rounds_kernel<BarWarpSyncHalf, 16>>("bar_warp_sync_half"),
      make_case<&producer_consumer_kernel>("bar_arrive"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
