// Softmax of a row in fp64, and how far from it a kernel may be.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace libkernels::reference {

struct SoftmaxRow {
  std::vector<double> y;
  std::vector<double> bound;  // of the fp32 result; a 16-bit one may be half an ulp further off
};

// log: of the softmax. zero: what a row of only -inf becomes, instead of NaN.
inline SoftmaxRow softmax(const std::vector<double>& x, double scale = 1, bool log = false,
                          bool zero = false) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  double most = -kInf;
  bool poisoned = false;
  for (const double v : x) {
    const double s = scale * v;
    poisoned = poisoned || std::isnan(s) || s == kInf;
    if (s > most) most = s;
  }
  const bool nothing = !poisoned && most == -kInf;
  SoftmaxRow row;
  if (poisoned || nothing) {
    row.y.assign(x.size(), poisoned || !zero ? nan : log ? -kInf : 0.0);
    row.bound.assign(x.size(), 0.0);
    return row;
  }
  double sum = 0, lost = 0;  // Kahan
  for (const double v : x) {
    const double term = std::exp(scale * v - most) - lost;
    const double next = sum + term;
    lost = (next - sum) - term;
    sum = next;
  }
  const double log2_n = std::log2(double(x.size()));
  for (const double v : x) {
    const double d = scale * v - most;
    const double y = log ? d - std::log(sum) : std::exp(d) / sum;
    row.y.push_back(y);
    if (!std::isfinite(y) || d == -kInf) {
      row.bound.push_back(0.0);
    } else if (log) {
      row.bound.push_back(1e-6 * std::fmax(1.0, std::fabs(y)));
    } else {
      row.bound.push_back(std::ldexp(6 - d + log2_n, -23) * y + std::ldexp(1.0, -149));
    }
  }
  return row;
}

}  // namespace libkernels::reference
