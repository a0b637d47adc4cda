// Clusters: where a CTA stands in its cluster, the cluster's barrier, and its shared memory.
// Included by ptx.cuh only.
//
// A launch without a cluster runs clusters of one CTA. The shared memory of a peer may be touched
// between the first barrier.cluster (the peer has started) and the last one (it has not exited).
#pragma once

#include "kernels/ptx/cluster_ptr.cuh"
#include "kernels/ptx/mbarrier.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// mov.u32 d, %cluster_ctarank;        this CTA's rank, x fastest        sm_90, PTX 7.8
LK_DEVICE std::uint32_t cluster_ctarank();
// mov.u32 d, %cluster_nctarank;       CTAs in the cluster               sm_90, PTX 7.8
LK_DEVICE std::uint32_t cluster_nctarank();
// mov.u32 d, %cluster_ctaid.{x,y,z};  this CTA's place in the cluster   sm_90, PTX 7.8
LK_DEVICE uint3 cluster_ctaid();
// mov.u32 d, %cluster_nctaid.{x,y,z}; the cluster's shape               sm_90, PTX 7.8
LK_DEVICE uint3 cluster_nctaid();
// mov.u32 d, %clusterid.{x,y,z};      the cluster's place in the grid   sm_90, PTX 7.8
LK_DEVICE uint3 clusterid();
// mov.u32 d, %nclusterid.{x,y,z};     clusters in the grid              sm_90, PTX 7.8
LK_DEVICE uint3 nclusterid();

// mapa.shared::cluster.u32 d, p, cta_rank;                              sm_90, PTX 7.8, thread
// Where the CTA of that rank has what lies at p in this CTA.
template <class T>
LK_DEVICE ClusterPtr<T> mapa(T* p, std::uint32_t cta_rank);

// ld.shared::cluster.{b32,v2.b32,v4.b32} d, [p];                        sm_90, PTX 7.8, thread
// T: std::uint32_t, uint2, uint4; p is aligned to sizeof(T).
template <class T>
LK_DEVICE T ld_shared_cluster(ClusterPtr<T> p);

// st.shared::cluster.{b32,v2.b32,v4.b32} [p], v;                        sm_90, PTX 7.8, thread
template <class T>
LK_DEVICE void st_shared_cluster(ClusterPtr<T> p, T v);

// st.async.shared::cluster.mbarrier::complete_tx::bytes.{b32,v2.b32,v4.b32} [p], v, [bar];
//                                                                       sm_90, PTX 8.1, thread
// p and bar are in the same CTA, in a cluster of more than one; bar counts sizeof(T) bytes.
template <class T>
LK_DEVICE void st_async(ClusterPtr<T> p, T v, ClusterPtr<Mbarrier> bar);

// barrier.cluster.arrive.release;                                       sm_90, PTX 8.0, thread
// Every thread of the cluster that has not exited arrives once, and waits once.
LK_DEVICE void barrier_cluster_arrive_release();

// barrier.cluster.arrive.relaxed;     orders nothing                    sm_90, PTX 8.0, thread
LK_DEVICE void barrier_cluster_arrive_relaxed();

// barrier.cluster.wait.acquire;                                         sm_90, PTX 8.0, thread
LK_DEVICE void barrier_cluster_wait_acquire();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/cluster.inl"
#else
#include "kernels/ptx/cuda/cluster.inl"
#endif
