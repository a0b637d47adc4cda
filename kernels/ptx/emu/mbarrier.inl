#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE void mbarrier_init(Mbarrier* bar, std::uint32_t count) {
  emulator::mbarrier_init(bar, count);
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_inval(Mbarrier* bar) {
  emulator::mbarrier_inval(bar);
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive(Mbarrier* bar) {
  emulator::mbarrier_update(bar, 0, 1, "mbarrier.arrive");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive(Mbarrier* bar, std::uint32_t count) {
  emulator::require_sm(90, "mbarrier.arrive with a count");
  emulator::mbarrier_update(bar, 0, count, "mbarrier.arrive");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive(ClusterPtr<Mbarrier> bar,
                                                      std::uint32_t count) {
  emulator::mbarrier_update_cluster(bar.address, 0, count, "mbarrier.arrive");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive_release_cluster(ClusterPtr<Mbarrier> bar,
                                                                      std::uint32_t count) {
  emulator::mbarrier_update_cluster(bar.address, 0, count, "mbarrier.arrive");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_expect_tx(Mbarrier* bar, std::uint32_t bytes) {
  emulator::require_sm(90, "mbarrier.expect_tx");
  emulator::mbarrier_update(bar, bytes, 0, "mbarrier.expect_tx");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_expect_tx_cluster(ClusterPtr<Mbarrier> bar,
                                                                 std::uint32_t bytes) {
  emulator::mbarrier_update_cluster(bar.address, bytes, 0, "mbarrier.expect_tx");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_complete_tx(Mbarrier* bar, std::uint32_t bytes) {
  emulator::mbarrier_complete_tx(bar, bytes);
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive_expect_tx(Mbarrier* bar,
                                                                std::uint32_t bytes) {
  emulator::require_sm(90, "mbarrier.arrive.expect_tx");
  emulator::mbarrier_update(bar, bytes, 1, "mbarrier.arrive.expect_tx");
}
[[gnu::always_inline]] LK_DEVICE void mbarrier_arrive_expect_tx_release_cluster(
    ClusterPtr<Mbarrier> bar, std::uint32_t bytes) {
  emulator::mbarrier_update_cluster(bar.address, bytes, 1, "mbarrier.arrive.expect_tx");
}
[[gnu::always_inline]] LK_DEVICE bool mbarrier_test_wait_parity(Mbarrier* bar,
                                                                std::uint32_t parity) {
  return emulator::mbarrier_test_wait(bar, parity);
}
[[gnu::always_inline]] LK_DEVICE bool mbarrier_try_wait_parity(Mbarrier* bar,
                                                               std::uint32_t parity) {
  return emulator::mbarrier_try_wait(bar, parity, false);
}
[[gnu::always_inline]] LK_DEVICE bool mbarrier_try_wait_parity_acquire_cluster(
    Mbarrier* bar, std::uint32_t parity) {
  return emulator::mbarrier_try_wait(bar, parity, true);
}
[[gnu::always_inline]] LK_DEVICE void fence_mbarrier_init_release_cluster() {
  emulator::fence_mbarrier_init();
}

}  // namespace libkernels::inline LK_BACKEND::ptx
