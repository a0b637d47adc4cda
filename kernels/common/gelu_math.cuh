// GeLU of one value in fp32 arithmetic, the same on every generation and in every operation that
// ends in one. The forms for fp32 inputs or outputs; kernels/gelu/gelu_math_16bit.cuh has shorter
// ones.
//
// Both forms are evaluated as
//
//   y = max(x, -0) - |x| g(|x|),    g(z) = Phi(-z), the upper tail of the distribution,
//
// since x Phi(x) = x - x Phi(-x). One expression for both signs; nothing cancels for x < 0, where y
// is the product alone and the tail keeps its relative accuracy; for x > 0 y becomes exactly x as
// soon as |x| g is below half an ulp. +-0 stay themselves, +inf stays, -inf gives -0 (|x| is
// clamped where y is certainly 0, so no inf * 0 arises), NaN passes through min.NaN and the fma.
//
// ex2 and rcp flush subnormals: no argument or result that matters here is one.
#pragma once

#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

// Beyond this exponent g = 2^-w to the last bit, and z g may be subnormal, while neither ex2 nor
// rcp may leave the normal range: g' = 2^(-w/2) is evaluated instead, and y = -(z g') g'.
inline constexpr float kFarExponent = 120.0f;

// 2 u log2 e = z (kTanhC1 + kTanhC3 z^2).
inline constexpr float kTanhC1 = 0x1.26aec2p+1f;  // 2 * 0.79788456 * log2 e
inline constexpr float kTanhC3 = 0x1.a5a7d0p-4f;  // 2 * 0.79788456 * 0.044715 * log2 e

// g(z) = 1 / (1 + exp(2 u)) = 1 / (1 + 2^w), w = 2 u log2 e.
// 14 instructions, 2 of them on the special-function unit. Largest error, in units of the bound:
// 0.82 over all 2^32 inputs on an H200 (2026-11-30); 0.68 with correctly rounded ex2 and rcp.
LK_DEVICE float gelu_tanh(float x) {
  constexpr float kMost = 12.0f;  // z g(z) = 2^-201
  const float z = ptx::min_NaN_f32(fabsf(x), kMost);
  float w = z * fmaf(kTanhC3, z * z, kTanhC1);
  const bool far = w > kFarExponent;
  w = far ? w * 0.5f : w;
  const float d = 1.0f + ptx::ex2_approx_ftz_f32(w);
  float g = ptx::rcp_approx_ftz_f32(d);
  g = fmaf(g, fmaf(-d, g, 1.0f), g);  // one Newton step takes the ulp of rcp back
  return fmaf(-(far ? z * g : z), g, ptx::max_f32(x, -0.0f));
}

// g(z) = erfc(z / sqrt 2) / 2 = 2^a(z), a = -1 + z (q1 + z (q2 + q3 z + N(z) / D(z))).
//
// The whole logarithm is approximated, not a factor of exp(-z^2/2): near 0 the exponent is -1 plus
// a small term, so rcp's error enters only times z^2. All coefficients of N and D are positive.
// They are a weighted minimax fit of log2(2 g) / z on (0, 14.4] (linearised Lawson iteration
// against 40-digit values, rounded one by one with refits), made by tools/fit_gelu_erf.py: the
// relative error of g is below 2^-26.1 for z <= 1, 2^-23.8 for z <= 3, 2^-22.4 for z <= 6, 2^-19.2
// to the end, 0.14 of what the bound allows. 17 instructions, 2 special. Largest error, in units of
// the bound: 0.84 over all 2^32 inputs on an H200 (2026-11-30); 0.84 with correctly rounded ex2 and
// rcp.
LK_DEVICE float gelu_erf(float x) {
  constexpr float kQ1 = -0x1.26aebep+0f;   // -1.15110385
  constexpr float kQ2 = -0x1.70adc2p-1f;   // -0.720075667
  constexpr float kQ3 = -0x1.b453d4p-17f;  // -1.30035714e-05
  constexpr float kN0 = 0x1.0b1c20p-2f;    //  0.260849476
  constexpr float kN1 = 0x1.90d41ap-4f;    //  0.0978585258
  constexpr float kN2 = 0x1.01f7aap-6f;    //  0.0157450829
  constexpr float kD1 = 0x1.26efa6p-1f;    //  0.576047122
  constexpr float kD2 = 0x1.327ae6p-3f;    //  0.149648473
  constexpr float kD3 = 0x1.e02b26p-7f;    //  0.0146535812
  constexpr float kMost = 15.0f;           // z g(z) = 2^-165
  const float z = ptx::min_NaN_f32(fabsf(x), kMost);
  const float d = fmaf(fmaf(fmaf(kD3, z, kD2), z, kD1), z, 1.0f);
  const float n = fmaf(fmaf(kN2, z, kN1), z, kN0);
  const float q = fmaf(n, ptx::rcp_approx_ftz_f32(d), fmaf(kQ3, z, kQ2));
  float a = fmaf(fmaf(q, z, kQ1), z, -1.0f);
  const bool far = a < -kFarExponent;
  a = far ? a * 0.5f : a;
  const float g = ptx::ex2_approx_ftz_f32(a);
  return fmaf(-(far ? z * g : z), g, ptx::max_f32(x, -0.0f));
}

}  // namespace libkernels::inline LK_BACKEND
