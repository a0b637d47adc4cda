// What is said of a set of time samples.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace libkernels::bench {

// An interval that holds the true value with 95% confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

// Of samples in one unit; all 0 where there is no sample.
struct Summary {
  double median = 0;
  double q1 = 0;  // quartiles, by linear interpolation between the closest ranks
  double q3 = 0;
  double min = 0;
  double max = 0;
  std::size_t samples = 0;
  std::size_t dropped = 0;  // not finite, zero or negative: no duration of anything
  std::optional<Interval> median_interval{};  // absent below six samples

  // Half the distance of the quartiles as a fraction of the median; 0 without samples.
  double spread() const { return median > 0 ? (q3 - q1) / 2 / median : 0; }
  // Half the median's interval as a fraction of the median; nothing where there is no interval.
  std::optional<double> half_width() const;
  // The same times in another unit.
  Summary scaled(double factor) const;
};

// Drops, and counts, samples that are not finite and positive.
Summary summarize(std::vector<double> samples);

// The value below which the fraction `q` of the ascending samples lies, 0 <= q <= 1; 0 if empty.
double quantile(const std::vector<double>& ascending, double q);

// The ranks (from 0) of the order statistics that enclose the median of whatever distribution n
// samples come from, with at least 95% confidence: the largest l for which
// 1 - 2 P(Binomial(n, 1/2) <= l) >= 0.95, and n - 1 - l. Nothing for n < 6.
std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t n);

// Of a[i] / b[i], sample by sample: contestants of one round saw the same clocks. Pairs with a
// sample that is no duration are dropped.
Summary summarize_ratios(const std::vector<double>& a, const std::vector<double>& b);

// The geometric mean of independent ratios, and its interval from theirs: log-widths add in
// quadrature. A ratio without an interval leaves none.
struct GeometricMean {
  double value = 0;
  std::optional<Interval> interval;
};
GeometricMean geometric_mean(const std::vector<Summary>& ratios);

}  // namespace libkernels::bench
