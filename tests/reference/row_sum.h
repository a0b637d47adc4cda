// The sum of a row in fp64, and how far from it a kernel may be.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace libkernels::reference {

struct RowSum {
  double sum = 0;
  double magnitude = 0;  // the sum of |x|
};

// Of at(0) ... at(n - 1), fp64 values. One after the other: beside the bound of an fp32 sum the
// error of n fp64 additions is nothing.
template <class At>
RowSum row_sum(std::int64_t n, At at) {
  RowSum result;
  for (std::int64_t c = 0; c < n; ++c) {
    const double x = at(c);
    result.sum += x;
    result.magnitude += std::fabs(x);
  }
  return result;
}

// The largest error of an fp32 sum of n values: 2^-24 (32 + 4 ceil(log2 n)) sum |x|. A 16-bit
// result may be half an ulp of its own type further away.
inline double row_sum_bound(std::int64_t n, double magnitude) {
  int log2 = 0;  // rounded up
  while ((std::int64_t{1} << log2) < n) ++log2;
  return std::ldexp(32 + 4 * log2, -24) * magnitude;
}

}  // namespace libkernels::reference
