// GeLU in fp64, and how far from it a kernel may be.
//
// Also compiled as device code, for the exhaustive sweep on a GPU.
#pragma once

#include <cmath>

#if defined(__CUDACC__)
#define LK_REFERENCE __host__ __device__ inline
#else
#define LK_REFERENCE inline
#endif

namespace libkernels::reference {

// The literals of the definition, not 2/pi's root to more digits.
inline constexpr double kGeluScale = 0.79788456;
inline constexpr double kGeluCubic = 0.044715;

LK_REFERENCE double gelu_tanh_argument(double x) {
  return kGeluScale * (x + kGeluCubic * x * x * x);
}

// 0.5 x (1 + tanh u) = x / (1 + exp(-2u)); each side of 0 in the shape that neither cancels nor
// overflows.
LK_REFERENCE double gelu_tanh(double x) {
  if (x == HUGE_VAL || x == -HUGE_VAL) return x > 0 ? x : 0.0;
  const double u = gelu_tanh_argument(x);
  if (x >= 0) return x / (1.0 + exp(-2.0 * u));
  const double e = exp(2.0 * u);
  return x * e / (1.0 + e);
}

// 0.5 x (1 + erf(x / sqrt 2)) = 0.5 x erfc(-x / sqrt 2).
LK_REFERENCE double gelu_erf(double x) {
  if (x == HUGE_VAL || x == -HUGE_VAL) return x > 0 ? x : 0.0;
  return 0.5 * x * erfc(-x / 1.4142135623730950488);
}

// The spacing, at a, of a format with `mantissa_bits` whose normal numbers start at
// 2^min_exponent.
LK_REFERENCE double spacing(double a, int mantissa_bits, int min_exponent) {
  int exponent = 0;
  frexp(a, &exponent);  // |a| in [2^(exponent-1), 2^exponent)
  exponent = a == 0 || exponent - 1 < min_exponent ? min_exponent : exponent - 1;
  return ldexp(1.0, exponent - mantissa_bits);
}

LK_REFERENCE double ulp_f32(double a) { return spacing(a, 23, -126); }
LK_REFERENCE double ulp_f16(double a) { return spacing(a, 10, -14); }
LK_REFERENCE double ulp_bf16(double a) { return spacing(a, 7, -126); }

// The largest error of an fp32 result: 4 ulp for x >= -1; below,
//   2^-23 (4 + x^2) |ref| + 2^-149   (erf)
//   2^-23 (4 + 4|u|) |ref| + 2^-149  (tanh)
// A 16-bit result may be half an ulp of its own type further away.
LK_REFERENCE double gelu_erf_bound(double x, double reference) {
  if (x >= -1) return 4 * ulp_f32(reference);
  if (reference == 0) return ldexp(1.0, -149);  // far out, where x^2 may be infinite
  return ldexp(4 + x * x, -23) * fabs(reference) + ldexp(1.0, -149);
}
LK_REFERENCE double gelu_tanh_bound(double x, double reference) {
  if (x >= -1) return 4 * ulp_f32(reference);
  if (reference == 0) return ldexp(1.0, -149);
  return ldexp(4 + 4 * fabs(gelu_tanh_argument(x)), -23) * fabs(reference) + ldexp(1.0, -149);
}

}  // namespace libkernels::reference
