#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE void mbarrier_init(Mbarrier* bar, std::uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(bar)), "r"(count)
               : "memory");
}
LK_DEVICE void mbarrier_inval(Mbarrier* bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(bar)) : "memory");
}
LK_DEVICE void mbarrier_arrive(Mbarrier* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(bar))
               : "memory");
}
LK_DEVICE void mbarrier_arrive(Mbarrier* bar, std::uint32_t count) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(bar)),
               "r"(count)
               : "memory");
}
LK_DEVICE void mbarrier_arrive(ClusterPtr<Mbarrier> bar, std::uint32_t count) {
  asm volatile("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%0], %1;" ::"r"(bar.address),
               "r"(count)
               : "memory");
}
LK_DEVICE void mbarrier_arrive_release_cluster(ClusterPtr<Mbarrier> bar, std::uint32_t count) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(bar.address),
      "r"(count)
      : "memory");
}
LK_DEVICE void mbarrier_expect_tx(Mbarrier* bar, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(bar)),
               "r"(bytes)
               : "memory");
}
LK_DEVICE void mbarrier_expect_tx_cluster(ClusterPtr<Mbarrier> bar, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(bar.address),
      "r"(bytes)
      : "memory");
}
LK_DEVICE void mbarrier_complete_tx(Mbarrier* bar, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(bar)),
      "r"(bytes)
      : "memory");
}
LK_DEVICE void mbarrier_arrive_expect_tx(Mbarrier* bar, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(bar)),
      "r"(bytes)
      : "memory");
}
LK_DEVICE void mbarrier_arrive_expect_tx_release_cluster(ClusterPtr<Mbarrier> bar,
                                                         std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                   bar.address),
               "r"(bytes)
               : "memory");
}
LK_DEVICE bool mbarrier_test_wait_parity(Mbarrier* bar, std::uint32_t parity) {
  std::uint32_t d;
  asm volatile(
      "{.reg .pred p; mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; "
      "selp.b32 %0, 1, 0, p;}"
      : "=r"(d)
      : "r"(smem_address(bar)), "r"(parity)
      : "memory");
  return d != 0;
}
LK_DEVICE bool mbarrier_try_wait_parity(Mbarrier* bar, std::uint32_t parity) {
  std::uint32_t d;
  asm volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; "
      "selp.b32 %0, 1, 0, p;}"
      : "=r"(d)
      : "r"(smem_address(bar)), "r"(parity)
      : "memory");
  return d != 0;
}
LK_DEVICE bool mbarrier_try_wait_parity_acquire_cluster(Mbarrier* bar, std::uint32_t parity) {
  std::uint32_t d;
  asm volatile(
      "{.reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
      "selp.b32 %0, 1, 0, p;}"
      : "=r"(d)
      : "r"(smem_address(bar)), "r"(parity)
      : "memory");
  return d != 0;
}
LK_DEVICE void fence_mbarrier_init_release_cluster() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
