// The reference is itself checked: against literals from exact arithmetic, and at special values.
#include "tests/reference/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace libkernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
using Row = std::vector<double>;

TEST(SoftmaxReference, MatchesExactArithmetic) {
  const Row literals{0.0320586032804, 0.0871443187, 0.2368828181, 0.6439142599};
  const auto y = reference::softmax({0, 1, 2, 3}).y;
  const auto shifted = reference::softmax({1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3}).y;
  const auto halved = reference::softmax({0, -2, -4, -6}, -0.5).y;
  const auto logs = reference::softmax({0, 1, 2, 3}, 1, true).y;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(y[i], literals[i], 1e-10);
    EXPECT_EQ(shifted[i], y[i]);
    EXPECT_EQ(halved[i], y[i]);
    EXPECT_NEAR(logs[i], std::log(literals[i]), 1e-9);
  }
  EXPECT_DOUBLE_EQ(reference::softmax(Row(1000000, 7.0)).y[5], 1e-6);
}

TEST(SoftmaxReference, SpecialValues) {
  for (const double v : reference::softmax({1, kInf, -kInf}).y) EXPECT_TRUE(std::isnan(v));
  for (const double v : reference::softmax({1, std::nan("")}).y) EXPECT_TRUE(std::isnan(v));
  for (const double v : reference::softmax({-kInf, -kInf}).y) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(reference::softmax({-kInf}, 1, false, true).y, Row{0.0});
  EXPECT_EQ(reference::softmax({-kInf}, 1, true, true).y, Row{-kInf});
  EXPECT_EQ(reference::softmax({0, -kInf}).y, (Row{1, 0}));
  EXPECT_EQ(reference::softmax({0, kInf}, -2).y, (Row{1, 0}));
  for (const double v : reference::softmax({1, -kInf}, 0).y) EXPECT_TRUE(std::isnan(v));
}

TEST(SoftmaxReference, BoundsAreThoseOfTheContract) {
  const auto row = reference::softmax({0, -10});
  EXPECT_DOUBLE_EQ(row.bound[0], std::ldexp(7.0, -23) * row.y[0]);
  EXPECT_DOUBLE_EQ(row.bound[1], std::ldexp(17.0, -23) * row.y[1]);
  EXPECT_EQ(reference::softmax({0, -1000}).bound[1], std::ldexp(1.0, -149));
  EXPECT_DOUBLE_EQ(reference::softmax({0, -10}, 1, true).bound[1],
                   1e-6 * (10 + std::log1p(std::exp(-10))));
}

}  // namespace
}  // namespace libkernels::test
