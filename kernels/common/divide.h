// Division of a 63-bit integer by a divisor known on the host, as one multiplication.
//
// For d not a power of two and s = floor(log2 d), m = floor(2^(64+s) / d) + 1 fits 64 bits and
// floor(n m / 2^(64+s)) = floor(n / d) for all n <= 2^63: with e = m d - 2^(64+s) in (0, d], the
// error n e / (d 2^(64+s)) < n 2^(s+1) / (d 2^(64+s)) stays below 1/d. (Granlund and Montgomery,
// PLDI 1994.)
#pragma once

#include <cstdint>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

struct Divider {
  std::uint64_t multiplier = 0;  // 0: the divisor is 1 << shift
  std::uint32_t shift = 0;
  std::int64_t divisor = 1;
};

// divisor >= 1.
inline Divider make_divider(std::int64_t divisor) {
  std::uint32_t log2 = 0;
  while (divisor >> (log2 + 1)) ++log2;
  Divider d{.multiplier = 0, .shift = log2, .divisor = divisor};
  if (divisor != std::int64_t{1} << log2) {
    const unsigned __int128 numerator = static_cast<unsigned __int128>(1) << (64 + log2);
    d.multiplier = std::uint64_t(numerator / std::uint64_t(divisor)) + 1;
  }
  return d;
}

}  // namespace libkernels::inline LK_BACKEND
