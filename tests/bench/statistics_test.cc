#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <limits>

namespace libkernels::bench {
namespace {

TEST(Statistics, NoSampleGivesZeros) {
  const Summary s = summarize({});
  EXPECT_EQ(s.samples, 0u);
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.spread(), 0);
}

TEST(Statistics, OneSampleIsEverything) {
  const Summary s = summarize({7});
  EXPECT_EQ(s.median, 7);
  EXPECT_EQ(s.q1, 7);
  EXPECT_EQ(s.q3, 7);
  EXPECT_EQ(s.spread(), 0);
}

TEST(Statistics, QuartilesInterpolateBetweenRanks) {
  const Summary s = summarize({4, 1, 3, 2});  // unsorted
  EXPECT_DOUBLE_EQ(s.median, 2.5);
  EXPECT_DOUBLE_EQ(s.q1, 1.75);
  EXPECT_DOUBLE_EQ(s.q3, 3.25);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(s.samples, 4u);
  EXPECT_DOUBLE_EQ(s.spread(), 0.75 / 2.5);
}

TEST(Statistics, AnOutlierMovesNeitherMedianNorQuartiles) {
  const Summary s = summarize({10, 10, 10, 10, 10, 10, 1000});
  EXPECT_EQ(s.median, 10);
  EXPECT_EQ(s.q3, 10);
  EXPECT_EQ(s.max, 1000);
}

TEST(Statistics, IgnoresWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const Summary s = summarize({nan, 2, inf, 4});
  EXPECT_EQ(s.samples, 2u);
  EXPECT_EQ(s.median, 3);
}

TEST(Statistics, QuantileClampsItsFraction) {
  EXPECT_EQ(quantile({1, 2, 3}, -1), 1);
  EXPECT_EQ(quantile({1, 2, 3}, 2), 3);
  EXPECT_EQ(quantile({}, 0.5), 0);
}

}  // namespace
}  // namespace libkernels::bench
