#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src,
                                                                  std::uint32_t bytes,
                                                                  Mbarrier* bar) {
  emulator::bulk_load(dst, src, bytes, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src,
                                                                  std::uint32_t bytes,
                                                                  Mbarrier* bar,
                                                                  CachePolicy /*policy*/) {
  emulator::bulk_load(dst, src, bytes, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_shared_global_multicast(
    void* dst, const void* src, std::uint32_t bytes, Mbarrier* bar, std::uint16_t cta_mask) {
  emulator::bulk_load(dst, src, bytes, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_shared_global_multicast(
    void* dst, const void* src, std::uint32_t bytes, Mbarrier* bar, std::uint16_t cta_mask,
    CachePolicy /*policy*/) {
  emulator::bulk_load(dst, src, bytes, bar, cta_mask);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_shared_cluster_shared(
    ClusterPtr<T> dst, const void* src, std::uint32_t bytes, ClusterPtr<Mbarrier> bar) {
  emulator::bulk_cluster_copy(dst.address, src, bytes, bar.address);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src,
                                                                  std::uint32_t bytes) {
  emulator::bulk_store(dst, src, bytes);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src,
                                                                  std::uint32_t bytes,
                                                                  CachePolicy /*policy*/) {
  emulator::bulk_store(dst, src, bytes);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_prefetch_L2(const void* src,
                                                                std::uint32_t bytes) {
  emulator::bulk_prefetch(src, bytes);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_commit_group() {
  emulator::bulk_commit_group();
}
template <int kPending>
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_wait_group() {
  emulator::bulk_wait_group(kPending, false);
}
template <int kPending>
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_wait_group_read() {
  emulator::bulk_wait_group(kPending, true);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
