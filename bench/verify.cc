#include "bench/verify.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace libkernels::bench {
namespace {

struct Format {
  int mantissa_bits;
  int min_exponent;  // of normal values
};

Format format_of(DType type) {
  switch (type) {
    case DType::f16:
      return {.mantissa_bits = 10, .min_exponent = -14};
    case DType::bf16:
      return {.mantissa_bits = 7, .min_exponent = -126};
    default:
      return {.mantissa_bits = 23, .min_exponent = -126};
  }
}

void encode(DType type, float value, void* array, std::size_t i) {
  auto* bytes = static_cast<std::byte*>(array) + i * size_of(type);
  if (type == DType::f32) {
    std::memcpy(bytes, &value, sizeof(value));
  } else if (type == DType::f16) {
    const __half h = __float2half_rn(value);
    std::memcpy(bytes, &h, sizeof(h));
  } else if (size_of(type) == 1) {
    *bytes = std::byte{__nv_cvt_float_to_fp8(value, __NV_SATFINITE,
                                             type == DType::f8_e4m3 ? __NV_E4M3 : __NV_E5M2)};
  } else {
    const __nv_bfloat16 b = __float2bfloat16_rn(value);
    std::memcpy(bytes, &b, sizeof(b));
  }
}

// What the definition says, to the digits it says.
double tanh_argument(double x) { return 0.79788456 * (x + 0.044715 * x * x * x); }

}  // namespace

double gelu_reference(double x, GeluForm form) {
  // 0.5 (1 + tanh u) = 1 / (1 + exp(-2u)) and 0.5 (1 + erf z) = 0.5 erfc(-z) keep the digits that
  // the definitions lose for x << 0.
  if (form == GeluForm::tanh) return x / (1 + std::exp(-2 * tanh_argument(x)));
  return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
}

double ulp(DType type, double value) {
  const Format format = format_of(type);
  const int exponent = value == 0 ? format.min_exponent
                                  : std::max(std::ilogb(std::fabs(value)), format.min_exponent);
  return std::ldexp(1.0, exponent - format.mantissa_bits);
}

double gelu_bound(double x, double ref, GeluForm form, DType y_type) {
  const double growth = form == GeluForm::erf ? 4 + x * x : 4 + 4 * std::fabs(tanh_argument(x));
  const double fp32 = x >= -1 ? 4 * ulp(DType::f32, ref)
                              : std::ldexp(growth, -23) * std::fabs(ref) + std::ldexp(1.0, -149);
  return y_type == DType::f32 ? fp32 : fp32 + 0.5 * ulp(y_type, ref);
}

double baseline_bound(double x, DType x_type) {
  constexpr int kSteps = 16;  // more than any chain here has roundings
  return kSteps * ulp(x_type, 1.0) * std::max(1.0, std::fabs(x));
}

double decode(DType type, const void* array, std::size_t i) {
  const auto* bytes = static_cast<const std::byte*>(array) + i * size_of(type);
  if (type == DType::f32) {
    float v;
    std::memcpy(&v, bytes, sizeof(v));
    return v;
  }
  std::uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  if (type == DType::f16) return __half2float(__ushort_as_half(bits));
  return __bfloat162float(__ushort_as_bfloat16(bits));
}

std::vector<std::byte> normal_values(DType type, std::size_t n, std::uint64_t seed) {
  std::vector<std::byte> values(n * size_of(type));
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < n; ++i) encode(type, normal(engine), values.data(), i);
  return values;
}

GeluReference::GeluReference(DType x_type, DType y_type, GeluForm form, std::size_t n,
                             std::uint64_t seed)
    : x_type(x_type),
      y_type(y_type),
      form(form),
      x(normal_values(x_type, n, seed)),
      y(n),
      y_ulp(n),
      bound(n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double v = decode(x_type, x.data(), i);
    y[i] = gelu_reference(v, form);
    y_ulp[i] = ulp(y_type, y[i]);
    bound[i] = gelu_bound(v, y[i], form, y_type);
  }
}

ErrorSummary compare(const GeluReference& reference, const void* y, std::size_t n) {
  ErrorSummary summary;
  for (std::size_t i = 0; i < std::min(n, reference.y.size()); ++i) {
    const double got = decode(reference.y_type, y, i);
    if (!std::isfinite(got)) {
      ++summary.not_finite;
      continue;
    }
    const double error = std::fabs(got - reference.y[i]);
    const double fraction = error / reference.bound[i];
    summary.max_ulp = std::max(summary.max_ulp, error / reference.y_ulp[i]);
    const double x = decode(reference.x_type, reference.x.data(), i);
    summary.max_baseline_fraction =
        std::max(summary.max_baseline_fraction, error / baseline_bound(x, reference.x_type));
    if (fraction > summary.max_fraction) {
      summary.max_fraction = fraction;
      summary.worst = i;
    }
  }
  return summary;
}

}  // namespace libkernels::bench
