#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE std::uint32_t cluster_ctarank() {
  return emulator::cluster_rank();
}
[[gnu::always_inline]] LK_DEVICE std::uint32_t cluster_nctarank() {
  const dim3 d = emulator::cluster_dim();
  return d.x * d.y * d.z;
}
[[gnu::always_inline]] LK_DEVICE uint3 cluster_ctaid() { return emulator::cluster_cta_idx(); }
[[gnu::always_inline]] LK_DEVICE uint3 cluster_nctaid() {
  const dim3 d = emulator::cluster_dim();
  return {d.x, d.y, d.z};
}
[[gnu::always_inline]] LK_DEVICE uint3 clusterid() { return emulator::cluster_idx(); }
[[gnu::always_inline]] LK_DEVICE uint3 nclusterid() {
  const dim3 d = emulator::cluster_grid_dim();
  return {d.x, d.y, d.z};
}
template <class T>
[[gnu::always_inline]] LK_DEVICE ClusterPtr<T> mapa(T* p, std::uint32_t cta_rank) {
  return {emulator::map_to_cluster(p, cta_rank)};
}
template <class T>
[[gnu::always_inline]] LK_DEVICE T ld_shared_cluster(ClusterPtr<T> p) {
  T v;
  emulator::load_cluster(p.address, &v, sizeof(T));
  return v;
}
template <class T>
[[gnu::always_inline]] LK_DEVICE void st_shared_cluster(ClusterPtr<T> p, T v) {
  emulator::store_cluster(p.address, &v, sizeof(T));
}
template <class T>
[[gnu::always_inline]] LK_DEVICE void st_async(ClusterPtr<T> p, T v, ClusterPtr<Mbarrier> bar) {
  emulator::store_async(p.address, &v, sizeof(T), bar.address);
}
[[gnu::always_inline]] LK_DEVICE void barrier_cluster_arrive_release() {
  emulator::cluster_barrier_arrive(true);
}
[[gnu::always_inline]] LK_DEVICE void barrier_cluster_arrive_relaxed() {
  emulator::cluster_barrier_arrive(false);
}
[[gnu::always_inline]] LK_DEVICE void barrier_cluster_wait_acquire() {
  emulator::cluster_barrier_wait();
}

}  // namespace libkernels::inline LK_BACKEND::ptx
