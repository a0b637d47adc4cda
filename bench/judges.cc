#include "bench/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace libkernels::bench {

ProductBounds product_bounds(DType in, Math math, std::int64_t k) {
  constexpr double kSlack = 8;  // of a baseline
  const double root = std::sqrt(double(k));
  const double fp32 = std::ldexp(std::max(8.0, root / 2), -24);
  const double tensor = std::ldexp(std::max(2.0, root / 8), -23);
  if (in == DType::f32) {
    switch (math) {
      case Math::fp32:
        return {.fused = fp32, .wide = kSlack * fp32};
      case Math::tf32:  // others truncate both operands, to 10 bits
        return {.fused = std::ldexp(1.0, -10) + tensor,
                .wide = std::ldexp(1.0, -9) + kSlack * tensor};
      case Math::tf32x3:
        return {.fused = 4 * fp32 + std::ldexp(1.0, -21), .wide = kSlack * fp32};
    }
  }
  if (in == DType::f8_e4m3 || in == DType::f8_e5m2) {
    return {.fused = std::ldexp(1.0, -9), .wide = std::ldexp(1.0, -7)};
  }
  return {.fused = tensor, .wide = kSlack * tensor};
}

Findings combine(std::span<const Findings> all) {
  Findings total;
  for (const Findings& one : all) {
    total.ulp = std::max(total.ulp, one.ulp);
    total.wide = std::max(total.wide, one.wide);
    total.not_finite += one.not_finite;
    if (one.fraction > total.fraction) {
      total.fraction = one.fraction;
      total.worst = one.worst;
    }
  }
  return total;
}

Verdict verdict_of(const Findings& found, bool is_library) {
  Verdict verdict{.ulp = found.ulp, .fraction = found.fraction, .fault = ""};
  if (found.not_finite > 0) {
    verdict.fault = fmt::format("WRONG: {} results are NaN or infinite", found.not_finite);
  } else if (is_library && !(found.fraction <= 1)) {
    verdict.fault = fmt::format("WRONG: the error at element {} is {:.3g} times the bound",
                                found.worst, found.fraction);
  } else if (!(found.wide <= 1)) {
    verdict.fault =
        fmt::format("WRONG: the error is {:.3g} times what a baseline must keep", found.wide);
  }
  return verdict;
}

}  // namespace libkernels::bench
