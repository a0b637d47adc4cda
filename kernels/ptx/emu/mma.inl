#pragma once

#include "kernels/ptx/emu/matrix.h"

namespace libkernels::inline LK_BACKEND::ptx {

template <int kM, int kN, int kK, MmaType kType>
[[gnu::always_inline]] LK_DEVICE void mma_sync(float (&d)[4],
                                               const std::uint32_t (&a)[kMmaA<kM, kK, kType>],
                                               const std::uint32_t (&b)[kMmaB<kN, kK, kType>],
                                               const float (&c)[4]) {
  constexpr int kRowBytes = kK * mma_bytes(kType);
  static_assert(kM == 16 && kN == 8 && (kRowBytes == 32 || kRowBytes == 16), "no such shape");
  constexpr emulator::MmaInput kInput = kType == MmaType::f16    ? emulator::MmaInput::f16
                                        : kType == MmaType::bf16 ? emulator::MmaInput::bf16
                                                                 : emulator::MmaInput::tf32;
  uint4 all_a{a[0], a[1], 0, 0};
  uint2 all_b{b[0], 0};
  if constexpr (kRowBytes == 32) all_a.z = a[2], all_a.w = a[3], all_b.y = b[1];
  const float4 r = emulator::mma_sync(kInput, kK, all_a, all_b, float4{c[0], c[1], c[2], c[3]});
  d[0] = r.x, d[1] = r.y, d[2] = r.z, d[3] = r.w;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
