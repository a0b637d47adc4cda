// mbarrier: barriers in shared memory that count arrivals and the bytes of asynchronous copies.
// Included by ptx.cuh only.
//
// A phase ends when no arrival is pending and the transaction count is zero; the next one begins at
// once. try_wait.parity(P) is true when the phase of parity P is over, for a caller who is at most
// one phase behind: on a fresh barrier P = 1 is over and P = 0 is not.
#pragma once

#include "kernels/ptx/cluster_ptr.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// The opaque object, in shared memory.
struct alignas(8) Mbarrier {
  std::uint64_t opaque;
};

// mbarrier.init.shared::cta.b64 [bar], count;                           sm_80, PTX 7.0, thread
// count: arrivals per phase, 1 to 2^20 - 1. Others may use it after a CTA barrier; peers and the
// copy engine after fence_mbarrier_init_release_cluster and a barrier.
LK_DEVICE void mbarrier_init(Mbarrier* bar, std::uint32_t count);

// mbarrier.inval.shared::cta.b64 [bar];                                 sm_80, PTX 7.0, thread
// The memory may then be used for something else.
LK_DEVICE void mbarrier_inval(Mbarrier* bar);

// mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];                 sm_80, PTX 8.0, thread
LK_DEVICE void mbarrier_arrive(Mbarrier* bar);

// mbarrier.arrive.release.cta.shared::cta.b64 _, [bar], count;          sm_90, PTX 8.0, thread
LK_DEVICE void mbarrier_arrive(Mbarrier* bar, std::uint32_t count);

// mbarrier.arrive.release.cta.shared::cluster.b64 _, [bar], count;      sm_90, PTX 8.0, thread
// At a peer's barrier, ordering nothing for the peer: for what the copy engine or wgmma has read
// here. At cluster scope the same is a fence of the whole GPU first.
LK_DEVICE void mbarrier_arrive(ClusterPtr<Mbarrier> bar, std::uint32_t count = 1);

// mbarrier.arrive.release.cluster.shared::cluster.b64 _, [bar], count;  sm_90, PTX 8.0, thread
LK_DEVICE void mbarrier_arrive_release_cluster(ClusterPtr<Mbarrier> bar, std::uint32_t count = 1);

// mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], bytes;          sm_90, PTX 8.0, thread
// The current phase ends only after so many more bytes have landed. At most 2^20 - 1 outstanding.
LK_DEVICE void mbarrier_expect_tx(Mbarrier* bar, std::uint32_t bytes);

// mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [bar], bytes;  sm_90, PTX 8.0, thread
LK_DEVICE void mbarrier_expect_tx_cluster(ClusterPtr<Mbarrier> bar, std::uint32_t bytes);

// mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], bytes;        sm_90, PTX 8.0, thread
// What the copy engine does when bytes have landed.
LK_DEVICE void mbarrier_complete_tx(Mbarrier* bar, std::uint32_t bytes);

// mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], bytes;    sm_90, PTX 8.0, thread
// expect_tx, then one arrival.
LK_DEVICE void mbarrier_arrive_expect_tx(Mbarrier* bar, std::uint32_t bytes);

// mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [bar], bytes;
//                                                                       sm_90, PTX 8.0, thread
LK_DEVICE void mbarrier_arrive_expect_tx_release_cluster(ClusterPtr<Mbarrier> bar,
                                                         std::uint32_t bytes);

// mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [bar], parity;   sm_80, PTX 7.1, thread
// Never blocks.
LK_DEVICE bool mbarrier_test_wait_parity(Mbarrier* bar, std::uint32_t parity);

// mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [bar], parity;    sm_90, PTX 7.8, thread
// May block for a while, and may be false for no reason: call it in a loop.
LK_DEVICE bool mbarrier_try_wait_parity(Mbarrier* bar, std::uint32_t parity);

// mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [bar], parity;
//                                                                       sm_90, PTX 8.0, thread
// The same, and sees what peers stored before they arrived with .release.cluster.
LK_DEVICE bool mbarrier_try_wait_parity_acquire_cluster(Mbarrier* bar, std::uint32_t parity);

// fence.mbarrier_init.release.cluster;                                  sm_90, PTX 8.0, thread
// After mbarrier.init by the same thread, and before the barrier that publishes it.
LK_DEVICE void fence_mbarrier_init_release_cluster();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/mbarrier.inl"
#else
#include "kernels/ptx/cuda/mbarrier.inl"
#endif
