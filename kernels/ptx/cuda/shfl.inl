#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// The instructions move 32 bits; a float goes through an integer register at no cost.
template <class T>
LK_DEVICE std::uint32_t bits_of(T v) {
  static_assert(sizeof(T) == 4, "shfl.sync moves 32 bits");
  return __builtin_bit_cast(std::uint32_t, v);
}
template <class T>
LK_DEVICE T from_bits(std::uint32_t b) {
  return __builtin_bit_cast(T, b);
}

template <class T>
LK_DEVICE T shfl_sync_bfly(T v, std::uint32_t lane_mask, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;"
               : "=r"(d)
               : "r"(bits_of(v)), "r"(lane_mask), "r"(membermask));
  return from_bits<T>(d);
}
template <class T>
LK_DEVICE T shfl_sync_idx(T v, std::uint32_t lane, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;"
               : "=r"(d)
               : "r"(bits_of(v)), "r"(lane), "r"(membermask));
  return from_bits<T>(d);
}
template <class T>
LK_DEVICE T shfl_sync_up(T v, std::uint32_t delta, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, %3;"
               : "=r"(d)
               : "r"(bits_of(v)), "r"(delta), "r"(membermask));
  return from_bits<T>(d);
}
template <class T>
LK_DEVICE T shfl_sync_down(T v, std::uint32_t delta, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 0x1f, %3;"
               : "=r"(d)
               : "r"(bits_of(v)), "r"(delta), "r"(membermask));
  return from_bits<T>(d);
}
LK_DEVICE std::uint32_t vote_sync_ballot(bool p, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("{.reg .pred p; setp.ne.b32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2;}"
               : "=r"(d)
               : "r"(std::uint32_t(p)), "r"(membermask));
  return d;
}
LK_DEVICE bool vote_sync_any(bool p, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile(
      "{.reg .pred p, q; setp.ne.b32 p, %1, 0; vote.sync.any.pred q, p, %2; selp.b32 %0, 1, 0, q;}"
      : "=r"(d)
      : "r"(std::uint32_t(p)), "r"(membermask));
  return d != 0;
}
LK_DEVICE bool vote_sync_all(bool p, std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile(
      "{.reg .pred p, q; setp.ne.b32 p, %1, 0; vote.sync.all.pred q, p, %2; selp.b32 %0, 1, 0, q;}"
      : "=r"(d)
      : "r"(std::uint32_t(p)), "r"(membermask));
  return d != 0;
}
LK_DEVICE bool elect_sync(std::uint32_t membermask) {
  std::uint32_t d;
  asm volatile("{.reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p;}"
               : "=r"(d)
               : "r"(membermask));
  return d != 0;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
