// Row-sum's accuracy against fp64, and its exactness on integers, at every border of the summation
// tree. Cost: 2 s emulated, all cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

class RowSumAccuracy : public RowSumTest {
 protected:
  // Draws of deviation 1 around `mean`, compared with fp64; the largest error in units of the
  // bound.
  static double largest_error(const Layout& layout, double mean, std::uint64_t seed) {
    Bits bits(std::size_t(layout.elements()));
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = x_of(mean + random_normal(seed, i));
    const Bits got = sums(layout, bits);
    double largest = 0;
    for (std::int64_t r = 0; r < layout.rows; ++r) {
      const reference::RowSum expected = reference::row_sum(layout.cols, [&](std::int64_t c) {
        return decode(bits[std::size_t(r * layout.cols + c)], param().x_type);
      });
      if (!std::isfinite(decode(y_of(expected.sum), param().y_type))) {  // f16 overflows
        EXPECT_EQ(got[std::size_t(r)], y_of(expected.sum)) << show(layout) << " row " << r;
        continue;
      }
      const double half =
          param().y_type == DType::f32 ? 0 : ulp_at(expected.sum, format_of(param().y_type)) / 2;
      const double bound = reference::row_sum_bound(layout.cols, expected.magnitude) + half;
      const double error = std::fabs(decode(got[std::size_t(r)], param().y_type) - expected.sum);
      EXPECT_LE(error, bound) << show(layout) << " row " << r << " mean " << mean;
      if (bound > 0) largest = std::max(largest, error / bound);
    }
    return largest;
  }
};

TEST_P(RowSumAccuracy, WithinTheBoundAtEveryBorder) {
  double largest = 0;
  for (const std::int64_t cols : borders()) {
    const std::int64_t rows = cols < 5000 ? 3 : 1;
    largest = std::max(largest, largest_error(row_major(rows, cols), 0, 1));
    largest = std::max(largest, largest_error(row_major(rows, cols, cols + 1), 1.5, 2));
  }
  RecordProperty("largest_error_of_bound", std::to_string(largest));
  std::printf("%s: at most %.3f of the bound\n", show(param()).c_str(), largest);
}

TEST_P(RowSumAccuracy, WithinTheBoundInOtherDirections) {
  for (const std::int64_t cols : {2, 31, 33, 128, 129, 511, 1000, 4096, 4097, 9000}) {
    largest_error(col_major(5, cols), 0, 3);
    largest_error({2, cols, 3 * cols, 3}, 1.5, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumAccuracy, testing::ValuesIn(row_sum_params()), row_sum_name);

// Integers sum exactly, whatever the tree: these tests, not random values, find a lost element.
class RowSumExact : public RowSumTest {
 protected:
  static void check(const Layout& layout, std::uint64_t seed) {
    const Bits bits = integers(layout.rows, layout.cols, seed);
    EXPECT_TRUE(
        bits_equal(sums(layout, bits), exact(layout.rows, layout.cols, bits), param().y_type))
        << show(layout);
  }
};

// Adjacent rows without gaps: odd ones start at every alignment.
TEST_P(RowSumExact, EveryWidthUpTo300) {
  for (std::int64_t cols = 0; cols <= 300; ++cols) {
    check(row_major(cols < 70 ? 9 : 3, cols), std::uint64_t(cols));
  }
}

TEST_P(RowSumExact, EveryBorderAlignedAndNot) {
  for (const std::int64_t cols : borders()) {
    const std::int64_t rows = cols < 3000 ? 3 : 2;
    check(row_major(rows, cols), 1);
    check(row_major(1, cols, cols, 1), 2);
    check(row_major(rows, cols, cols + 3, 5), 3);
    if (cols < 20000) check(row_major(rows, cols, cols + 2 * per_vector()), 4);
  }
}

// More rows than one warp, one CTA and one wave hold, with a tail.
TEST_P(RowSumExact, ManyRows) {
  for (const std::int64_t cols : {1, 3, 8, 17, 33, 64}) check(row_major(1045, cols), 5);
  check(row_major(40, 300, 301), 6);
  check(row_major(61, 2050, 2060), 7);
}

TEST_P(RowSumExact, OtherDirections) {
  for (const std::int64_t cols : {2, 31, 32, 33, 127, 128, 129, 256, 257, 512, 513, 1025}) {
    check(col_major(33, cols), 8);
    check({3, cols, 2 * cols + 1, 2}, 9);
  }
  for (const std::int64_t cols : {4095, 4096, 4097, 5121}) {
    check(col_major(2, cols), 10);
    check({1, cols, 0, 3}, 11);
  }
}

// Element c is 2^c: the sum has a bit for each of them.
TEST_P(RowSumExact, PowersOfTwo) {
  const int most = param().x_type == DType::f16 ? 15 : 24;
  for (int cols = 1; cols <= most; ++cols) {
    Bits bits;
    for (int c = 0; c < cols; ++c) bits.push_back(x_of(std::ldexp(1.0, c)));
    const std::uint32_t expected = y_of(std::ldexp(1.0, cols) - 1);
    for (std::int64_t offset = 0; offset < per_vector(); ++offset) {
      EXPECT_EQ(sums(row_major(1, cols, cols, offset), bits)[0], expected) << cols << " " << offset;
    }
    EXPECT_EQ(sums({1, cols, 0, 2}, bits)[0], expected) << cols;
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumExact, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
