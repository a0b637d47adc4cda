// Reductions across the CTAs of a cluster, through their shared memory, in the order of their ranks:
// every CTA gets the same bits.
#pragma once

#include "kernels/common/bits.cuh"
#include "kernels/common/reduce.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

inline constexpr int kMaxClusterCtas = 16;

// What each CTA keeps in shared memory for it, at the same offset. Two sets, used in turn: a CTA
// fills the other one's only after everybody has read it.
struct ClusterReduceSmem {
  static constexpr int kSets = 2;
  std::uint32_t partial[kSets][kMaxClusterCtas];  // by rank
  ptx::Mbarrier full[kSets];
};

// One thread executes it; a cluster barrier must follow before the first reduction. And another one
// must come between the last reduction and the exit: peers may still store here.
LK_DEVICE void init_cluster_reduce(ClusterReduceSmem* smem) {
  for (ptx::Mbarrier& full : smem->full) ptx::mbarrier_init(&full, ptx::cluster_nctarank());
  ptx::fence_mbarrier_init_release_cluster();
}

// One whole warp of each CTA executes it, with its CTA's value in every lane; every lane gets the
// cluster's. `round` counts the calls, from 0.
template <class Op>
LK_DEVICE float reduce_cluster(float v, ClusterReduceSmem* smem, std::uint32_t round) {
  const std::uint32_t ctas = ptx::cluster_nctarank(), rank = ptx::cluster_ctarank();
  const std::uint32_t lane = threadIdx.x % kWarpThreads;
  const std::uint32_t set = round % ClusterReduceSmem::kSets;
  const std::uint32_t parity = round / ClusterReduceSmem::kSets & 1;
  // All lanes have read this set's partials of two rounds ago before any lane says so to a peer.
  __syncwarp();
  if (lane < ctas) {
    ptx::st_shared_cluster(ptx::mapa(&smem->partial[set][rank], lane), bit_cast<std::uint32_t>(v));
    ptx::mbarrier_arrive_release_cluster(ptx::mapa(&smem->full[set], lane));
  }
  while (!ptx::mbarrier_try_wait_parity_acquire_cluster(&smem->full[set], parity)) {
  }
  float total = bit_cast<float>(smem->partial[set][0]);
  for (std::uint32_t r = 1; r < ctas; ++r) {
    total = Op::combine(total, bit_cast<float>(smem->partial[set][r]));
  }
  return total;
}

}  // namespace libkernels::inline LK_BACKEND
