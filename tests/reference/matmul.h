// Matmul in fp64, and how far from it a kernel may be: the definition, element by element.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/reference/gelu.h"

namespace libkernels::reference {

enum class MatmulActivation { none, relu, gelu_tanh, gelu_erf };

// C = act(alpha A B + beta C_in + bias), all row major; alpha holds the scales. Empty: absent.
struct MatmulProblem {
  std::int64_t m, n, k;
  std::vector<double> a, b;        // m x k, k x n
  std::vector<double> c_in, bias;  // m x n, n
  double alpha = 1, beta = 0;
  MatmulActivation activation = MatmulActivation::none;
  double least_normal = 0;  // of the type that tensor cores take: S counts no factor as less
};

struct MatmulElement {
  double value;  // of C
  double sum;    // S: the sum of the terms' magnitudes
  double inner;  // what the activation was given
};

LK_REFERENCE double activate(double x, MatmulActivation activation) {
  switch (activation) {
    case MatmulActivation::none:
      return x;
    case MatmulActivation::relu:
      return x < 0 ? 0 : x;  // NaN stays
    case MatmulActivation::gelu_tanh:
      return gelu_tanh(x);
    case MatmulActivation::gelu_erf:
      return gelu_erf(x);
  }
  return x;
}

inline std::vector<MatmulElement> matmul(const MatmulProblem& p) {
  std::vector<MatmulElement> c;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double value = 0, sum = 0;
      for (std::int64_t l = 0; l < p.k && p.alpha != 0; ++l) {
        const double a = p.a[std::size_t(i * p.k + l)], b = p.b[std::size_t(l * p.n + j)];
        value += p.alpha * a * b;
        if (a == 0 || b == 0) continue;
        sum += std::fabs(p.alpha) * std::fmax(std::fabs(a), p.least_normal) *
               std::fmax(std::fabs(b), p.least_normal);
      }
      if (p.beta != 0) {
        value += p.beta * p.c_in[std::size_t(i * p.n + j)];
        sum += std::fabs(p.beta * p.c_in[std::size_t(i * p.n + j)]);
      }
      if (!p.bias.empty()) {
        value += p.bias[std::size_t(j)];
        sum += std::fabs(p.bias[std::size_t(j)]);
      }
      c.push_back({activate(value, p.activation), sum, value});
    }
  }
  return c;
}

// ---- E of the contract, in units of S ---------------------------------------------------------

inline double matmul_bound_fp32(std::int64_t k, bool zero_mean) {
  return std::ldexp(zero_mean ? std::fmax(8, std::sqrt(double(k)) / 2) : 4.0 + double(k), -24);
}
// `cc_major` 8 adds its products in shorter blocks and keeps a bit less of each.
inline double matmul_bound_16bit(std::int64_t k, bool zero_mean, int cc_major) {
  const int coarser = cc_major < 9 ? 2 : 1;
  const double random = coarser * std::fmax(2, std::sqrt(double(k)) / 8);
  const double always = 3 + double(k) * (cc_major < 9 ? 0.625 : 0.5);
  return std::ldexp(zero_mean ? random : always, -23);
}
// Of fp8 in wgmma, whose sums over 128 of K keep about 13 bits.
inline double matmul_bound_f8_sm90(bool zero_mean) { return std::ldexp(1.0, zero_mean ? -9 : -6); }
inline double matmul_bound_tf32(std::int64_t k, bool zero_mean, int cc_major) {
  return std::ldexp(1.0, -10) + matmul_bound_16bit(k, zero_mean, cc_major);
}
// The part of E that S does not scale: sums are fp32 before alpha and the scales.
inline double matmul_bound_absolute(std::int64_t k, double alpha) {
  return std::ldexp(2 + double(k) * std::fabs(alpha), -149);
}

// What a GeLU at the end makes of an error e of its argument, and its own.
LK_REFERENCE double matmul_activation_bound(double e, const MatmulElement& element,
                                            MatmulActivation activation) {
  constexpr double kMostSlope = 1.13;
  if (activation == MatmulActivation::gelu_tanh) {
    return kMostSlope * e + gelu_tanh_bound(element.inner, element.value);
  }
  if (activation == MatmulActivation::gelu_erf) {
    return kMostSlope * e + gelu_erf_bound(element.inner, element.value);
  }
  return e;
}

}  // namespace libkernels::reference
