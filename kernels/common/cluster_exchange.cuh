// Values that the CTAs of a cluster tell each other through their shared memory. Every CTA gets
// them by rank: what is reduced in that order has the same bits in all.
#pragma once

#include "kernels/common/bits.cuh"
#include "kernels/common/reduce.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

inline constexpr int kMaxClusterCtas = 16;

// What each CTA keeps in shared memory, at the same offset, for a value of each of its cluster's
// CTAs; T: std::uint32_t, uint2.
template <class T>
struct ClusterExchange {
  T of_cta[kMaxClusterCtas];  // by rank
  ptx::Mbarrier full;         // a phase: this CTA's arrival, and the bytes of all values
};

// One thread executes it; a cluster barrier must follow before the first exchange, and another one
// between two exchanges. After the last a CTA may exit: what peers had to tell it has arrived.
template <class T>
LK_DEVICE void init_cluster_exchange(ClusterExchange<T>* smem) {
  ptx::mbarrier_init(&smem->full, 1);
  ptx::fence_mbarrier_init_release_cluster();
}

// One whole warp of each CTA executes it, with its CTA's value in every lane.
template <class T>
LK_DEVICE void cluster_send(const T& v, ClusterExchange<T>* smem) {
  const std::uint32_t lane = threadIdx.x % kWarpThreads, ctas = ptx::cluster_nctarank();
  T* mine = &smem->of_cta[ptx::cluster_ctarank()];
  if (ctas == 1) {  // st.async wants a peer
    if (lane == 0) ptx::st_shared(mine, v);
    if (lane == 0) ptx::mbarrier_arrive(&smem->full);
    return;
  }
  if (lane == 0) ptx::mbarrier_arrive_expect_tx(&smem->full, ctas * std::uint32_t(sizeof(T)));
  // The store brings its own signal. A release would first wait for all that is in flight: 1 us of
  // a softmax of 2^17 columns (H200, 2026-12-01).
  if (lane < ctas) ptx::st_async(ptx::mapa(mine, lane), v, ptx::mapa(&smem->full, lane));
}

// The values of all CTAs, by rank. Any thread may wait for them. `round` counts the exchanges, from
// 0.
template <class T>
LK_DEVICE const T* cluster_receive(ClusterExchange<T>* smem, std::uint32_t round) {
  while (!ptx::mbarrier_try_wait_parity_acquire_cluster(&smem->full, round & 1)) {
  }
  return smem->of_cta;
}

}  // namespace libkernels::inline LK_BACKEND
