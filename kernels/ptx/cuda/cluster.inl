#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE std::uint32_t cluster_ctarank() {
  std::uint32_t d;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(d));
  return d;
}
LK_DEVICE std::uint32_t cluster_nctarank() {
  std::uint32_t d;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(d));
  return d;
}
LK_DEVICE uint3 cluster_ctaid() {
  uint3 d;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(d.z));
  return d;
}
LK_DEVICE uint3 cluster_nctaid() {
  uint3 d;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(d.z));
  return d;
}
LK_DEVICE uint3 clusterid() {
  uint3 d;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(d.z));
  return d;
}
LK_DEVICE uint3 nclusterid() {
  uint3 d;
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(d.x));
  asm("mov.u32 %0, %%nclusterid.y;" : "=r"(d.y));
  asm("mov.u32 %0, %%nclusterid.z;" : "=r"(d.z));
  return d;
}

template <class T>
LK_DEVICE ClusterPtr<T> mapa(T* p, std::uint32_t cta_rank) {
  ClusterPtr<T> d;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(d.address)
      : "r"(smem_address(p)), "r"(cta_rank));
  return d;
}

template <>
LK_DEVICE std::uint32_t ld_shared_cluster<std::uint32_t>(ClusterPtr<std::uint32_t> p) {
  std::uint32_t d;
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(d) : "r"(p.address) : "memory");
  return d;
}
template <>
LK_DEVICE uint2 ld_shared_cluster<uint2>(ClusterPtr<uint2> p) {
  uint2 d;
  asm volatile("ld.shared::cluster.v2.b32 {%0, %1}, [%2];"
               : "=r"(d.x), "=r"(d.y)
               : "r"(p.address)
               : "memory");
  return d;
}
template <>
LK_DEVICE uint4 ld_shared_cluster<uint4>(ClusterPtr<uint4> p) {
  uint4 d;
  asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "r"(p.address)
               : "memory");
  return d;
}

template <>
LK_DEVICE void st_shared_cluster<std::uint32_t>(ClusterPtr<std::uint32_t> p, std::uint32_t v) {
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(p.address), "r"(v) : "memory");
}
template <>
LK_DEVICE void st_shared_cluster<uint2>(ClusterPtr<uint2> p, uint2 v) {
  asm volatile("st.shared::cluster.v2.b32 [%0], {%1, %2};" ::"r"(p.address), "r"(v.x), "r"(v.y)
               : "memory");
}
template <>
LK_DEVICE void st_shared_cluster<uint4>(ClusterPtr<uint4> p, uint4 v) {
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(p.address), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

template <>
LK_DEVICE void st_async<std::uint32_t>(ClusterPtr<std::uint32_t> p, std::uint32_t v,
                                       ClusterPtr<Mbarrier> bar) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(p.address),
      "r"(v), "r"(bar.address)
      : "memory");
}
template <>
LK_DEVICE void st_async<uint2>(ClusterPtr<uint2> p, uint2 v, ClusterPtr<Mbarrier> bar) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(
          p.address),
      "r"(v.x), "r"(v.y), "r"(bar.address)
      : "memory");
}
template <>
LK_DEVICE void st_async<uint4>(ClusterPtr<uint4> p, uint4 v, ClusterPtr<Mbarrier> bar) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(p.address),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(bar.address)
      : "memory");
}

LK_DEVICE void barrier_cluster_arrive_release() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
LK_DEVICE void barrier_cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
LK_DEVICE void barrier_cluster_wait_acquire() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
