// GeLU where input and output have the same 16-bit type: shorter forms of gelu_math.cuh.
//
// A 16-bit type has 65 536 values, so a form need only be right at those: for every one of them the
// result, rounded to the type, stays within the fp32 bound plus half an ulp, with ex2 and rcp
// correctly rounded, at any corner of their documented errors, or off by an ulp at random (tested
// one by one). In between the short erf forms mean nothing, so they serve no other mix of types: an
// fp32 input (a matmul's accumulator), or an fp32 output, takes gelu_math.cuh.
//
// Instructions an element, of which 2 special: tanh 7 (f16), 8 (bf16) instead of 14, erf 12 and 13
// instead of 17. They matter: at 2^28 elements on an H200 tanh reaches 1.00 of the copy ceiling and
// erf 0.99 in bf16 (2026-12-01). A logistic form of erf takes more terms (its logarithm bends on
// both sides), and a polynomial in place of the quotient, 1 special, took more time in bf16: 0.98.
#pragma once

#include "kernels/common/gelu_math.cuh"

namespace libkernels::inline LK_BACKEND::op::gelu {

// y = x / (1 + 2^w), w = -2 u log2 e, for both signs: the relative error of the quotient is small
// on both, and x itself comes out as soon as 2^w is below half an ulp of 1. Far below 0, 2^w is
// infinite and y = -0; so that -inf does not become inf * 0, inputs are raised to kTanhLeast first,
// where y is certainly 0 (raise() in gelu_window.cuh, two at a time).
//
// Outputs of f16 end at 2^-25, so the inverse of 1 + 2^w need not go below the normal range.
inline constexpr std::uint32_t kTanhLeastF16 = 0xc880c880u;  // -9, twice: y = -2^-93
LK_DEVICE float gelu_tanh_f16(float x) {
  const float w = x * fmaf(-kTanhC3, x * x, -kTanhC1);
  return x * ptx::rcp_approx_ftz_f32(1.0f + ptx::ex2_approx_ftz_f32(w));
}

// Outputs of bf16 end at 2^-134, where |x| < 11 and 2^w = 2^138, beyond the range of ex2 and rcp:
// they see it divided by 2^12. More would cost accuracy near 0, where w - 12 is rounded.
inline constexpr std::uint32_t kTanhLeastBf16 = 0xc140c140u;  // -12, twice: y = -2^-201
LK_DEVICE float gelu_tanh_bf16(float x) {
  const float w = fmaf(x, fmaf(-kTanhC3, x * x, -kTanhC1), -12.0f);
  const float r = ptx::rcp_approx_ftz_f32(0x1p-12f + ptx::ex2_approx_ftz_f32(w));
  return x * (r * 0x1p-12f);
}

// The exponent of gelu_erf with N of degree 1 and D of degree 2, fitted on the f16 inputs of
// [2^-6, 5.7]: the weight of an input is the distance of its exact result from the nearest rounding
// boundary that would break the bound, less noise; 0.19 of it is used. tools/fit_gelu_erf.py makes
// these coefficients, and those of gelu_erf_bf16.
LK_DEVICE float gelu_erf_f16(float x) {
  constexpr float kQ1 = -0x1.26aea2p+0f;   // -1.15110219
  constexpr float kQ2 = -0x1.6811e8p-1f;   // -0.703261614
  constexpr float kQ3 = -0x1.188a2cp-11f;  // -0.000535087078
  constexpr float kN0 = 0x1.f3b914p-3f;    //  0.244005352
  constexpr float kN1 = 0x1.8c1cf4p-5f;    //  0.0483536497
  constexpr float kD1 = 0x1.a41088p-2f;    //  0.410219312
  constexpr float kD2 = 0x1.eacceep-5f;    //  0.0599121712
  constexpr float kMost = 5.8f;            // z g(z) = 1.9e-8, which rounds to 0
  const float z = ptx::min_NaN_f32(fabsf(x), kMost);
  const float r = ptx::rcp_approx_ftz_f32(fmaf(fmaf(kD2, z, kD1), z, 1.0f));
  const float q = fmaf(fmaf(kN1, z, kN0), r, fmaf(kQ3, z, kQ2));
  const float g = ptx::ex2_approx_ftz_f32(fmaf(fmaf(q, z, kQ1), z, -1.0f));
  return fmaf(-z, g, ptx::max_f32(x, -0.0f));
}

// The same on the bf16 inputs of [2^-6, 14.07]; 0.71 of the weight is used. All coefficients of the
// exponent are halved (exactly) and its power multiplied in twice, so that g may go below 2^-126.
LK_DEVICE float gelu_erf_bf16(float x) {
  constexpr float kQ1 = 0.5f * -0x1.26a7d6p+0f;   // half of -1.15099847
  constexpr float kQ2 = 0.5f * -0x1.6f2c06p-1f;   // half of -0.717132747
  constexpr float kQ3 = 0.5f * -0x1.20ad86p-14f;  // half of -6.88261571e-05
  constexpr float kN0 = 0.5f * 0x1.074d5ap-2f;    // half of  0.25713101
  constexpr float kN1 = 0.5f * 0x1.83cc42p-4f;    // half of  0.0946772173
  constexpr float kD1 = 0x1.209ebap-1f;           //  0.563710988
  constexpr float kD2 = 0x1.82056ep-4f;           //  0.0942434594
  constexpr float kMost = 15.0f;                  // z g(z) = 2^-165
  const float z = ptx::min_NaN_f32(fabsf(x), kMost);
  const float r = ptx::rcp_approx_ftz_f32(fmaf(fmaf(kD2, z, kD1), z, 1.0f));
  const float q = fmaf(fmaf(kN1, z, kN0), r, fmaf(kQ3, z, kQ2));
  const float h = ptx::ex2_approx_ftz_f32(fmaf(fmaf(q, z, kQ1), z, -0.5f));  // sqrt(g)
  return fmaf(-(z * h), h, ptx::max_f32(x, -0.0f));
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
