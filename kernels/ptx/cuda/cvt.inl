#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE float cvt_f32_f16(std::uint16_t bits) {
  float d;
  asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(bits));
  return d;
}
LK_DEVICE std::uint16_t cvt_rn_f16_f32(float x) {
  std::uint16_t d;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(x));
  return d;
}
LK_DEVICE std::uint16_t cvt_rn_bf16_f32(float x) {
  std::uint16_t d;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(d) : "f"(x));
  return d;
}
LK_DEVICE std::uint32_t cvt_rn_f16x2_f32(float hi, float lo) {
  std::uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}
LK_DEVICE std::uint32_t cvt_rn_bf16x2_f32(float hi, float lo) {
  std::uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(hi), "f"(lo));
  return d;
}
LK_DEVICE std::uint32_t cvt_rna_tf32_f32(float x) {
  std::uint32_t d;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(d) : "f"(x));
  return d;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
