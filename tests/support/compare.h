// Comparing many elements and saying well what is wrong: at most five are reported, with index,
// input, got, expected and the bound, and then how many there were.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/storage.h"

namespace libkernels::test {

// "-1.04442591e-07 (0xB3E049EC)".
inline std::string show(std::uint32_t bits, DType type) {
  std::ostringstream text;
  text << std::setprecision(9) << decode(bits, type) << " (0x" << std::uppercase << std::hex
       << std::setfill('0') << std::setw(2 * int(size_of(type))) << bits << ")";
  return text.str();
}

class Failures {
 public:
  static constexpr std::size_t kReported = 5;

  template <class... Parts>
  void add(std::size_t index, const Parts&... parts) {
    if (count_++ >= kReported) return;
    text_ << "\n  [" << index << "]";
    ((text_ << " " << parts), ...);
  }
  std::size_t count() const { return count_; }

  // Success if nothing was added.
  testing::AssertionResult result(std::size_t compared) const {
    if (count_ == 0) return testing::AssertionSuccess();
    auto failure = testing::AssertionFailure();
    failure << count_ << " of " << compared << " elements are wrong:" << text_.str();
    if (count_ > kReported) failure << "\n  ... and " << count_ - kReported << " more";
    return failure;
  }

 private:
  std::ostringstream text_;
  std::size_t count_ = 0;
};

enum class NaNs { same_bits, same_class };  // same_class: any NaN equals any NaN

inline testing::AssertionResult bits_equal(const std::vector<std::uint32_t>& got,
                                           const std::vector<std::uint32_t>& expected, DType type,
                                           NaNs nans = NaNs::same_bits) {
  if (got.size() != expected.size()) {
    return testing::AssertionFailure()
           << "got " << got.size() << " elements, expected " << expected.size();
  }
  Failures failures;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (nans == NaNs::same_class && is_nan(got[i], type) && is_nan(expected[i], type)) continue;
    failures.add(i, "got", show(got[i], type), "expected", show(expected[i], type));
  }
  return failures.result(got.size());
}

// |got - reference(x)| <= bound(x, reference): both functions of the decoded input, in fp64. Where
// the reference is not finite got must equal it (any NaN for a NaN). `largest`, unless null,
// receives the largest error in units of the bound.
template <class Reference, class Bound>
testing::AssertionResult within_bound(const std::vector<std::uint32_t>& x, DType x_type,
                                      const std::vector<std::uint32_t>& got, DType y_type,
                                      Reference reference, Bound bound, double* largest = nullptr) {
  if (got.size() != x.size()) {
    return testing::AssertionFailure()
           << "got " << got.size() << " elements, expected " << x.size();
  }
  Failures failures;
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double input = decode(x[i], x_type);
    const double value = decode(got[i], y_type);
    const double expected = reference(input);
    if (!std::isfinite(expected)) {
      const bool same = std::isnan(expected) ? std::isnan(value) : value == expected;
      if (!same) {
        failures.add(i, "x", show(x[i], x_type), "got", show(got[i], y_type), "expected", expected);
      }
      continue;
    }
    const double allowed = bound(input, expected);
    const double error = std::fabs(value - expected);
    if (!(error <= allowed)) {  // a NaN fails too
      failures.add(i, "x", show(x[i], x_type), "got", show(got[i], y_type), "expected", expected,
                   "error", error, "bound", allowed);
    } else if (allowed > 0) {
      worst = std::max(worst, error / allowed);
    }
  }
  if (largest != nullptr) *largest = worst;
  return failures.result(x.size());
}

}  // namespace libkernels::test
