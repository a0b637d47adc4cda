// What the judging kernels share: fp64 throughout, clarity before speed.
#pragma once

#include "bench/baselines/types.cuh"
#include "bench/judges.h"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

inline constexpr int kJudgeThreads = 256;
inline constexpr int kJudgeLanes = 32;
inline constexpr int kJudgeWarps = kJudgeThreads / kJudgeLanes;

struct OutputFormat {
  int mantissa_bits;
  int min_exponent;
};

inline OutputFormat output_format(DType type) {
  switch (type) {
    case DType::f16:
      return {.mantissa_bits = 10, .min_exponent = -14};
    case DType::bf16:
      return {.mantissa_bits = 7, .min_exponent = -126};
    default:
      return {.mantissa_bits = 23, .min_exponent = -126};
  }
}

// The distance of neighbouring values at |v|.
LK_DEVICE double unit_at(const OutputFormat& format, double v) {
  int exponent = v == 0 ? format.min_exponent : ilogb(fabs(v));
  if (exponent < format.min_exponent) exponent = format.min_exponent;
  return ldexp(1.0, exponent - format.mantissa_bits);
}

// Half a unit is lost in a conversion to 16 bits; fp32 results are covered by their bounds.
LK_DEVICE double rounding_at(const OutputFormat& format, double v) {
  constexpr int kFp32Bits = 23;
  return format.mantissa_bits == kFp32Bits ? 0 : 0.5 * unit_at(format, v);
}

LK_DEVICE double larger(double a, double b) { return a > b ? a : b; }

// One element more.
LK_DEVICE void note(bench::Findings* found, std::int64_t where, double got, double exact,
                    double unit, double bound, double wide_bound) {
  if (!(fabs(got) < INFINITY)) {
    ++found->not_finite;
    return;
  }
  const double error = fabs(got - exact);
  found->ulp = larger(found->ulp, error / unit);
  found->wide = larger(found->wide, error / wide_bound);
  const double fraction = error / bound;
  if (fraction > found->fraction) {
    found->fraction = fraction;
    found->worst = where;
  }
}

LK_DEVICE void merge(bench::Findings* into, const bench::Findings& more) {
  into->ulp = larger(into->ulp, more.ulp);
  into->wide = larger(into->wide, more.wide);
  into->not_finite += more.not_finite;
  if (more.fraction > into->fraction) {
    into->fraction = more.fraction;
    into->worst = more.worst;
  }
}

struct FindingsSmem {
  bench::Findings slot[kJudgeThreads];
};

// All threads of the CTA execute it.
LK_DEVICE void report(const bench::Findings& mine, bench::Findings* findings) {
  bench::Findings* slot = ptx::dynamic_smem<FindingsSmem>().slot;
  const int t = int(threadIdx.x);
  slot[t] = mine;
  for (int half = kJudgeThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) merge(&slot[t], slot[t + half]);
  }
  if (t == 0) findings[blockIdx.x] = slot[0];
}

inline unsigned judge_grid(std::int64_t items) {
  const std::int64_t ctas = divide_up(items, kJudgeThreads);
  return unsigned(ctas < bench::kFindings ? ctas : bench::kFindings);
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
