// The reference is itself checked: against literals from exact arithmetic, and against the
// definitions where these do not cancel.
#include "tests/reference/gelu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/storage.h"

namespace libkernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(GeluReference, FollowsTheDefinitionWhereItDoesNotCancel) {
  for (double x = -0.9; x < 8; x += 0.0137) {
    const double u = 0.79788456 * (x + 0.044715 * std::pow(x, 3));
    EXPECT_NEAR(reference::gelu_tanh(x), 0.5 * x * (1 + std::tanh(u)), 4e-16 * std::fabs(x)) << x;
    EXPECT_NEAR(reference::gelu_erf(x), 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))),
                4e-16 * std::fabs(x))
        << x;
  }
}

TEST(GeluReference, MatchesExactArithmeticInTheNegativeTail) {
  struct Literal {
    double x, erf, tanh;
  };
  // Exact arithmetic, rounded to fp32; NaN where there is no literal. Two of the published numbers
  // were computed with the root of 2/pi instead of 0.79788456 and are one ulp off: -5.5 (published
  // -5.92764016e-09) and -10 (published -1.20409239e-37) in the tanh form.
  const double none = std::nan("");
  const Literal literals[] = {
      {-3, none, -3.63739207e-03},
      {-4, -1.26684972e-04, -7.02459511e-05},
      {-5, -1.43325781e-06, -2.29179619e-07},
      {-5.5, -1.04442591e-07, -5.92764060e-09},
      {-6, -5.91952576e-09, -8.43964690e-11},
      {-8, -4.97676834e-15, -3.10778299e-21},
      {-10, -7.61985298e-23, -1.20409250e-37},
      {-13, -7.95231385e-38, none},
  };
  for (const Literal& l : literals) {
    if (!std::isnan(l.erf)) {
      EXPECT_EQ(float(reference::gelu_erf(l.x)), float(l.erf)) << l.x;
    }
    if (!std::isnan(l.tanh)) {
      EXPECT_EQ(float(reference::gelu_tanh(l.x)), float(l.tanh)) << l.x;
    }
  }
  EXPECT_EQ(bits_of(float(reference::gelu_erf(-5))), 0xB5C05E5Du);
  EXPECT_EQ(bits_of(float(reference::gelu_tanh(-5))), 0xB476146Au);
}

TEST(GeluReference, SpecialValues) {
  for (const auto f : {reference::gelu_tanh, reference::gelu_erf}) {
    EXPECT_EQ(f(kInf), kInf);
    EXPECT_EQ(f(-kInf), 0.0);
    EXPECT_TRUE(std::isnan(f(std::nan(""))));
    EXPECT_FALSE(std::signbit(f(0.0)));
    EXPECT_TRUE(std::signbit(f(-0.0)));
    EXPECT_EQ(f(1e30), 1e30);
    EXPECT_EQ(f(-1e30), 0.0);
  }
}

TEST(GeluReference, SpacingIsTheFormats) {
  for (const double a : {0.0, 1e-45, 1.1754943e-38, 1.1754944e-38, 0.75, 1.0, 1.5, 2.0, 3.0e38}) {
    EXPECT_EQ(reference::ulp_f32(a), ulp_at(a, kF32)) << a;
    EXPECT_EQ(reference::ulp_bf16(a), ulp_at(a, kBF16)) << a;
    EXPECT_EQ(reference::ulp_f16(a), ulp_at(a, kF16)) << a;
  }
  EXPECT_EQ(reference::ulp_f32(1.0), std::ldexp(1.0, -23));
  EXPECT_EQ(reference::ulp_f16(1.0), std::ldexp(1.0, -10));
}

TEST(GeluReference, BoundsAreThoseOfTheContract) {
  EXPECT_EQ(reference::gelu_erf_bound(1.0, 0.84), 4 * std::ldexp(1.0, -24));
  EXPECT_EQ(reference::gelu_tanh_bound(-1.0, -0.158), 4 * std::ldexp(1.0, -26));
  EXPECT_DOUBLE_EQ(reference::gelu_erf_bound(-4.0, -1e-4), 20e-4 / (1 << 23));
  const double u = std::fabs(0.79788456 * (-4 + 0.044715 * -64));
  EXPECT_DOUBLE_EQ(reference::gelu_tanh_bound(-4.0, -1e-4), (4 + 4 * u) * 1e-4 / (1 << 23));
  EXPECT_EQ(reference::gelu_erf_bound(-20.0, 0.0), std::ldexp(1.0, -149));
}

}  // namespace
}  // namespace libkernels::test
