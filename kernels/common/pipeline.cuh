// A ring of kStages buffers in shared memory between producers, that fill them, and consumers.
//
//   producer                              consumer
//     producer_acquire(ring, at)            consumer_wait(ring, at)
//     producer_commit(ring, at, bytes)      ... reads the buffer at.stage ...
//     ... copies onto ring.full[at.stage]   consumer_release(ring, at)
//     at.advance()                          at.advance()
//
// Each role keeps its own position and goes through the stages in order, across tiles: the parity
// is that of how often the ring has been used up, not of anything in the tile. A producer may run
// ahead by the whole ring. Nothing else orders the two.
#pragma once

#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

template <int kStages>
struct PipelineBarriers {
  static_assert(kStages >= 1);
  ptx::Mbarrier full[kStages];   // a phase: the producers' arrivals, and the bytes they announced
  ptx::Mbarrier empty[kStages];  // a phase: the consumers' arrivals
};

template <int kStages>
struct PipelinePosition {
  int stage = 0;
  std::uint32_t parity = 0;  // of the phase of full[stage] that is due

  LK_DEVICE void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// One thread executes it; a CTA barrier must follow, or a cluster's if peers arrive or multicast.
// producers, consumers: how many arrivals make a stage full, and empty again.
template <int kStages>
LK_DEVICE void init_pipeline(PipelineBarriers<kStages>* ring, std::uint32_t producers,
                             std::uint32_t consumers) {
  for (int s = 0; s < kStages; ++s) {
    ptx::mbarrier_init(&ring->full[s], producers);
    ptx::mbarrier_init(&ring->empty[s], consumers);
  }
  ptx::fence_mbarrier_init_release_cluster();
}

// ---- Producers ---------------------------------------------------------------------------------

// Blocks until the consumers have released the stage; the first time round it is free.
template <int kStages>
LK_DEVICE void producer_acquire(PipelineBarriers<kStages>* ring,
                                const PipelinePosition<kStages>& at) {
  while (!ptx::mbarrier_try_wait_parity(&ring->empty[at.stage], at.parity ^ 1)) {
  }
}
// The same where consumers of other CTAs of the cluster release the stage.
template <int kStages>
LK_DEVICE void producer_acquire_cluster(PipelineBarriers<kStages>* ring,
                                        const PipelinePosition<kStages>& at) {
  while (!ptx::mbarrier_try_wait_parity_acquire_cluster(&ring->empty[at.stage], at.parity ^ 1)) {
  }
}

// Arrives, and announces that copies onto full[stage] will bring so many bytes to this CTA, whoever
// issues them.
template <int kStages>
LK_DEVICE void producer_commit(PipelineBarriers<kStages>* ring, const PipelinePosition<kStages>& at,
                               std::uint32_t bytes) {
  ptx::mbarrier_arrive_expect_tx(&ring->full[at.stage], bytes);
}
// For a producer that filled the stage by ordinary stores. If wgmma or a bulk copy is to read them,
// every thread that stored executes it (or the fence in it, and a barrier before the arrival).
template <int kStages>
LK_DEVICE void producer_commit_stores(PipelineBarriers<kStages>* ring,
                                      const PipelinePosition<kStages>& at) {
  ptx::fence_proxy_async_shared_cta();
  ptx::mbarrier_arrive(&ring->full[at.stage]);
}

// ---- Consumers ---------------------------------------------------------------------------------

// Blocks until the stage is full: its bytes have landed, and are visible to this thread.
template <int kStages>
LK_DEVICE void consumer_wait(PipelineBarriers<kStages>* ring, const PipelinePosition<kStages>& at) {
  while (!ptx::mbarrier_try_wait_parity(&ring->full[at.stage], at.parity)) {
  }
}

// The stage may be overwritten: what this thread read of it has been read. Of reads by wgmma that
// is so after wgmma_wait_group, in each warp.
template <int kStages>
LK_DEVICE void consumer_release(PipelineBarriers<kStages>* ring,
                                const PipelinePosition<kStages>& at) {
  ptx::mbarrier_arrive(&ring->empty[at.stage]);
}
// The same to the CTA of that rank, which multicast into this one.
template <int kStages>
LK_DEVICE void consumer_release_cluster(PipelineBarriers<kStages>* ring,
                                        const PipelinePosition<kStages>& at,
                                        std::uint32_t cta_rank) {
  ptx::mbarrier_arrive_release_cluster(ptx::mapa(&ring->empty[at.stage], cta_rank));
}
// The same where nothing but wgmma or the copy engine has read the stage, for a producer who waits
// by producer_acquire: no fence. (With fences, 4096^3 in clusters of two took 246 us: H200,
// 2026-12-01; without clusters 177.)
template <int kStages>
LK_DEVICE void consumer_release_peer(PipelineBarriers<kStages>* ring,
                                     const PipelinePosition<kStages>& at, std::uint32_t cta_rank) {
  ptx::mbarrier_arrive(ptx::mapa(&ring->empty[at.stage], cta_rank));
}

}  // namespace libkernels::inline LK_BACKEND
