// Conversions, exact by PTX, and approximations, modelled within their documented bounds
// (PTX manual, floating-point instructions).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "kernels/ptx/emu/core.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::emulator {
namespace {

constexpr double kUlpsEx2 = 2;
constexpr double kUlpsRcp = 1;
constexpr double kRelativeLg2 = 0x1p-22;  // and absolute on (0.5, 2)
const double kRelativeRsqrt = std::exp2(-22.9);
constexpr double kRelativeTanh = 0x1p-11;

// Distance of the floats around y.
double ulp_of(double y) {
  constexpr int kMantissaBits = 23, kSmallestExponent = -149;
  return std::ldexp(1.0, std::max(std::ilogb(y) - kMantissaBits, kSmallestExponent));
}

// Up or down, the same for the same input, and as if at random.
bool error_is_upward(float x) {
  std::uint32_t h = std::bit_cast<std::uint32_t>(x) * 0x9e3779b1u;
  h ^= h >> 15;
  h *= 0x85ebca77u;
  return h >> 31;
}

// The float for the exact result y: the nearest one, or the furthest that `error` allows. Results
// that the manual tabulates (of zeros, infinities and NaN) are exact, and so is an overflow.
template <class Error>
float rounded(float x, double y, Error largest_error) {
  if (!settings().worst_ulp || x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(float(y))) {
    return float(y);
  }
  const bool up = error_is_upward(x);
  const double error = largest_error() * (1 - 0x1p-30);  // y itself is rounded
  const double target = up ? y + error : y - error;
  float f = float(target);
  if (up && double(f) > target) f = std::nextafterf(f, -INFINITY);
  if (!up && double(f) < target) f = std::nextafterf(f, INFINITY);
  return f;
}

}  // namespace

float ex2_approx(float x) {
  const double y = std::exp2(double(x));
  return rounded(x, y, [&] { return kUlpsEx2 * ulp_of(y); });
}

float lg2_approx(float x) {
  const double y = std::log2(double(x));
  return rounded(x, y, [&] { return kRelativeLg2 * (x > 0.5f && x < 2 ? 1 : std::fabs(y)); });
}

float rcp_approx(float x) {
  const double y = 1 / double(x);
  return rounded(x, y, [&] { return kUlpsRcp * ulp_of(y); });
}

float rsqrt_approx(float x) {
  const double y = 1 / std::sqrt(double(x));
  return rounded(x, y, [&] { return kRelativeRsqrt * y; });
}

float tanh_approx(float x) {
  const double y = std::tanh(double(x));
  const auto error = [&] { return kRelativeTanh * std::fabs(y); };
  return std::clamp(rounded(x, y, error), -1.0f, 1.0f);
}

float f32_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) {
    // A NaN keeps no payload: the canonical one comes out.
    return std::bit_cast<float>(mantissa ? 0x7fffffffu : sign | 0x7f800000u);
  }
  if (exponent == 0) {
    const float magnitude = float(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}

std::uint16_t f16_from_f32(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const auto sign = std::uint16_t(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return 0x7fff;
  constexpr std::uint32_t kOverflow = 0x477ff000;        // 65520: halfway to the next power of two
  constexpr std::uint32_t kSmallestNormal = 0x38800000;  // 2^-14
  if (magnitude >= kOverflow) return sign | 0x7c00;
  if (magnitude < kSmallestNormal) {
    // Adding 0.5 leaves the multiple of 2^-24 in the mantissa, rounded to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return sign | std::uint16_t(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000);
  }
  const std::uint32_t odd = magnitude >> 13 & 1;
  const std::uint32_t rebiased = magnitude - (std::uint32_t(127 - 15) << 23);
  return sign | std::uint16_t((rebiased + 0xfff + odd) >> 13);
}

std::uint16_t bf16_from_f32(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  const std::uint32_t odd = bits >> 16 & 1;
  return std::uint16_t((bits + 0x7fff + odd) >> 16);
}

}  // namespace libkernels::emulator
