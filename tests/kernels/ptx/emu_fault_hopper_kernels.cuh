// What the broken kernels of sm_90 have in common.
#pragma once

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_fault_hopper_cases.h"

namespace libkernels::inline LK_BACKEND::test_hopper {

constexpr int kThreads = test::kHopperThreads;
constexpr int kWords = test::kHopperWords;
constexpr std::uint32_t kBytes = kWords * sizeof(std::uint32_t);

struct Smem {
  alignas(1024) std::uint32_t tile[kWords];
  std::uint32_t spare[kWords];
  ptx::Mbarrier full, empty;
};

LK_DEVICE void wait(ptx::Mbarrier* bar, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
  }
}
LK_DEVICE void meet_cluster() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

// full counts one arrival, empty one a warp; known to everybody afterwards.
LK_DEVICE void init_barriers(Smem& s) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.full, 1);
    ptx::mbarrier_init(&s.empty, kThreads / 32);
    ptx::fence_mbarrier_init_release_cluster();
  }
  __syncthreads();
}

LK_DEVICE void load_tile(Smem& s, const Params& p) {
  ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
  ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
}
LK_DEVICE void fill_tile(Smem& s, std::uint32_t value) {
  for (unsigned i = threadIdx.x; i < unsigned(kWords); i += kThreads) s.tile[i] = value + i;
}
LK_DEVICE void copy_out(const Smem& s, const Params& p) {
  for (unsigned i = threadIdx.x; i < unsigned(kWords); i += kThreads) {
    p.data[blockIdx.x * kWords + i] = s.tile[i];
  }
}
LK_DEVICE void store_tile(Smem& s, const Params& p) {
  ptx::cp_async_bulk_global_shared(p.data + blockIdx.x * kWords, s.tile, kBytes);
  ptx::cp_async_bulk_commit_group();
}

template <unsigned kCtas, unsigned kCluster, bool kPdl = false>
cudaError_t run(void (*kernel)(Params), const Params& p) {
  return ptx::launch(kernel,
                     {.grid = dim3(kCtas),
                      .block = dim3(kThreads),
                      .smem = sizeof(Smem),
                      .cluster = dim3(kCluster),
                      .pdl = kPdl},
                     nullptr, p);
}

#define LK_HOPPER_CASE(KERNEL, ...)                                               \
  {                                                                               \
#KERNEL, [](const Params& p) { return run<__VA_ARGS__>(&KERNEL<true>, p); },    \
   [](const Params& p) { return run<__VA_ARGS__>(&KERNEL<false>, p); } \
  }

}  // namespace libkernels::inline LK_BACKEND::test_hopper
