// Matmul as tf32x3, whatever the generation: an fp32 as two tf32, x = hi + lo, and
//
//   a b = lo_a hi_b + hi_a lo_b + hi_a hi_b
//
// up to lo_a lo_b, which is below 2^-22 of it.
#pragma once

#include "kernels/common/bits.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct Split {
  std::uint32_t hi, lo;  // tf32; the low 13 bits of lo are for the tensor cores to ignore
};

inline constexpr std::uint32_t kInfinityBits = 0x7f800000, kMagnitudeBits = 0x7fffffff;
inline constexpr std::uint32_t kTf32Half = 0x1000, kTf32Bits = 0xffffe000;

// Are they finite, and do not round to infinity?
LK_DEVICE bool is_ordinary(std::uint32_t bits) {
  constexpr std::uint32_t kFirst = 0x7f7ff000;
  return (bits & kMagnitudeBits) < kFirst;
}
// Of such: one addition rounds to nearest, ties away. (cvt.rna.tf32 becomes four instructions on
// sm_90, for the sake of the other values.)
LK_DEVICE Split split_ordinary(std::uint32_t bits) {
  const std::uint32_t hi = (bits + kTf32Half) & kTf32Bits;
  return {hi, bit_cast<std::uint32_t>(bit_cast<float>(bits) - bit_cast<float>(hi)) + kTf32Half};
}
// Of any. What is not finite goes into lo, and hi is 1 or -1: so the sum is infinite or NaN if that
// of a b is. (The other way round, hi = inf would meet a lo of 0.) The largest are truncated.
LK_DEVICE Split split_any(std::uint32_t bits) {
  constexpr std::uint32_t kSign = ~kMagnitudeBits, kOne = 0x3f800000;
  if (is_ordinary(bits)) return split_ordinary(bits);
  if ((bits & kMagnitudeBits) >= kInfinityBits) {
    const bool nan = (bits & kMagnitudeBits) > kInfinityBits;
    return {(bits & kSign) | kOne, nan ? kMagnitudeBits : bits};  // some NaN is in the low 13 bits
  }
  const std::uint32_t hi = bits & kTf32Bits;
  return {hi, bit_cast<std::uint32_t>(bit_cast<float>(bits) - bit_cast<float>(hi)) + kTf32Half};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
