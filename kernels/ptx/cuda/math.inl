#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE float ex2_approx_f32(float x) {
  float d;
  asm("ex2.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float ex2_approx_ftz_f32(float x) {
  float d;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float lg2_approx_f32(float x) {
  float d;
  asm("lg2.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float rcp_approx_f32(float x) {
  float d;
  asm("rcp.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float rcp_approx_ftz_f32(float x) {
  float d;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float rsqrt_approx_f32(float x) {
  float d;
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float tanh_approx_f32(float x) {
  float d;
  asm("tanh.approx.f32 %0, %1;" : "=f"(d) : "f"(x));
  return d;
}
LK_DEVICE float max_f32(float a, float b) {
  float d;
  asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
LK_DEVICE float min_f32(float a, float b) {
  float d;
  asm("min.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
LK_DEVICE float max_NaN_f32(float a, float b) {
  float d;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
LK_DEVICE float min_NaN_f32(float a, float b) {
  float d;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
  return d;
}
LK_DEVICE std::uint32_t max_NaN_f16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t d;
  asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
LK_DEVICE std::uint32_t max_NaN_bf16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t d;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
LK_DEVICE std::uint32_t min_f16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t d;
  asm("min.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
LK_DEVICE std::uint32_t min_bf16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t d;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
LK_DEVICE std::uint32_t mul_rn_f16x2(std::uint32_t a, std::uint32_t b) {
  std::uint32_t d;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
  return d;
}
LK_DEVICE std::uint32_t prmt_b32(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  std::uint32_t d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}
LK_DEVICE std::uint32_t shf_r_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  std::uint32_t d;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lo), "r"(hi), "r"(n));
  return d;
}
LK_DEVICE std::uint32_t shf_l_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  std::uint32_t d;
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lo), "r"(hi), "r"(n));
  return d;
}
LK_DEVICE std::uint32_t shf_l_clamp_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  std::uint32_t d;
  asm("shf.l.clamp.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(lo), "r"(hi), "r"(n));
  return d;
}
LK_DEVICE std::uint64_t mul_hi_u64(std::uint64_t a, std::uint64_t b) {
  std::uint64_t d;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(d) : "l"(a), "l"(b));
  return d;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
