// GeLU's special values, and the published bug cases about single values, by their names.
// Cost: 0.3 s emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/gelu/gelu_fixture.h"

namespace libkernels::test {
namespace {

class GeluSpecialValues : public GeluTest {
 protected:
  static std::uint32_t x_of(double v) { return encode(v, param().x_type); }
  static std::uint32_t y_of(double v) { return encode(v, param().y_type); }
  static bool is_zero(std::uint32_t bits) { return decode(bits, param().y_type) == 0; }

  // Around a literal that was rounded to fp32.
  static void expect_near(double x, double literal, std::uint32_t got) {
    const double value = decode(got, param().y_type);
    const double allowed = bound(x, literal) + ulp_at(literal, kF32);
    EXPECT_LE(std::fabs(value - literal), allowed) << "x " << x << " got " << value;
  }
};

constexpr double kInf = std::numeric_limits<double>::infinity();

// A8: infinities and signed zeros, NaN.
TEST_P(GeluSpecialValues, A8InfinitiesZerosAndNaN) {
  const Format f = format_of(param().x_type);
  Bits x{x_of(-kInf), x_of(kInf), x_of(0.0), x_of(-0.0)};
  for (const std::uint32_t nan : {f.infinity() + 1, f.infinity() | 1u << (f.mantissa_bits - 1),
                                  f.sign() - 1, f.sign() | (f.infinity() + 1)}) {
    x.push_back(nan);
  }
  const Bits y = evaluate(x);
  EXPECT_TRUE(is_zero(y[0])) << show(y[0], param().y_type);
  EXPECT_EQ(y[1], y_of(kInf));
  EXPECT_EQ(y[2], y_of(0.0));
  EXPECT_EQ(y[3], y_of(-0.0));
  for (std::size_t i = 4; i < x.size(); ++i) EXPECT_TRUE(is_nan(y[i], param().y_type)) << i;
}

// A9: a quotient of exponentials, or the cubic argument, overflows.
TEST_P(GeluSpecialValues, A9LargeValues) {
  const double magnitudes[] = {10.5, 11, 13.25, 21.75, 50, 1e4, 7e12, 3e38};
  Bits x;
  for (const double m : magnitudes) {
    x.push_back(x_of(m));
    x.push_back(x_of(-m));
  }
  const Bits y = evaluate(x);
  for (std::size_t i = 0; i < x.size(); i += 2) {
    // In f16 the last two are infinities already, and stay.
    EXPECT_EQ(y[i], y_of(decode(x[i], param().x_type))) << magnitudes[i / 2];
    if (param().form == LK_GELU_TANH && magnitudes[i / 2] >= 13.25) {
      EXPECT_TRUE(is_zero(y[i + 1])) << -magnitudes[i / 2] << " " << show(y[i + 1], param().y_type);
    }
    EXPECT_FALSE(is_nan(y[i + 1], param().y_type)) << -magnitudes[i / 2];
  }
  if (param().form != LK_GELU_TANH) return;
  if (param().y_type == DType::f32) {
    expect_near(-10.5, -7.42688e-43, y[1]);
    EXPECT_FALSE(is_zero(y[1])) << "the subnormal result was flushed";
  } else {
    EXPECT_TRUE(is_zero(y[1]));
  }
}

struct Literal {
  double x, y;
};

// B1: 1 + erf cancels.
TEST_P(GeluSpecialValues, B1NegativeTailOfErf) {
  if (param().form != LK_GELU_ERF) GTEST_SKIP() << "a case of the other form";
  const std::vector<Literal> literals = {
      {-4, -1.26684972e-04}, {-5, -1.43325781e-06},  {-5.5, -1.04442591e-07}, {-6, -5.91952576e-09},
      {-8, -4.97676834e-15}, {-10, -7.61985298e-23}, {-13, -7.95231385e-38}};
  Bits x;
  for (const Literal& l : literals) x.push_back(x_of(l.x));
  const Bits y = evaluate(x);
  for (std::size_t i = 0; i < x.size(); ++i) expect_near(literals[i].x, literals[i].y, y[i]);
  if (param().y_type == DType::bf16) {
    EXPECT_EQ(y[3], encode(-5.90808e-09, kBF16));
  }
  if (param().y_type == DType::f16) {
    EXPECT_EQ(y[2], encode(-1.19209e-07, kF16));
  }
}

// B2: 1 + tanh cancels, and x / (1 + exp(-2u)) overflows from -10.06 on.
TEST_P(GeluSpecialValues, B2NegativeTailOfTanh) {
  if (param().form != LK_GELU_TANH) GTEST_SKIP() << "a case of the other form";
  const std::vector<Literal> literals = {
      {-3, -3.63739207e-03}, {-4, -7.02459511e-05}, {-5, -2.29179619e-07}, {-5.5, -5.92764016e-09},
      {-6, -8.43964690e-11}, {-8, -3.10778299e-21}, {-10, -1.20409239e-37}};
  Bits x;
  for (const Literal& l : literals) x.push_back(x_of(l.x));
  const Bits y = evaluate(x);
  for (std::size_t i = 0; i < x.size(); ++i) expect_near(literals[i].x, literals[i].y, y[i]);
}

// D3: two elements at an odd element offset.
TEST_P(GeluSpecialValues, D3PairAtAnOddOffset) {
  const Bits x_bits{x_of(0.5), x_of(-0.5)};
  StridedMatrix x(device(), param().x_type, row_major(1, 2, 2, 1), x_bits);
  StridedMatrix y(device(), param().y_type, row_major(1, 2, 2, 1));
  call(x.cview(), y.view());
  const Bits got = y.read();
  for (std::size_t i = 0; i < 2; ++i) {
    const double v = decode(x_bits[i], param().x_type);
    EXPECT_LE(std::fabs(decode(got[i], param().y_type) - reference(v)), bound(v, reference(v)));
  }
  if (param().y_type == DType::f16) {
    EXPECT_EQ(got[0], encode(0.345703, kF16));
    EXPECT_EQ(got[1], encode(-0.154297, kF16));
  }
  EXPECT_TRUE(y.gaps_intact());
}

INSTANTIATE_TEST_SUITE_P(, GeluSpecialValues, testing::ValuesIn(gelu_params()), gelu_name);

}  // namespace
}  // namespace libkernels::test
