// The reference of row-sum is itself checked.
#include "tests/reference/row_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace libkernels::reference {
namespace {

TEST(RowSumReference, SumsAndMagnitudes) {
  const double x[] = {1, -2, 0.5, 4};
  const RowSum r = row_sum(4, [&](std::int64_t c) { return x[c]; });
  EXPECT_EQ(r.sum, 3.5);
  EXPECT_EQ(r.magnitude, 7.5);
  const RowSum none = row_sum(0, [](std::int64_t) { return 1.0; });
  EXPECT_EQ(none.sum, 0);
  EXPECT_EQ(none.magnitude, 0);
}

TEST(RowSumReference, SpecialValues) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(row_sum(2, [](std::int64_t c) { return c == 0 ? 1 : kInf; }).sum, kInf);
  EXPECT_TRUE(std::isnan(row_sum(2, [](std::int64_t c) { return c == 0 ? -kInf : kInf; }).sum));
}

TEST(RowSumReference, BoundIsThatOfTheContract) {
  EXPECT_EQ(row_sum_bound(1, 1.0), std::ldexp(32, -24));
  EXPECT_EQ(row_sum_bound(2, 1.0), std::ldexp(36, -24));
  EXPECT_EQ(row_sum_bound(1024, 3.0), 3 * std::ldexp(72, -24));
  EXPECT_EQ(row_sum_bound(1025, 1.0), std::ldexp(76, -24));
}

}  // namespace
}  // namespace libkernels::reference
