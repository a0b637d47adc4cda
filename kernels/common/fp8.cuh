// fp8 to f16, exactly, for the generations without an instruction for it. Two f16 in a register,
// the lower index in the low half, as mma.sync takes them.
#pragma once

#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

namespace fp8 {

// prmt: bytes 0, 1 or 2, 3 of a word go to the high bytes of the halves, above zeros.
inline constexpr std::uint32_t kSpreadLow = 0x1404, kSpreadHigh = 0x3424;

// e5m2 is the high byte of an f16.
LK_DEVICE std::uint32_t f16x2_of_e5m2_high_bytes(std::uint32_t spread) { return spread; }

// e4m3, put where f16 has its exponent, is 2^-8 of its value, subnormals included. Its NaN, the
// only one with all seven bits set, would come out as 480: the carry of one more finds it, and the
// one bit that 480 lacks in its exponent makes it a NaN.
LK_DEVICE std::uint32_t f16x2_of_e4m3_high_bytes(std::uint32_t spread) {
  constexpr std::uint32_t kSigns = 0x80008000, kMagnitudes = 0x3f803f80, kLastPlace = 0x00800080;
  constexpr std::uint32_t kCarry = 0x40004000;
  constexpr std::uint32_t kTwoToThe8 = 0x5c005c00;
  const std::uint32_t magnitude = spread >> 1 & kMagnitudes;
  const std::uint32_t nan = (magnitude + kLastPlace) & kCarry;
  return ptx::mul_rn_f16x2((spread & kSigns) | magnitude, kTwoToThe8) | nan >> 1;
}

}  // namespace fp8

// The two in the low 16 bits.
LK_DEVICE std::uint32_t decode_e5m2x2(std::uint32_t pair) {
  return fp8::f16x2_of_e5m2_high_bytes(ptx::prmt_b32(pair, 0, fp8::kSpreadLow));
}
LK_DEVICE std::uint32_t decode_e4m3x2(std::uint32_t pair) {
  return fp8::f16x2_of_e4m3_high_bytes(ptx::prmt_b32(pair, 0, fp8::kSpreadLow));
}

// All four of a word.
LK_DEVICE void decode_e5m2x4(std::uint32_t word, std::uint32_t (&d)[2]) {
  d[0] = fp8::f16x2_of_e5m2_high_bytes(ptx::prmt_b32(word, 0, fp8::kSpreadLow));
  d[1] = fp8::f16x2_of_e5m2_high_bytes(ptx::prmt_b32(word, 0, fp8::kSpreadHigh));
}
LK_DEVICE void decode_e4m3x4(std::uint32_t word, std::uint32_t (&d)[2]) {
  d[0] = fp8::f16x2_of_e4m3_high_bytes(ptx::prmt_b32(word, 0, fp8::kSpreadLow));
  d[1] = fp8::f16x2_of_e4m3_high_bytes(ptx::prmt_b32(word, 0, fp8::kSpreadHigh));
}

}  // namespace libkernels::inline LK_BACKEND
