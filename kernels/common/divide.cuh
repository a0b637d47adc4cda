// The device half of divide.h.
#pragma once

#include "kernels/common/divide.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

// floor(n / divisor), n >= 0.
LK_DEVICE std::int64_t quotient(std::int64_t n, const Divider& d) {
  const std::uint64_t high =
      d.multiplier != 0 ? ptx::mul_hi_u64(std::uint64_t(n), d.multiplier) : std::uint64_t(n);
  return std::int64_t(high >> d.shift);
}

}  // namespace libkernels::inline LK_BACKEND
