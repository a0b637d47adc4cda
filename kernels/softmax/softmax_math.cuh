// Softmax of single values in fp32 arithmetic, the same on every generation.
//
// Values are v = turn * x (softmax_plan.h), of which the largest is subtracted before anything is
// scaled. Errors, in units of 2^-23 relative to exp(scale (x - m)) and with a = |scale (x - m)|:
// d 0.5 a, t 0.5 a (the fma's rounding; hi + lo has none to speak of), ex2 2. By one fma, where
// results have 16 bits: its factor 0.5 a at most (0.1 a with scale 1), t 0.5 a or, of bf16, 1.4 if
// that is more. Then the sum of such terms, its reciprocal 0.5 and the product 0.5.
//
// Special values need no branches. A NaN or an infinite x that wins makes d NaN in its own column
// at least, then the sum, then the row. -inf elsewhere: d and t are -inf, exp is 0, and the
// logarithm -inf. A row of only -inf has d = -inf - -inf = NaN, unless it shall be 0: then `most`
// is taken as 0, all terms are 0, and so is their sum, which no other row's is.
#pragma once

#include "kernels/common/reduce.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/softmax/softmax_plan.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

inline constexpr float kMinusInfinity = -__builtin_huge_valf();

// What is subtracted from the shrunk values of a row, or of a part of one, whose largest is `most`.
// A part of only -inf contributes 0 to the row it belongs to.
LK_DEVICE float subtrahend(float most, const Exponent& e, bool zero_neg_inf) {
  return zero_neg_inf && most == kMinusInfinity ? 0.0f : most * e.shrink;
}

LK_DEVICE float difference(float v, float subtrahend, const Exponent& e) {
  return fmaf(v, e.shrink, -subtrahend);
}

// exp(scale (x - m)) = 2^t. Never falls where d rises.
LK_DEVICE float exponent_of(float d, const Exponent& e) { return fmaf(d, e.hi, d * e.lo); }

// From here on 2^t is normal, whatever the approximation's error.
inline constexpr float kLeastNormal = -125;

// exp(scale (x - m)), d <= 0. Subnormal results are kept, except where the output type has none so
// small. kNormal: there are none, which saves three instructions of four.
template <DType kOut, bool kNormal = false>
LK_DEVICE float exponential(float d, const Exponent& e) {
  const float t = exponent_of(d, e);
  if constexpr (kOut == DType::f16 || kNormal) return ptx::ex2_approx_ftz_f32(t);
  return ptx::ex2_approx_f32(t);
}

// How the terms of a row, or of a part of one, are computed: as they are, or, where results have 16
// bits and the maximum allows, by one fma: 2^(direct v - back). What `back` is rounded by is common
// to all terms and the sum. For bf16 it also leaves room for results that are subnormal there.
struct Base {
  float less;  // the subtrahend
  float back;
  float unit;  // fast: times this a term is exp(scale (x - m)); else 1
  bool fast;   // 16 bits: by one fma. f32: no term is subnormal
};

// kVote: all lanes of the warp have the same subtrahend.
template <DType kOut, bool kVote>
LK_DEVICE Base make_base(float less, const Exponent& e, bool log) {
  constexpr float kMost = 0x1p20f;  // so far off `back` is below 1/16, and t no larger for it
  constexpr float kRoom = kOut == DType::bf16 ? 8 : 0;  // bf16 ends at 2^-133, fp32 at 2^-126
  const float most = less * e.rate;
  const float back = most - kRoom;
  bool fast = !log && e.direct != 0 && fabsf(most) <= kMost;
  if constexpr (kVote) fast = ptx::vote_sync_all(fast);
  const float unit = ptx::ex2_approx_ftz_f32(-fmaf(less, e.rate, -back));
  return {.less = less, .back = back, .unit = fast ? unit : 1.0f, .fast = fast};
}

template <DType kOut, bool kFast>
LK_DEVICE float term(float v, const Base& base, const Exponent& e) {
  if constexpr (kFast && kOut != DType::f32) {
    return ptx::ex2_approx_ftz_f32(fmaf(v, e.direct, -base.back));
  }
  return exponential<kOut, kFast>(difference(v, base.less, e), e);
}

// What turns the terms of a row into its results: exp(..) * factor + offset, offset 0, or for the
// logarithm d * factor + offset.
struct Norm {
  float factor, offset;

  // `sum` is >= 1 or NaN, or 0 in a row of only -inf that shall give 0.
  LK_DEVICE Norm(const Params& p, float sum) {
    constexpr float kLn2 = 0x1.62e430p-1f;
    const float r = ptx::rcp_approx_ftz_f32(sum);
    const float reciprocal = fmaf(r, fmaf(-sum, r, 1.0f), r);  // Newton: takes its ulp back
    factor = p.log ? p.exponent.linear : sum == 0.0f ? 0.0f : reciprocal;
    offset = p.log && sum != 0.0f ? -kLn2 * ptx::lg2_approx_f32(sum) : 0.0f;
  }
  LK_DEVICE float operator()(float v) const { return fmaf(v, factor, offset); }
};

// A sum that a long chain of additions does not spoil: the roundings are summed, too (Knuth's
// TwoSum). Terms are >= 0 or NaN.
struct LongSum {
  float sum = 0, rest = 0;

  LK_DEVICE void add(float term) {
    const float s = sum + term;
    const float of_term = s - sum;
    rest += (sum - (s - of_term)) + (term - of_term);
    sum = s;
  }
  LK_DEVICE float value() const { return sum + rest; }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
