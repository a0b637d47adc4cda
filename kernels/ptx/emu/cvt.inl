#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE float cvt_f32_f16(std::uint16_t bits) { return emulator::f32_from_f16(bits); }
LK_DEVICE std::uint16_t cvt_rn_f16_f32(float x) { return emulator::f16_from_f32(x); }
LK_DEVICE std::uint16_t cvt_rn_bf16_f32(float x) { return emulator::bf16_from_f32(x); }
LK_DEVICE std::uint32_t cvt_rn_f16x2_f32(float hi, float lo) {
  return std::uint32_t(emulator::f16_from_f32(hi)) << 16 | emulator::f16_from_f32(lo);
}
LK_DEVICE std::uint32_t cvt_rn_bf16x2_f32(float hi, float lo) {
  return std::uint32_t(emulator::bf16_from_f32(hi)) << 16 | emulator::bf16_from_f32(lo);
}
// Half a unit more in magnitude, then the low bits away: ties go away from zero. That is how ptxas
// writes it (sm_80, sm_90), NaNs included.
LK_DEVICE std::uint32_t cvt_rna_tf32_f32(float x) {
  constexpr std::uint32_t kDropped = (1u << 13) - 1;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const bool finite = (bits & 0x7fffffffu) < 0x7f800000u;
  return (finite ? bits + (kDropped + 1) / 2 : bits) & ~kDropped;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
