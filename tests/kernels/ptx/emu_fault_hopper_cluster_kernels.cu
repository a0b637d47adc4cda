// Clusters and distributed shared memory. Each kernel is a template over the mistake: kernel<true>
// has it, kernel<false> does not.
#include "tests/kernels/ptx/emu_fault_hopper_kernels.cuh"

namespace libkernels::inline LK_BACKEND::test_hopper {
namespace {

constexpr unsigned kCtas = 2;

LK_DEVICE std::uint32_t peer() { return ptx::cluster_ctarank() ^ 1; }

template <bool kBroken>
__global__ void remote_before_cluster_barrier(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (!kBroken) meet_cluster();
  if (threadIdx.x == 0) ptx::st_shared_cluster(ptx::mapa(s.tile, peer()), std::uint32_t(1));
  if (kBroken) meet_cluster();
  meet_cluster();
}
template <bool kBroken>
__global__ void remote_after_exit(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  meet_cluster();
  if (ptx::cluster_ctarank() == 0) {
    p.data[threadIdx.x] = ptx::ld_shared_cluster(ptx::mapa(s.tile, 1) + int(threadIdx.x));
  }
  if (!kBroken) meet_cluster();
}
template <bool kBroken>
__global__ void remote_store_unordered(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  meet_cluster();
  ptx::st_shared_cluster(ptx::mapa(s.tile, peer()) + int(threadIdx.x), threadIdx.x);
  if (!kBroken) meet_cluster();
  if (!kBroken) p.data[blockIdx.x * kWords + threadIdx.x] = s.tile[threadIdx.x];
  if (kBroken) p.data[blockIdx.x * kWords + threadIdx.x] = s.tile[threadIdx.x] = 5;
  meet_cluster();
}
template <bool kBroken>
__global__ void relaxed_arrival_orders_nothing(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  meet_cluster();
  ptx::st_shared_cluster(ptx::mapa(s.tile, peer()) + int(threadIdx.x), threadIdx.x);
  if (kBroken) {
    ptx::barrier_cluster_arrive_relaxed();
  } else {
    ptx::barrier_cluster_arrive_release();
  }
  ptx::barrier_cluster_wait_acquire();
  p.data[blockIdx.x * kWords + threadIdx.x] = s.tile[threadIdx.x];
  meet_cluster();
}
template <bool kBroken>
__global__ void missing_init_fence_for_peers(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.full, 1);
    if (!kBroken) ptx::fence_mbarrier_init_release_cluster();
  }
  meet_cluster();
  if (threadIdx.x == 0) ptx::mbarrier_arrive_release_cluster(ptx::mapa(&s.full, peer()));
  while (!ptx::mbarrier_try_wait_parity_acquire_cluster(&s.full, 0)) {
  }
  meet_cluster();
}
template <bool kBroken>
__global__ void remote_arrive_before_init(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (kBroken) meet_cluster();
  if (threadIdx.x == 0 && (!kBroken || ptx::cluster_ctarank() == 1)) {
    ptx::mbarrier_init(&s.full, 1);
    ptx::fence_mbarrier_init_release_cluster();
  }
  if (!kBroken) meet_cluster();
  if (threadIdx.x == 0 && ptx::cluster_ctarank() == 1) {
    ptx::mbarrier_arrive_release_cluster(ptx::mapa(&s.full, 0));
  }
  meet_cluster();
}
template <bool kBroken>
__global__ void arrives_twice(const __grid_constant__ Params) {
  meet_cluster();
  ptx::barrier_cluster_arrive_release();
  if (kBroken && threadIdx.x == 5) ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}
template <bool kBroken>
__global__ void waits_without_arriving(const __grid_constant__ Params) {
  if (!(kBroken && threadIdx.x == 5)) ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}
template <bool kBroken>
__global__ void cta_skips_cluster_barrier(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (kBroken && ptx::cluster_ctarank() == 1) wait(&s.full, 0);
  meet_cluster();
}
template <bool kBroken>
__global__ void async_store_unobserved(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  fill_tile(s, 1);
  if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(&s.full, kThreads * 4);
  meet_cluster();
  ptx::st_async(ptx::mapa(s.tile, peer()) + int(threadIdx.x), threadIdx.x,
                ptx::mapa(&s.full, peer()));
  if (!kBroken) wait(&s.full, 0);
  p.data[blockIdx.x * kWords + threadIdx.x] = s.tile[threadIdx.x];
  wait(&s.full, 0);
  meet_cluster();
}
template <bool kBroken>
__global__ void async_store_in_two_ctas(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(&s.full, 4);
  meet_cluster();
  if (threadIdx.x == 0) {
    const std::uint32_t to = kBroken ? ptx::cluster_ctarank() : peer();
    ptx::st_async(ptx::mapa(s.tile, peer()), 7u, ptx::mapa(&s.full, to));
  }
  wait(&s.full, 0);
  meet_cluster();
}
template <bool kBroken>
__global__ void multicast_to_nobody(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
  meet_cluster();
  if (threadIdx.x == 0 && ptx::cluster_ctarank() == 0) {
    ptx::cp_async_bulk_tensor_2d_shared_global_multicast(s.tile, &p.map, 0, 0, &s.full,
                                                         kBroken ? 7 : 3);
  }
  wait(&s.full, 0);
  meet_cluster();
}
// A peer that expects nothing never learns that the copy has landed.
template <bool kBroken>
__global__ void multicast_unexpected(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  const std::uint32_t rank = ptx::cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBroken && rank == 1 ? kBytes / 2 : kBytes);
  }
  meet_cluster();
  if (threadIdx.x == 0 && rank == 0) {
    ptx::cp_async_bulk_tensor_2d_shared_global_multicast(s.tile, &p.map, 0, 0, &s.full, 3);
  }
  wait(&s.full, 0);
  meet_cluster();
}
// The second multicast overwrites what the peer may still read.
template <bool kBroken>
__global__ void peer_still_reads(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  const std::uint32_t rank = ptx::cluster_ctarank();
  meet_cluster();
  for (std::uint32_t round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    // The issuer's own warps, and the peer's with them: or else only its own.
    if (!kBroken && round == 1) meet_cluster();
    if (kBroken) __syncthreads();
    if (threadIdx.x == 0 && rank == 0) {
      ptx::cp_async_bulk_tensor_2d_shared_global_multicast(s.tile, &p.map, 0, 0, &s.full, 3);
    }
    wait(&s.full, round);
    copy_out(s, p);
  }
  meet_cluster();
}
template <bool kBroken>
__global__ void no_such_rank(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  meet_cluster();
  if (threadIdx.x == 0) {
    const std::uint32_t rank = ptx::cluster_ctarank();
    ptx::st_shared_cluster(ptx::mapa(s.tile, kBroken ? rank + 2 : rank ^ 1), std::uint32_t(1));
  }
  meet_cluster();
}
template <bool kBroken>
__global__ void remote_past_end(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  meet_cluster();
  if (threadIdx.x == 0) {
    const int past = int((sizeof(Smem) - offsetof(Smem, tile)) / sizeof(std::uint32_t));
    ptx::st_shared_cluster(ptx::mapa(s.tile, peer()) + (kBroken ? past : 0), std::uint32_t(1));
  }
  meet_cluster();
}
template <bool kBroken>
__global__ void cluster_copy_to_itself(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  fill_tile(s, 1);
  ptx::fence_proxy_async();
  if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
  meet_cluster();
  if (threadIdx.x == 0) {
    const std::uint32_t to = kBroken ? ptx::cluster_ctarank() : peer();
    ptx::cp_async_bulk_shared_cluster_shared(ptx::mapa(s.spare, to), s.tile, kBytes,
                                             ptx::mapa(&s.full, to));
  }
  wait(&s.full, 0);
  meet_cluster();
}

const Case kCases[] = {
    LK_HOPPER_CASE(remote_before_cluster_barrier, kCtas, kCtas),
    LK_HOPPER_CASE(remote_after_exit, kCtas, kCtas),
    LK_HOPPER_CASE(remote_store_unordered, kCtas, kCtas),
    LK_HOPPER_CASE(relaxed_arrival_orders_nothing, kCtas, kCtas),
    LK_HOPPER_CASE(missing_init_fence_for_peers, kCtas, kCtas),
    LK_HOPPER_CASE(remote_arrive_before_init, kCtas, kCtas),
    LK_HOPPER_CASE(arrives_twice, kCtas, kCtas),
    LK_HOPPER_CASE(waits_without_arriving, kCtas, kCtas),
    LK_HOPPER_CASE(cta_skips_cluster_barrier, kCtas, kCtas),
    LK_HOPPER_CASE(async_store_unobserved, kCtas, kCtas),
    LK_HOPPER_CASE(async_store_in_two_ctas, kCtas, kCtas),
    LK_HOPPER_CASE(multicast_to_nobody, kCtas, kCtas),
    LK_HOPPER_CASE(multicast_unexpected, kCtas, kCtas),
    LK_HOPPER_CASE(peer_still_reads, kCtas, kCtas),
    LK_HOPPER_CASE(no_such_rank, kCtas, kCtas),
    LK_HOPPER_CASE(remote_past_end, kCtas, kCtas),
    LK_HOPPER_CASE(cluster_copy_to_itself, kCtas, kCtas),
};

}  // namespace

std::span<const Case> cluster_cases() { return kCases; }

}  // namespace libkernels::inline LK_BACKEND::test_hopper
