// Bulk copies: one thread has the copy engine move a block of bytes. Included by ptx.cuh only.
//
// Addresses and sizes are multiples of 16 bytes. Copies into shared memory complete on an mbarrier
// at the destination, which counts their bytes; copies out of it complete by the bulk groups of the
// thread that issued them. All of them go through the async proxy (fence.cuh).
#pragma once

#include "kernels/ptx/cache_policy.cuh"
#include "kernels/ptx/cluster_ptr.cuh"
#include "kernels/ptx/mbarrier.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.L2::cache_hint}
//     [dst], [src], bytes, [bar]{, policy};                             sm_90, PTX 8.0, thread
// dst and bar are in the executing CTA.
LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src, std::uint32_t bytes,
                                           Mbarrier* bar);
LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src, std::uint32_t bytes,
                                           Mbarrier* bar, CachePolicy policy);

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
//     {.L2::cache_hint} [dst], [src], bytes, [bar], cta_mask{, policy}; sm_90, PTX 8.0, thread
// To the same offsets of every CTA whose rank is set in the mask, each with its own mbarrier.
LK_DEVICE void cp_async_bulk_shared_global_multicast(void* dst, const void* src,
                                                     std::uint32_t bytes, Mbarrier* bar,
                                                     std::uint16_t cta_mask);
LK_DEVICE void cp_async_bulk_shared_global_multicast(void* dst, const void* src,
                                                     std::uint32_t bytes, Mbarrier* bar,
                                                     std::uint16_t cta_mask, CachePolicy policy);

// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
//     [dst], [src], bytes, [bar];                                       sm_90, PTX 8.0, thread
// dst and bar are in the same CTA, another one than the executing.
template <class T>
LK_DEVICE void cp_async_bulk_shared_cluster_shared(ClusterPtr<T> dst, const void* src,
                                                   std::uint32_t bytes, ClusterPtr<Mbarrier> bar);

// cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} [dst], [src], bytes{, policy};
//                                                                       sm_90, PTX 8.0, thread
LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src, std::uint32_t bytes);
LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src, std::uint32_t bytes,
                                           CachePolicy policy);

// cp.async.bulk.prefetch.L2.global [src], bytes;                        sm_90, PTX 8.0, thread
LK_DEVICE void cp_async_bulk_prefetch_L2(const void* src, std::uint32_t bytes);

// cp.async.bulk.commit_group;                                           sm_90, PTX 8.0, thread
// Makes a group of the thread's bulk copies since the last one; possibly an empty one.
LK_DEVICE void cp_async_bulk_commit_group();

// cp.async.bulk.wait_group N;                                           sm_90, PTX 8.0, thread
// At most the N youngest groups of this thread are pending; what the others wrote is visible to it.
template <int kPending>
LK_DEVICE void cp_async_bulk_wait_group();

// cp.async.bulk.wait_group.read N;                                      sm_90, PTX 8.0, thread
// The same for the reading of the sources only: that shared memory may be overwritten.
template <int kPending>
LK_DEVICE void cp_async_bulk_wait_group_read();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/cp_async_bulk.inl"
#else
#include "kernels/ptx/cuda/cp_async_bulk.inl"
#endif
