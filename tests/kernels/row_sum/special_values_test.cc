// Row-sum's special values: NaN and infinities wherever they stand, zeros, subnormals, overflow;
// and values outside of a row, which never matter.
// Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

class RowSumSpecialValues : public RowSumTest {
 protected:
  // Columns of each path: lanes of a warp, a warp, a CTA, chunks.
  static std::vector<std::int64_t> widths() {
    const std::int64_t v = per_vector();
    return {1, 2, v - 1, v, 2 * v + 1, 13 * v, 100 * v + 1, 600 * v, 8192 * v + 3};
  }
  static std::uint32_t nan_bits() {
    return format_of(param().x_type).infinity() + 1;
  }  // signalling
};

TEST_P(RowSumSpecialValues, ANaNOrAnInfinityAnywhere) {
  for (const std::int64_t cols : widths()) {
    for (std::uint64_t draw = 0; draw < (cols < 5000 ? 4u : 1u); ++draw) {
      const std::size_t at =
          std::size_t(random_bits(draw, std::uint64_t(cols)) % std::size_t(cols));
      Bits bits(std::size_t(3 * cols), x_of(1.0));
      bits[std::size_t(cols) + at] = nan_bits();
      Bits got = sums(row_major(3, cols, cols + 1), bits);
      EXPECT_EQ(got[0], y_of(double(cols))) << cols;
      EXPECT_TRUE(is_nan(got[1], param().y_type)) << cols << " at " << at;
      EXPECT_EQ(got[2], y_of(double(cols))) << cols;

      bits[std::size_t(cols) + at] = x_of(-kInf);
      got = sums(row_major(3, cols, cols + 1), bits);
      EXPECT_EQ(got[0], y_of(double(cols))) << cols;
      EXPECT_EQ(got[1], y_of(-kInf)) << cols << " at " << at;

      if (cols == 1) continue;
      bits[std::size_t(cols) + (at + 1) % std::size_t(cols)] = x_of(kInf);
      got = sums(row_major(3, cols, cols + 1), bits);
      EXPECT_TRUE(is_nan(got[1], param().y_type)) << cols << " at " << at;
      EXPECT_EQ(got[2], y_of(double(cols))) << cols;
    }
  }
}

// A row of -0 sums to +0, on every path and at every alignment.
TEST_P(RowSumSpecialValues, NegativeZeros) {
  for (const std::int64_t cols : widths()) {
    for (const std::int64_t offset : {0, 1}) {
      EXPECT_EQ(sums(row_major(1, cols, cols, offset), Bits(std::size_t(cols), x_of(-0.0)))[0], 0u)
          << cols << " offset " << offset;
    }
  }
  EXPECT_EQ(sums({1, 40, 0, 2}, Bits(40, x_of(-0.0)))[0], 0u);
}

TEST_P(RowSumSpecialValues, SubnormalsAreKept) {
  for (const std::int64_t cols : {1, 5, 100}) {
    const double least = decode(1u, param().x_type);
    EXPECT_EQ(sums(row_major(1, cols), Bits(std::size_t(cols), 1u))[0], y_of(double(cols) * least))
        << cols;
  }
}

TEST_P(RowSumSpecialValues, OverflowIsInfinite) {
  const std::uint32_t largest = format_of(param().x_type).infinity() - 1;
  const double value = decode(largest, param().x_type);
  const double twice =
      param().y_type == DType::f32 && param().x_type == DType::f16 ? 2 * value : kInf;
  EXPECT_EQ(sums(row_major(1, 2), {largest, largest})[0], y_of(twice));
}

// E8 of the public bugs, for sums: NaN between rows, beside the view and in other rows.
TEST_P(RowSumSpecialValues, E8NeighboursDoNotMatter) {
  for (const std::int64_t cols : {1, 5, 33, 100, 3001}) {
    Bits bits(std::size_t(3 * cols), nan_bits());
    for (std::int64_t c = 0; c < cols; ++c) bits[std::size_t(cols + c)] = x_of(2.0);
    for (const std::int64_t gap : {0, 1, 7}) {  // gaps are poisoned with NaN
      for (const std::int64_t offset : {0, 3}) {
        const Bits got = sums(row_major(3, cols, cols + gap, offset), bits);
        EXPECT_TRUE(is_nan(got[0], param().y_type));
        EXPECT_EQ(got[1], y_of(2.0 * double(cols))) << cols << " gap " << gap;
        EXPECT_TRUE(is_nan(got[2], param().y_type));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumSpecialValues, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
