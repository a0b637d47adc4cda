#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src, std::uint32_t bytes,
                                           Mbarrier* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(smem_address(dst)),
      "l"(src), "r"(bytes), "r"(smem_address(bar))
      : "memory");
}
LK_DEVICE void cp_async_bulk_shared_global(void* dst, const void* src, std::uint32_t bytes,
                                           Mbarrier* bar, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], %2, [%3], %4;" ::"r"(smem_address(dst)),
      "l"(src), "r"(bytes), "r"(smem_address(bar)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_shared_global_multicast(void* dst, const void* src,
                                                     std::uint32_t bytes, Mbarrier* bar,
                                                     std::uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;" ::"r"(smem_address(dst)),
      "l"(src), "r"(bytes), "r"(smem_address(bar)), "h"(cta_mask)
      : "memory");
}
LK_DEVICE void cp_async_bulk_shared_global_multicast(void* dst, const void* src,
                                                     std::uint32_t bytes, Mbarrier* bar,
                                                     std::uint16_t cta_mask, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::"
      "cache_hint [%0], [%1], %2, [%3], %4, %5;" ::"r"(smem_address(dst)),
      "l"(src), "r"(bytes), "r"(smem_address(bar)), "h"(cta_mask), "l"(policy.bits)
      : "memory");
}
template <class T>
LK_DEVICE void cp_async_bulk_shared_cluster_shared(ClusterPtr<T> dst, const void* src,
                                                   std::uint32_t bytes, ClusterPtr<Mbarrier> bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(dst.address),
      "r"(smem_address(src)), "r"(bytes), "r"(bar.address)
      : "memory");
}
LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst),
               "r"(smem_address(src)), "r"(bytes)
               : "memory");
}
LK_DEVICE void cp_async_bulk_global_shared(void* dst, const void* src, std::uint32_t bytes,
                                           CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(dst),
      "r"(smem_address(src)), "r"(bytes), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_prefetch_L2(const void* src, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src), "r"(bytes) : "memory");
}
LK_DEVICE void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int kPending>
LK_DEVICE void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}
template <int kPending>
LK_DEVICE void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
