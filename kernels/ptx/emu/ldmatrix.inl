#pragma once

#include "kernels/ptx/emu/matrix.h"

namespace libkernels::inline LK_BACKEND::ptx {

template <int kCount, bool kTrans>
[[gnu::always_inline]] LK_DEVICE void ldmatrix(std::uint32_t (&d)[kCount], const void* row) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
  const uint4 v = emulator::ldmatrix(row, kCount, kTrans);
  d[0] = v.x;
  if constexpr (kCount > 1) d[1] = v.y;
  if constexpr (kCount > 2) d[2] = v.z, d[3] = v.w;
}

template <int kCount, bool kTrans>
[[gnu::always_inline]] LK_DEVICE void stmatrix(void* row, const std::uint32_t (&v)[kCount]) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4);
  uint4 all{v[0], 0, 0, 0};
  if constexpr (kCount > 1) all.y = v[1];
  if constexpr (kCount > 2) all.z = v[2], all.w = v[3];
  emulator::require_sm(90, "stmatrix");
  emulator::stmatrix(row, all, kCount, kTrans);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
