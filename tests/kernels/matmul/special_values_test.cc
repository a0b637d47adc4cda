// NaN, infinities, subnormals and overflow: what they become, and where they must not come from.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class MatmulSpecial : public MatmulTest {
 protected:
  static bool has_infinity(DType t) { return t != DType::f8_e4m3; }
  static Bits filled(std::int64_t count, double value, DType type) {
    return Bits(std::size_t(count), encode(value, type));
  }
  // a row of one value times a column of another, 1 x 1 x k, with bias and activation.
  static double one(double a, double b, double bias, lk_activation act) {
    MatmulCase t(1, 1, 1);
    t.a_bits = {encode(a, types().a)};
    t.b_bits = {encode(b, types().b)};
    t.bias_bits = {encode(bias, DType::f32)};
    t.options.activation = act;
    const auto got = run(t);
    return got ? decode((*got)[0], types().c) : kNaN;
  }
  // Or does the kernel leave a product of one element to the portable one?
  static bool takes_one() {
    MatmulCase t(1, 1, 1);
    t.a_bits = {encode(1, types().a)};
    t.b_bits = {encode(1, types().b)};
    return run(t).has_value();
  }
};

// A5: relu keeps NaN, whatever it comes from.
TEST_P(MatmulSpecial, A5ReluKeepsNaN) {
  if (!portable()) GTEST_SKIP() << "one element is the portable kernel's";
  EXPECT_TRUE(std::isnan(one(kNaN, 1, 0, LK_ACT_RELU)));
  EXPECT_TRUE(std::isnan(one(0, 1, kNaN, LK_ACT_RELU)));
  if (has_infinity(types().a)) {
    EXPECT_TRUE(std::isnan(one(kInf, 0, 0, LK_ACT_RELU)));
    EXPECT_EQ(one(kInf, 1, 0, LK_ACT_RELU), kInf);
    EXPECT_EQ(one(-kInf, 1, 0, LK_ACT_RELU), 0);
    EXPECT_EQ(one(-kInf, 1, 0, LK_ACT_GELU_ERF), 0);
    EXPECT_EQ(one(-kInf, 1, 0, LK_ACT_GELU_TANH), 0);
  }
  EXPECT_EQ(one(-1, 1, 0, LK_ACT_RELU), 0);
}

// A10: the largest values come through relu.
TEST_P(MatmulSpecial, A10ReluDoesNotOverflow) {
  if (types().a != DType::f32) GTEST_SKIP() << "of f32";
  if (!takes_one()) GTEST_SKIP() << "one element is the portable kernel's";
  EXPECT_EQ(one(0x1p127, 1, 0, LK_ACT_RELU), 0x1p127);
}

// E8: NaN beyond the operands' bounds, in the next rows and in the gaps, touches no result; NaN
// within them stays in its row and its column.
TEST_P(MatmulSpecial, E8NaNStaysInItsRowAndColumn) {
  MatmulCase t(16, 64, 33);
  t.a = row_major(t.m, t.k, 64);
  t.a_bits = filled(t.m * t.k, kNaN, types().a);
  for (std::int64_t l = 0; l < t.k; ++l) t.a_bits[std::size_t(l)] = encode(1, types().a);
  t.b_bits = filled(t.k * t.n, 1, types().b);
  t.b_bits[5] = encode(kNaN, types().b);  // column 5
  const auto got = run(t);
  if (!got) return;
  for (std::int64_t i = 0; i < t.m; ++i) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      const double v = decode((*got)[std::size_t(i * t.n + j)], types().c);
      if (i == 0 && j != 5) {
        EXPECT_EQ(v, 33) << j;
      } else {
        EXPECT_TRUE(std::isnan(v)) << i << "," << j;
      }
    }
  }
}

// ... and leaves the others' bits as they are: tf32x3 splits otherwise where it meets such a value.
TEST_P(MatmulSpecial, E8NaNChangesNoOtherRowsBits) {
  MatmulCase t(20, 24, 40);
  t.a_bits = normal_bits(std::size_t(t.m * t.k), types().a, 1);
  t.b_bits = normal_bits(std::size_t(t.k * t.n), types().b, 2);
  const auto before = run(t);
  if (!before) return;
  t.a_bits[std::size_t(7 * t.k + 11)] = encode(kNaN, types().a);
  const auto after = run(t);
  for (std::int64_t i = 0; i < t.m * t.n; ++i) {
    if (i / t.n == 7) continue;
    EXPECT_EQ((*after)[std::size_t(i)], (*before)[std::size_t(i)]) << i;
  }
}

// Infinities meet finite values of every kind: tf32x3's split must not make NaN of them.
TEST_P(MatmulSpecial, InfinitiesGiveWhatThePlainProductGives) {
  if (!has_infinity(types().a)) GTEST_SKIP() << "e4m3 has no infinity";
  const double values[] = {kInf, -kInf, kNaN, 0, 1, -2, 1.25, 3.0000001};
  MatmulCase t(8, 8, 1);
  for (const double v : values) {
    t.a_bits.push_back(encode(v, types().a));
    t.b_bits.push_back(encode(v, types().b));
  }
  const auto got = run(t);
  if (!got) return;
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const double plain =
          decode(t.a_bits[std::size_t(i)], types().a) * decode(t.b_bits[std::size_t(j)], types().b);
      const double v = decode((*got)[std::size_t(8 * i + j)], types().c);
      if (std::isnan(plain)) {
        EXPECT_TRUE(std::isnan(v)) << values[i] << " * " << values[j] << " is " << v;
      } else if (std::isinf(plain)) {
        EXPECT_EQ(v, plain) << values[i] << " * " << values[j];
      } else {
        EXPECT_NEAR(v, plain, std::fabs(plain) * 0x1p-7);
      }
    }
  }
}

// The largest f32 would round to an infinite tf32.
TEST_P(MatmulSpecial, TheLargestValuesStayFinite) {
  if (types().a != DType::f32 || types().math == LK_MATH_TF32) GTEST_SKIP() << "of fp32, tf32x3";
  const double most = std::numeric_limits<float>::max();
  EXPECT_NEAR(one(most, 0.5, 0, LK_ACT_NONE), most / 2, most * 0x1p-20);
  EXPECT_EQ(one(most, 1, 0, LK_ACT_NONE) >= most * (1 - 0x1p-20), true);
}

// Overflow gives inf as IEEE says, subnormals of the inputs and of C are kept.
TEST_P(MatmulSpecial, OverflowAndSubnormals) {
  if (!takes_one()) GTEST_SKIP() << "one element is the portable kernel's";
  if (types().c == DType::f16) {
    EXPECT_EQ(one(16, 16, 65519 - 256, LK_ACT_NONE), 65504);
    EXPECT_EQ(one(16, 16, 65520 - 256, LK_ACT_NONE), kInf);
    EXPECT_EQ(one(1, 1, -1 + 0x1p-24, LK_ACT_NONE), 0x1p-24);
  }
  const double least_a = decode(1, types().a);
  if (types().a != DType::f32 || types().math == LK_MATH_FP32) {
    MatmulCase t(1, 1, 1);
    t.a_bits = {1};
    t.b_bits = {encode(1, types().b)};
    const auto got = run(t);
    if (!got) GTEST_SKIP() << "left to the portable kernel";
    EXPECT_EQ(decode((*got)[0], types().c), decode(encode(least_a, types().c), types().c));
  }
}

// Of f32 below 2^-126 tensor cores see multiples of 2^-136, and of the largest tf32 has none.
TEST_P(MatmulSpecial, TheRangeOfTf32) {
  if (types().a != DType::f32) GTEST_SKIP() << "of f32";
  if (!takes_one()) GTEST_SKIP() << "one element is the portable kernel's";
  const bool fp32 = types().math == LK_MATH_FP32, tf32 = types().math == LK_MATH_TF32;
  EXPECT_EQ(one(0x1p-136, 0x1p100, 0, LK_ACT_NONE), 0x1p-36);
  EXPECT_EQ(one(0x1p-140, 0x1p100, 0, LK_ACT_NONE), fp32 ? 0x1p-40 : 0);
  const double infinite = one(kInf, 0x1p-140, 0, LK_ACT_NONE);
  if (fp32) {
    EXPECT_EQ(infinite, kInf);
  } else {
    EXPECT_TRUE(std::isnan(infinite)) << infinite;
  }
  EXPECT_EQ(one(kInf, 0x1p-136, 0, LK_ACT_NONE), kInf);
  EXPECT_EQ(one(0x1.ffep127, 1, 0, LK_ACT_NONE), tf32 ? kInf : 0x1.ffep127);
  if (tf32) {
    EXPECT_EQ(one(0x1.ffdffep127, 1, 0, LK_ACT_NONE), 0x1.ffcp127);
  }
}

// bf16 has f32's range, and all of it counts.
TEST_P(MatmulSpecial, SubnormalsOfBf16AreNumbers) {
  if (!takes_one()) GTEST_SKIP() << "one element is the portable kernel's";
  if (types().a != DType::bf16) GTEST_SKIP() << "of bf16";
  EXPECT_EQ(one(0x1p-133, 0x1p100, 0, LK_ACT_NONE), 0x1p-33);
  EXPECT_EQ(one(kInf, 0x1p-133, 0, LK_ACT_NONE), kInf);
}

// The sum is fp32 before alpha meets it: what it could not hold is lost.
TEST_P(MatmulSpecial, SumsUnderflowBeforeTheyAreScaled) {
  if (types().a != DType::f32 && types().a != DType::bf16) GTEST_SKIP() << "of f32's range";
  MatmulCase t(1, 1, 4096);
  t.a_bits = filled(t.k, 0x1p-80, types().a);
  t.b_bits = filled(t.k, 0x1p-80, types().b);
  t.options.has_alpha = 1;
  t.options.alpha = 0x1p60f;
  const auto got = run(t);
  if (!got) GTEST_SKIP() << "left to the portable kernel";
  EXPECT_EQ(decode((*got)[0], types().c), 0);
  EXPECT_LE(0x1p-88, reference::matmul_bound_absolute(t.k, 0x1p60));
}

// alpha * scale_a * scale_b, in this order, in fp32.
TEST_P(MatmulSpecial, TheFactorsMeetInOrder) {
  MatmulCase t(1, 1, 1);
  t.a_bits = {encode(1, types().a)};
  t.b_bits = {encode(1, types().b)};
  t.options.has_alpha = 1;
  for (const float sign : {1.0f, -1.0f}) {
    t.options.alpha = std::ldexp(1.0f, int(sign) * 100);
    t.scale_a = t.options.alpha;
    t.scale_b = 1 / t.options.alpha;
    const auto got = run(t);
    if (!got) GTEST_SKIP() << "left to the portable kernel";
    EXPECT_EQ(decode((*got)[0], types().c), sign > 0 ? kInf : 0);
    std::swap(t.scale_a, t.scale_b);
    const auto other = run(t);
    if (types().c != DType::f16) {
      EXPECT_EQ(decode((*other)[0], types().c), t.options.alpha);
    }
  }
}

// B7: partial sums are fp32: they may exceed f16.
TEST_P(MatmulSpecial, B7PartialSumsAreNotHalf) {
  if (types().a != DType::f16) GTEST_SKIP() << "of f16";
  MatmulCase t(1, 1, 4);
  for (const double v : {200, 200, -200, -200}) t.a_bits.push_back(encode(v, types().a));
  t.b_bits = filled(4, 200, types().b);
  const auto got = run(t);
  if (!got) GTEST_SKIP() << "left to the portable kernel";
  EXPECT_EQ(decode((*got)[0], types().c), 0);
}

INSTANTIATE_TEST_SUITE_P(, MatmulSpecial, testing::ValuesIn(matmul_params()), matmul_name);

}  // namespace
}  // namespace libkernels::test
