#include "bench/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

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

// The values of the usual tables of confidence intervals for a median (sign test, two-sided 95%):
// ranks from 1, here from 0.
TEST(Statistics, RanksOfTheMediansInterval) {
  EXPECT_FALSE(median_ranks(0));
  EXPECT_FALSE(median_ranks(5));
  using Ranks = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(*median_ranks(6), (Ranks{0, 5}));
  EXPECT_EQ(*median_ranks(8), (Ranks{0, 7}));
  EXPECT_EQ(*median_ranks(9), (Ranks{1, 7}));
  EXPECT_EQ(*median_ranks(20), (Ranks{5, 14}));
  EXPECT_EQ(*median_ranks(100), (Ranks{39, 60}));
}

TEST(Statistics, TheIntervalHoldsTheMedianAsOftenAsItSays) {
  std::mt19937_64 engine(1);
  std::lognormal_distribution<double> skewed(0, 0.5);  // its median is 1
  for (const int n : {6, 15, 60}) {
    int held = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples;
      for (int i = 0; i < n; ++i) samples.push_back(skewed(engine));
      const Interval interval = *summarize(samples).median_interval;
      held += interval.low <= 1 && 1 <= interval.high;
    }
    EXPECT_GE(held, 0.94 * kTrials) << n;
  }
}

TEST(Statistics, HalfWidthIsRelative) {
  const Summary s = summarize({100, 101, 102, 103, 104, 105, 106, 107});
  ASSERT_TRUE(s.half_width());
  EXPECT_DOUBLE_EQ(*s.half_width(), 3.5 / 103.5);
  EXPECT_FALSE(summarize({1, 2, 3}).half_width());
  EXPECT_DOUBLE_EQ(s.scaled(10).median, 1035);
  EXPECT_DOUBLE_EQ(s.scaled(10).median_interval->high, 1070);
}

TEST(Statistics, RatiosAreOfPairs) {
  // Both contestants drift together: the ratio does not.
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(2.0 * (1 + 0.1 * i));
    b.push_back(1 + 0.1 * i);
  }
  b[3] = 0;  // no duration: its pair is dropped
  const Summary ratio = summarize_ratios(a, b);
  EXPECT_EQ(ratio.samples, 19u);
  EXPECT_EQ(ratio.dropped, 1u);
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_DOUBLE_EQ(ratio.median_interval->low, 2);
}

TEST(Statistics, GeometricMeanOfRatios) {
  const auto ratio = [](double low, double median, double high) {
    Summary s;
    s.median = median;
    s.median_interval = Interval{.low = low, .high = high};
    return s;
  };
  const GeometricMean mean = geometric_mean({ratio(1.9, 2, 2.1), ratio(0.45, 0.5, 0.55)});
  EXPECT_NEAR(mean.value, 1, 1e-12);
  ASSERT_TRUE(mean.interval);
  EXPECT_LT(mean.interval->low, 1);
  EXPECT_GT(mean.interval->low, 0.9);
  Summary bare;
  bare.median = 4;
  EXPECT_FALSE(geometric_mean({ratio(1, 1, 1), bare}).interval);
  EXPECT_NEAR(geometric_mean({ratio(1, 1, 1), bare}).value, 2, 1e-12);
  EXPECT_EQ(geometric_mean({}).value, 0);
}

}  // namespace
}  // namespace libkernels::bench
