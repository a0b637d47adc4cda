// Matmul against fp64, within the bounds of matmul.h, on zero-mean and on one-signed data, and
// exactly on integers whose partial sums are below 2^24.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulAccuracy : public MatmulTest {
 protected:
  // Normal values; one-signed: their magnitudes. f8 takes them times 4, clear of its subnormals.
  static Bits draw(std::int64_t count, DType type, std::uint64_t seed, bool zero_mean) {
    Bits bits;
    const double factor = size_of(type) == 1 ? 4 : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const double v = factor * random_normal(seed, std::uint64_t(i));
      bits.push_back(encode(zero_mean ? v : std::fabs(v), type));
    }
    return bits;
  }
  // E / S of the contract. tf32x3 has another form: see below.
  static double bound(std::int64_t k, bool zero_mean) {
    if (types().math == LK_MATH_TF32) return reference::matmul_bound_tf32(k, zero_mean, cc_major());
    if (types().a == DType::f32) return reference::matmul_bound_fp32(k, zero_mean);
    if (multiplies_f8()) return reference::matmul_bound_f8_sm90(zero_mean);
    return reference::matmul_bound_16bit(k, zero_mean, cc_major());
  }
  static double half_ulp(double x) { return ulp_at(x, format_of(types().c)) / 2; }

  static MatmulCase drawn(std::int64_t m, std::int64_t n, std::int64_t k, bool zero_mean) {
    MatmulCase t(m, n, k);
    t.b = col_major(k, n);
    t.a_bits = draw(m * k, types().a, 1, zero_mean);
    t.b_bits = draw(k * n, types().b, 2, zero_mean);
    return t;
  }
  static void check(std::int64_t m, std::int64_t n, std::int64_t k, bool zero_mean) {
    check(drawn(m, n, k, zero_mean), zero_mean);
  }
  static void check(const MatmulCase& t, bool zero_mean = false) {
    const auto got = run(t);
    if (!got) return;
    const auto problem = problem_of(t);
    const auto expected = reference::matmul(problem);
    const double absolute = reference::matmul_bound_absolute(t.k, problem.alpha);
    Failures failures;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double e = bound(t.k, zero_mean) * expected[i].sum + absolute;
      const double error = std::fabs(decode((*got)[i], types().c) - expected[i].value);
      if (!(error <= half_ulp(expected[i].value) + e)) {
        failures.add(i, "got", show((*got)[i], types().c), "expected", expected[i].value, "error",
                     error, "bound", e);
      }
    }
    EXPECT_TRUE(failures.result(expected.size())) << show(t);
  }
};

TEST_P(MatmulAccuracy, ZeroMean) {
  if (types().math == LK_MATH_TF32X3) GTEST_SKIP() << "has a test of its own";
  check(24, 40, 96, true);
  check(16, 24, 1000, true);
}

TEST_P(MatmulAccuracy, OneSigned) {
  if (types().math == LK_MATH_TF32X3) GTEST_SKIP() << "has a test of its own";
  check(16, 24, 1000, false);
}

// What 8.x keeps of the products of a block shows where many results are looked at.
TEST_P(MatmulAccuracy, ZeroMeanOnEveryGeneration) {
  if (size_of(types().a) != 2 || types().c != DType::f32) GTEST_SKIP() << "of 16 bits, to f32";
  on_each_device([] {
    for (const std::int64_t k : {192, 272, 320, 512}) check(48, 48, k, true);
  });
}

// The worst case: beside a sum of 1 all products lose nearly a unit of what is kept of them, and
// the sum one more in every block.
TEST_P(MatmulAccuracy, EveryProductIsCut) {
  if (size_of(types().a) != 2 || types().c != DType::f32) GTEST_SKIP() << "of 16 bits, to f32";
  on_each_device([] {
    MatmulCase t(1, 1, 1008);
    const double step = types().a == DType::f16 ? 0x1p-9 : 0x1p-6;  // of 2 .. 4
    for (std::int64_t l = 0; l < t.k; ++l) {
      const double units = l % 8 == 1 ? 3 - step : 2 - step / 2;
      t.a_bits.push_back(encode(l == 0 ? 1 : units * 0x1p-12, types().a));
      t.b_bits.push_back(encode(l == 0 ? 1 : 0x1p-12, types().b));
    }
    check(t);
  });
}

// A subnormal f16 counts as 2^-14: so much more of its neighbours is cut off.
TEST_P(MatmulAccuracy, SubnormalFactorsCutTheirNeighbours) {
  if (types().a != DType::f16 || types().c != DType::f32) GTEST_SKIP() << "of f16, to f32";
  on_each_device([] {
    MatmulCase t(1, 1, 2);
    t.a_bits = {encode(0x1p-24, types().a), encode(0x1p-10, types().a)};
    t.b_bits = {encode(0x1p15, types().b), encode(0x1p-14 * (2 - 0x1p-10), types().b)};
    check(t);
  });
}

// Each step behind the product rounds once: four more of them than k.
TEST_P(MatmulAccuracy, EveryOptionAddsItsRounding) {
  if (types().a != DType::f32 || types().math != LK_MATH_FP32) GTEST_SKIP() << "of fp32";
  MatmulCase t(1, 1, 1);
  t.a_bits = {bits_of(0x1.c27d86p0f)};
  t.b_bits = {bits_of(0x1.460308p0f)};
  t.options.has_alpha = 1;
  t.options.alpha = 0x1.9fc0cap0f;
  t.scale_a = 0x1.478bc4p0f;
  t.scale_b = 0x1.fbdd2ap0f;
  t.options.beta = 0x1.3c7caep-6f;
  t.c_in_bits = {bits_of(0.01f)};
  t.bias_bits = {bits_of(0x1.00660ap-6f)};
  check(t);
}

// At most 4 times the largest error of fp32 on the same inputs, plus 2^-21 S.
TEST_P(MatmulAccuracy, Tf32x3IsAsGoodAsFp32) {
  if (types().math != LK_MATH_TF32X3) GTEST_SKIP() << "of tf32x3";
  for (const bool zero_mean : {true, false}) {
    for (const std::int64_t k : {96, 2000}) {
      const MatmulCase t = drawn(16, 24, k, zero_mean);
      const auto got = run(t);
      if (!got) return;
      const auto expected = reference::matmul(problem_of(t));
      double fp32 = 0;
      for (std::int64_t i = 0; i < t.m; ++i) {
        for (std::int64_t j = 0; j < t.n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            sum = std::fma(float_of(t.a_bits[std::size_t(i * k + l)]),
                           float_of(t.b_bits[std::size_t(l * t.n + j)]), sum);
          }
          fp32 = std::max(fp32, std::fabs(sum - expected[std::size_t(i * t.n + j)].value));
        }
      }
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double error = std::fabs(decode((*got)[i], types().c) - expected[i].value);
        EXPECT_LE(error, 4 * fp32 + std::ldexp(expected[i].sum, -21)) << show(t) << " " << i;
      }
    }
  }
}

// The smallest inputs for which that holds, and smaller ones, kept to a multiple of 2^-136.
TEST_P(MatmulAccuracy, Tf32x3OfSmallInputs) {
  if (types().math != LK_MATH_TF32X3) GTEST_SKIP() << "of tf32x3";
  for (const int exponent : {-110, -114, -117, -120, -126, -130}) {
    MatmulCase t(8, 8, 1);
    for (int i = 0; i < 8; ++i) {
      t.a_bits.push_back(bits_of(
          float(std::ldexp(1 + std::fabs(random_normal(1, std::uint64_t(i))) / 8, exponent))));
      t.b_bits.push_back(
          bits_of(float(std::ldexp(1 + std::fabs(random_normal(2, std::uint64_t(i))) / 8, 100))));
    }
    const auto got = run(t);
    if (!got) return;
    for (std::size_t i = 0; i < 64; ++i) {
      const double a = float_of(t.a_bits[i / 8]), b = float_of(t.b_bits[i % 8]);
      const double lost = exponent >= -110 ? 0 : 0x1p-137 * b;
      EXPECT_NEAR(float_of((*got)[i]), a * b, 0x1p-21 * a * b + lost) << exponent;
    }
  }
}

// A lost or doubled slice of K changes these, whatever the tile.
TEST_P(MatmulAccuracy, IntegersAreExactForEveryK) {
  for (std::int64_t k = 1; k <= 100; k += k < 34 ? 3 : 13) check_exact(MatmulCase(3, 5, k), 7);
  check_exact(MatmulCase(9, 10, 1500), 9);
}

// tf32 takes 11 bits, tf32x3 22, if the other factor has 11.
TEST_P(MatmulAccuracy, LongIntegersAreExact) {
  if (types().a != DType::f32) GTEST_SKIP() << "of f32";
  MatmulCase t(8, 8, 4);
  const int most = types().math == LK_MATH_TF32 ? 2047 : (1 << 20) - 1;
  t.a_bits = integers(t.a, types().a, 1, most);
  t.b_bits = integers(t.b, types().b, 2, types().math == LK_MATH_TF32 ? 2047 : 3);
  const auto got = run(t);
  if (!got) return;
  EXPECT_TRUE(bits_equal(*got, exact(t), types().c));
}

// B10: nothing is rounded unless the caller asks for it.
TEST_P(MatmulAccuracy, B10Fp32IsNotTf32) {
  if (types().a != DType::f32) GTEST_SKIP() << "of f32";
  for (const float a : {1025.5f, 1.0f + 0x1p-12f}) {  // a tie, to even or away
    MatmulCase t(1, 1, 1);
    t.a_bits = {bits_of(a)};
    t.b_bits = {bits_of(1.0f)};
    const auto got = run(t);
    if (!got) return;
    const float expected = types().math == LK_MATH_TF32 ? (a > 2 ? 1026.0f : 1.0f) : a;
    EXPECT_EQ(float_of((*got)[0]), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulAccuracy, testing::ValuesIn(matmul_params()), matmul_name);

}  // namespace
}  // namespace libkernels::test
