#include "kernels/ptx/emu/mma_model.h"

#include <algorithm>
#include <bit>

namespace libkernels::emulator {
namespace {

constexpr std::uint32_t kNaN = 0x7fffffff;
constexpr std::uint32_t kInf = 0x7f800000;
constexpr int kF32Fraction = 23, kF32Bias = 127, kF32MinExponent = -126;

// Exponents that no finite number has, and the one that zeros are given.
constexpr int kInfExponent = 1 << 10, kNaNExponent = 1 << 11, kZeroExponent = -126;

struct Format {
  int exponent_bits, fraction_bits, dropped_bits;
  bool has_inf;
};
constexpr Format format_of(MmaInput type) {
  switch (type) {
    case MmaInput::f16:
      return {5, 10, 0, true};
    case MmaInput::bf16:
      return {8, 7, 0, true};
    case MmaInput::tf32:
      return {8, 10, 13, true};
    case MmaInput::e4m3:
      return {4, 3, 0, false};
    case MmaInput::e5m2:
      return {5, 2, 0, true};
  }
  return {};
}

struct Number {
  std::int32_t significand;  // an integer, with the sign
  std::int32_t exponent;     // of its bit `fraction_bits`
};

[[gnu::always_inline]] inline Number decode(const Format& f, std::uint32_t bits) {
  bits >>= f.dropped_bits;
  const std::uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
  const std::uint32_t top = (1u << f.exponent_bits) - 1;
  const std::uint32_t biased = bits >> f.fraction_bits & top;
  const bool negative = bits >> (f.fraction_bits + f.exponent_bits) & 1;
  const int bias = int(top >> 1);
  auto significand = std::int32_t(fraction);
  int exponent = 1 - bias;
  if (biased == top && (f.has_inf || fraction == (1u << f.fraction_bits) - 1)) {
    significand = 1;
    exponent = f.has_inf && fraction == 0 ? kInfExponent : kNaNExponent;
  } else if (biased) {
    significand |= 1 << f.fraction_bits;
    exponent = int(biased) - bias;
  } else if (fraction == 0) {
    exponent = kZeroExponent;
  }
  return {negative ? -significand : significand, exponent};
}

constexpr Format kF32{8, kF32Fraction, 0, true};

// The sum where some operand is no finite number.
std::uint32_t sum_special(const MmaVector& a, const MmaVector& b, int n, const Number& c) {
  bool nan = c.exponent == kNaNExponent;
  bool inf[2] = {};  // of either sign
  if (c.exponent == kInfExponent) inf[c.significand < 0] = true;
  for (int i = 0; i < n; ++i) {
    const int largest = std::max(a.exponent[i], b.exponent[i]);
    if (largest < kInfExponent) continue;
    const int sa = a.significand[i], sb = b.significand[i];
    if (largest >= kNaNExponent || sa == 0 || sb == 0) {
      nan = true;
    } else {
      inf[(sa < 0) != (sb < 0)] = true;
    }
  }
  if (nan || (inf[0] && inf[1])) return kNaN;
  return inf[1] ? kInf | 1u << 31 : kInf;
}

// sum 2^unit as fp32, truncated, with `kept` bits behind its leading one.
std::uint32_t truncate(std::int64_t sum, int unit, int kept) {
  if (sum == 0) return 0;
  const std::uint32_t sign = sum < 0 ? 1u << 31 : 0;
  const auto magnitude = std::uint64_t(sum < 0 ? -sum : sum);
  const int exponent = std::max(unit + int(std::bit_width(magnitude)) - 1, kF32MinExponent);
  if (exponent > kF32Bias) return sign | kInf;
  const int shift = exponent - kF32Fraction - unit;
  const auto significand = std::uint32_t(shift >= 0 ? magnitude >> shift : magnitude << -shift);
  const std::uint32_t bits = significand >> kF32Fraction
                                 ? std::uint32_t(exponent + kF32Bias) << kF32Fraction |
                                       (significand & ((1u << kF32Fraction) - 1))
                                 : significand;
  return sign | (bits >> (kF32Fraction - kept) << (kF32Fraction - kept));
}

[[gnu::always_inline]] inline std::int64_t shifted(std::uint32_t magnitude, int right,
                                                   bool negative) {
  const auto v = std::int64_t(magnitude >> std::min(right, 31));
  return negative ? -v : v;
}

// Products, with `widen` more bits behind the point, aligned to the largest exponent, which grows
// to cover them. None exceeds 2^27.
template <int kCount>
std::int64_t sum_products(const MmaVector& a, const MmaVector& b, int widen, int* largest) {
  std::int32_t exponents[kCount];
  int top = *largest;
  for (int i = 0; i < kCount; ++i) {
    exponents[i] = a.exponent[i] + b.exponent[i];
    top = std::max(top, exponents[i]);
  }
  std::int64_t sum = 0;
  for (int i = 0; i < kCount; ++i) {
    const std::int32_t product = a.significand[i] * b.significand[i];
    const std::int32_t sign = product >> 31;
    const std::uint32_t magnitude = std::uint32_t((product ^ sign) - sign) << widen;
    const auto aligned = std::int32_t(magnitude >> std::min(top - exponents[i], 31));
    sum += (aligned ^ sign) - sign;
  }
  *largest = top;
  return sum;
}

template <MmaInput kType>
void decode_all(const std::uint32_t* bits, int n, MmaVector* v) {
  int largest = 0;
  for (int i = 0; i < n; ++i) {
    const Number x = decode(format_of(kType), bits[i]);
    v->significand[i] = x.significand;
    v->exponent[i] = x.exponent;
    largest = std::max(largest, x.exponent);
  }
  v->finite = largest < kInfExponent;
  v->fraction_bits = format_of(kType).fraction_bits;
}

}  // namespace

MmaNumerics mma_sync_numerics(int cc, MmaInput type, int k) {
  // One block of 32 bytes of K from Hopper on, two of 16 before.
  constexpr int kBytesSm80 = 16;
  const int bytes = type == MmaInput::tf32 ? 4 : type <= MmaInput::bf16 ? 2 : 1;
  MmaNumerics n{.block = k, .fraction_bits = 25, .output_bits = kF32Fraction};
  if (cc >= 90) return n;
  n.block = std::min(k, kBytesSm80 / bytes);
  n.fraction_bits = 24;
  if (bytes == 1) n.fraction_bits = n.output_bits = 13;
  return n;
}

MmaNumerics wgmma_numerics(MmaInput a) {
  constexpr int kBytes = 32, kBitsFp8 = 13;
  const int bytes = a == MmaInput::tf32 ? 4 : a <= MmaInput::bf16 ? 2 : 1;
  MmaNumerics n{.block = kBytes / bytes, .fraction_bits = 25, .output_bits = kF32Fraction};
  if (bytes == 1) n.fraction_bits = n.output_bits = kBitsFp8;
  return n;
}

void MmaVector::decode(MmaInput type, const std::uint32_t* bits, int n) {
  switch (type) {
    case MmaInput::f16:
      return decode_all<MmaInput::f16>(bits, n, this);
    case MmaInput::bf16:
      return decode_all<MmaInput::bf16>(bits, n, this);
    case MmaInput::tf32:
      return decode_all<MmaInput::tf32>(bits, n, this);
    case MmaInput::e4m3:
      return decode_all<MmaInput::e4m3>(bits, n, this);
    case MmaInput::e5m2:
      return decode_all<MmaInput::e5m2>(bits, n, this);
  }
}

std::uint32_t mma_block(const MmaNumerics& numerics, const MmaVector& a, const MmaVector& b, int n,
                        std::uint32_t c_bits) {
  const Number c = decode(kF32, c_bits);
  if (!a.finite || !b.finite || c.exponent >= kInfExponent) return sum_special(a, b, n, c);
  const int fraction = numerics.fraction_bits;
  const int widen = fraction - a.fraction_bits - b.fraction_bits;
  int largest = c.exponent;
  std::int64_t sum = 0;
  switch (n) {  // the lengths that instructions have, for the sake of speed
    case 4:
      sum = sum_products<4>(a, b, widen, &largest);
      break;
    case 8:
      sum = sum_products<8>(a, b, widen, &largest);
      break;
    case 16:
      sum = sum_products<16>(a, b, widen, &largest);
      break;
    case 32:
      sum = sum_products<32>(a, b, widen, &largest);
      break;
    default:
      __builtin_unreachable();
  }
  const auto magnitude = std::uint32_t(c.significand < 0 ? -c.significand : c.significand);
  const int narrow = kF32Fraction - fraction;
  sum += shifted(narrow > 0 ? magnitude : magnitude << -narrow,
                 largest - c.exponent + std::max(narrow, 0), c.significand < 0);
  return truncate(sum, largest - fraction, numerics.output_bits);
}

}  // namespace libkernels::emulator
