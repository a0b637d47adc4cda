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
    if (types().math == LK_MATH_TF32) return reference::matmul_bound_tf32(k, zero_mean);
    if (types().a == DType::f32) return reference::matmul_bound_fp32(k, zero_mean);
    if (size_of(types().a) == 1 && param().kernel.info->arch == 90) {
      return reference::matmul_bound_f8_sm90(zero_mean);
    }
    return reference::matmul_bound_16bit(k, zero_mean);
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
    const MatmulCase t = drawn(m, n, k, zero_mean);
    const auto got = run(t);
    if (!got) return;
    const auto expected = reference::matmul(problem_of(t));
    Failures failures;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double e = bound(k, zero_mean) * expected[i].sum;
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
  for (const float a : {1024.5f, 1.0f + 0x1p-12f}) {
    MatmulCase t(1, 1, 1);
    t.a_bits = {bits_of(a)};
    t.b_bits = {bits_of(1.0f)};
    const auto got = run(t);
    if (!got) return;
    const float expected = types().math == LK_MATH_TF32 ? (a > 2 ? 1025.0f : 1.0f) : a;
    EXPECT_EQ(float_of((*got)[0]), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulAccuracy, testing::ValuesIn(matmul_params()), matmul_name);

}  // namespace
}  // namespace libkernels::test
