// Storage types on the host, as bits: conversions that round correctly, and the spacing of values.
//
// Written from the formats' definitions and independent of CUDA's headers, so that a test does not
// check a conversion against itself. An element of any type travels as the low bits of a uint32_t.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "include/libkernels/dtype.h"

namespace libkernels::test {

// A binary floating-point format: 1 sign bit, `exponent_bits`, `mantissa_bits` (stored).
struct Format {
  int exponent_bits;
  int mantissa_bits;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int min_exponent() const { return 1 - bias(); }  // of the normal numbers
  constexpr std::uint32_t infinity() const { return ((1u << exponent_bits) - 1u) << mantissa_bits; }
  constexpr std::uint32_t sign() const { return 1u << (bits() - 1); }
};
inline constexpr Format kF32{8, 23};
inline constexpr Format kF16{5, 10};
inline constexpr Format kBF16{8, 7};
inline constexpr Format kE5M2{5, 2};
inline constexpr Format kE4M3{4, 3};  // but for its top: no infinity, one NaN (all bits set)

constexpr Format format_of(DType type) {
  switch (type) {
    case DType::f32:
      return kF32;
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBF16;
    case DType::f8_e5m2:
      return kE5M2;
    case DType::f8_e4m3:
      return kE4M3;
  }
  return kF32;
}

// The value that `bits` stand for; exact (every format fits into a double). Inf and NaN included.
inline double decode(std::uint32_t bits, Format f) {
  const std::uint32_t magnitude = bits & (f.sign() - 1u);
  const double sign = (bits & f.sign()) != 0 ? -1.0 : 1.0;
  if (magnitude > f.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == f.infinity()) return sign * std::numeric_limits<double>::infinity();
  const int exponent = int(magnitude >> f.mantissa_bits);
  const double fraction = double(magnitude & ((1u << f.mantissa_bits) - 1u));
  const double implicit = exponent == 0 ? 0.0 : std::ldexp(1.0, f.mantissa_bits);
  const int scale = exponent == 0 ? f.min_exponent() : exponent - f.bias();
  return sign * std::ldexp(implicit + fraction, scale - f.mantissa_bits);
}

// The bits nearest to `x`, ties to even, overflow to infinity, NaN to a quiet NaN (sign dropped).
inline std::uint32_t encode(double x, Format f) {
  if (std::isnan(x)) return f.infinity() | (1u << (f.mantissa_bits - 1));
  const std::uint32_t sign = std::signbit(x) ? f.sign() : 0u;
  const double a = std::fabs(x);
  if (std::isinf(a)) return sign | f.infinity();
  if (a == 0) return sign;
  // Count in units of the spacing at a. Rounding up into the next binade carries by itself.
  const int exponent = std::max(std::ilogb(a), f.min_exponent());
  const double units = std::ldexp(a, f.mantissa_bits - exponent);  // exact
  double rounded = std::floor(units);
  const double rest = units - rounded;
  if (rest > 0.5 || (rest == 0.5 && std::fmod(rounded, 2.0) == 1.0)) rounded += 1;
  const std::uint32_t biased = std::uint32_t(exponent - f.min_exponent()) << f.mantissa_bits;
  const std::uint32_t magnitude = biased + std::uint32_t(rounded);
  return sign | (magnitude > f.infinity() ? f.infinity() : magnitude);
}

// e4m3 is finite up to 448, where a format with infinities would end at 240: the top exponent
// counts like the others. Beyond 464, and for NaN, NaN.
inline double decode_e4m3(std::uint32_t bits) {
  constexpr std::uint32_t kMagnitude = 0x7f, kTop = 0x78, kBinade = 0x08;
  if ((bits & kMagnitude) < kTop) return decode(bits, kE4M3);
  if ((bits & kMagnitude) == kMagnitude) return std::numeric_limits<double>::quiet_NaN();
  return 2 * decode(bits - kBinade, kE4M3);
}
inline std::uint32_t encode_e4m3(double x) {
  constexpr std::uint32_t kBinade = 0x08, kNaN = 0x7f;
  constexpr double kTop = 256, kMost = 464;  // the tie of 448 and the NaN's place, to even
  if (std::fabs(x) < kTop / 2) return encode(x, kE4M3);
  if (!(std::fabs(x) <= kMost)) return kNaN;
  return encode(x / 2, kE4M3) + kBinade;  // at most 232, which rounds to 224
}

inline double decode(std::uint32_t bits, DType type) {
  return type == DType::f8_e4m3 ? decode_e4m3(bits) : decode(bits, format_of(type));
}
inline std::uint32_t encode(double x, DType type) {
  return type == DType::f8_e4m3 ? encode_e4m3(x) : encode(x, format_of(type));
}

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

inline bool is_nan(std::uint32_t bits, DType type) {
  const Format f = format_of(type);
  if (type == DType::f8_e4m3) return (bits & (f.sign() - 1u)) == f.sign() - 1u;
  return (bits & (f.sign() - 1u)) > f.infinity();
}

// The spacing of the format's values at |x|: the ulp in which errors are counted.
inline double ulp_at(double x, Format f) {
  const double a = std::fabs(x);
  const int exponent = a == 0 ? f.min_exponent() : std::max(std::ilogb(a), f.min_exponent());
  return std::ldexp(1.0, exponent - f.mantissa_bits);
}

// Steps of the format between two finite values; +0 and -0 are the same place.
inline std::int64_t ulp_steps(std::uint32_t a, std::uint32_t b, Format f) {
  const auto place = [&](std::uint32_t bits) {
    const std::int64_t magnitude = bits & (f.sign() - 1u);
    return (bits & f.sign()) != 0 ? -magnitude : magnitude;
  };
  return std::llabs(place(a) - place(b));
}

inline std::uint32_t load_element(const void* p, DType type) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, p, size_of(type));  // little-endian, as every host that CUDA runs on
  return bits;
}
inline void store_element(void* p, std::uint32_t bits, DType type) {
  std::memcpy(p, &bits, size_of(type));
}

}  // namespace libkernels::test
