#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <class T>
[[gnu::always_inline]] LK_DEVICE T shfl_sync(emulator::Collective op, T v, std::uint32_t argument,
                                             std::uint32_t membermask) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 32 bits");
  return std::bit_cast<T>(
      emulator::collective(op, std::bit_cast<std::uint32_t>(v), argument, membermask));
}

template <class T>
[[gnu::always_inline]] LK_DEVICE T shfl_sync_bfly(T v, std::uint32_t lane_mask,
                                                  std::uint32_t membermask) {
  return shfl_sync(emulator::Collective::shfl_bfly, v, lane_mask, membermask);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE T shfl_sync_idx(T v, std::uint32_t lane,
                                                 std::uint32_t membermask) {
  return shfl_sync(emulator::Collective::shfl_idx, v, lane, membermask);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE T shfl_sync_up(T v, std::uint32_t delta,
                                                std::uint32_t membermask) {
  return shfl_sync(emulator::Collective::shfl_up, v, delta, membermask);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE T shfl_sync_down(T v, std::uint32_t delta,
                                                  std::uint32_t membermask) {
  return shfl_sync(emulator::Collective::shfl_down, v, delta, membermask);
}
[[gnu::always_inline]] LK_DEVICE std::uint32_t vote_sync_ballot(bool p, std::uint32_t membermask) {
  return emulator::collective(emulator::Collective::ballot, p, 0, membermask);
}
[[gnu::always_inline]] LK_DEVICE bool vote_sync_any(bool p, std::uint32_t membermask) {
  return emulator::collective(emulator::Collective::any, p, 0, membermask) != 0;
}
[[gnu::always_inline]] LK_DEVICE bool vote_sync_all(bool p, std::uint32_t membermask) {
  return emulator::collective(emulator::Collective::all, p, 0, membermask) != 0;
}
[[gnu::always_inline]] LK_DEVICE bool elect_sync(std::uint32_t membermask) {
  emulator::require_sm(90, "elect.sync");
  return emulator::collective(emulator::Collective::elect, 0, 0, membermask) != 0;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
