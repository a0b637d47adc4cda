#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads) {
  emulator::barrier_sync(id, threads);
}
[[gnu::always_inline]] LK_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads) {
  emulator::barrier_arrive(id, threads);
}
[[gnu::always_inline]] LK_DEVICE void bar_warp_sync(std::uint32_t membermask) {
  emulator::collective(emulator::Collective::sync_warp, 0, 0, membermask);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
