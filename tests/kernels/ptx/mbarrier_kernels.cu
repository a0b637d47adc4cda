// mbarriers of kernels/ptx/mbarrier.cuh, driven by scripts that the test draws.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/mbarrier_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::kScriptWarps;
using test::ScriptOp;
using test::ScriptStep;

constexpr int kCtas = 2;

struct Smem {
  ptx::Mbarrier bar;
};

struct Params {
  const ScriptStep* steps;
  std::uint32_t* out;
  int n;
  std::uint32_t count;
};

LK_DEVICE void meet_cluster() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

LK_DEVICE void step_by_owner(ptx::Mbarrier* bar, const ScriptStep& step) {
  switch (step.op) {
    case ScriptOp::arrive:
      return ptx::mbarrier_arrive(bar);
    case ScriptOp::arrive_count:
      return ptx::mbarrier_arrive(bar, step.argument);
    case ScriptOp::expect_tx:
      return ptx::mbarrier_expect_tx(bar, step.argument);
    case ScriptOp::arrive_expect_tx:
      return ptx::mbarrier_arrive_expect_tx(bar, step.argument);
    case ScriptOp::complete_tx:
      return ptx::mbarrier_complete_tx(bar, step.argument);
    case ScriptOp::reinit:
      ptx::mbarrier_inval(bar);
      ptx::mbarrier_init(bar, step.argument);
      return ptx::fence_mbarrier_init_release_cluster();
  }
}
LK_DEVICE void step_by_peer(ptx::ClusterPtr<ptx::Mbarrier> bar, const ScriptStep& step) {
  switch (step.op) {
    case ScriptOp::arrive:
      return ptx::mbarrier_arrive_release_cluster(bar);
    case ScriptOp::arrive_count:
      return ptx::mbarrier_arrive_release_cluster(bar, step.argument);
    case ScriptOp::expect_tx:
      return ptx::mbarrier_expect_tx_cluster(bar, step.argument);
    case ScriptOp::arrive_expect_tx:
      return ptx::mbarrier_arrive_expect_tx_release_cluster(bar, step.argument);
    default:
      return;
  }
}

__global__ void script_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  const std::uint32_t rank = ptx::cluster_ctarank();
  const std::uint32_t me = rank * kScriptWarps + threadIdx.x / 32;
  const bool first_lane = threadIdx.x % 32 == 0;
  if (rank == 0 && threadIdx.x == 0) {
    ptx::mbarrier_init(&s.bar, p.count);
    ptx::fence_mbarrier_init_release_cluster();
  }
  meet_cluster();
  for (int i = 0; i < p.n; ++i) {
    const ScriptStep step = p.steps[i];
    if (first_lane && me == step.who) {
      rank == 0 ? step_by_owner(&s.bar, step) : step_by_peer(ptx::mapa(&s.bar, 0), step);
    }
    meet_cluster();
    if (rank == 0 && threadIdx.x == 0) {
      std::uint32_t over = 0;
      for (std::uint32_t parity = 0; parity < 2; ++parity) {
        if (!ptx::mbarrier_test_wait_parity(&s.bar, parity)) continue;
        over |= 1u << parity;
        // Then it does not block.
        over |= std::uint32_t(ptx::mbarrier_try_wait_parity(&s.bar, parity)) << (2 + parity);
      }
      p.out[i] = over;
    }
    meet_cluster();
  }
}

// ---- Ring -------------------------------------------------------------------------------------

constexpr int kRingWarps = 5;

struct RingSmem {
  std::uint32_t number;
  ptx::Mbarrier turn[kRingWarps];
};
struct RingParams {
  std::uint32_t* out;
  int rounds;
};

// Warp w waits for its turn, changes the number and gives the turn to the next one: what it stored
// is ordered by the barriers alone.
__global__ void ring_kernel(const __grid_constant__ RingParams p) {
  auto& s = ptx::dynamic_smem<RingSmem>();
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (ptx::Mbarrier& bar : s.turn) ptx::mbarrier_init(&bar, 32);
    s.number = blockIdx.x;
  }
  __syncthreads();
  ptx::Mbarrier* next = &s.turn[(warp + 1) % kRingWarps];
  for (int round = 0; round < p.rounds; ++round) {
    if (warp != 0 || round != 0) {
      const std::uint32_t parity = std::uint32_t(warp == 0 ? round - 1 : round) & 1;
      if (round % 2 == 0) {
        while (!ptx::mbarrier_try_wait_parity(&s.turn[warp], parity)) {
        }
      } else {
        while (!ptx::mbarrier_test_wait_parity(&s.turn[warp], parity)) {
        }
      }
    }
    if (ptx::elect_sync()) s.number = 3 * s.number + warp;
    __syncwarp();
    const bool last = round == p.rounds - 1 && warp == kRingWarps - 1;
    if (!last) ptx::mbarrier_arrive(next);
    if (last && threadIdx.x % 32 == 0) p.out[blockIdx.x] = s.number;
  }
}

cudaError_t launch_script(const ScriptStep* steps, int n, std::uint32_t count, std::uint32_t* out,
                          cudaStream_t stream) {
  return ptx::launch(&script_kernel,
                     {.grid = dim3(kCtas),
                      .block = dim3(32 * kScriptWarps),
                      .smem = sizeof(Smem),
                      .cluster = dim3(kCtas)},
                     stream, Params{steps, out, n, count});
}
cudaError_t launch_ring(int rounds, int ctas, std::uint32_t* out, cudaStream_t stream) {
  return ptx::launch(
      &ring_kernel,
      {.grid = dim3(unsigned(ctas)), .block = dim3(32 * kRingWarps), .smem = sizeof(RingSmem)},
      stream, RingParams{out, rounds});
}

}  // namespace

const test::MbarrierKernels& mbarrier_kernels() {
  static const test::MbarrierKernels kernels{&launch_script, &launch_ring};
  return kernels;
}

}  // namespace libkernels::inline LK_BACKEND
