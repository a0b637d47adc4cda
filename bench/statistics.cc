#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace libkernels::bench {
namespace {

constexpr double kConfidence = 0.95;

bool is_duration(double v) { return std::isfinite(v) && v > 0; }

// P(Binomial(n, 1/2) = k)
double binomial_half(std::size_t n, std::size_t k) {
  const double log_choose =
      std::lgamma(double(n) + 1) - std::lgamma(double(k) + 1) - std::lgamma(double(n - k) + 1);
  return std::exp(log_choose - double(n) * std::log(2.0));
}

}  // namespace

double quantile(const std::vector<double>& ascending, double q) {
  if (ascending.empty()) return 0;
  const double rank = std::clamp(q, 0.0, 1.0) * double(ascending.size() - 1);
  const std::size_t below = std::size_t(rank);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double part = rank - double(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t n) {
  double tail = 0;
  std::optional<std::size_t> low;
  for (std::size_t k = 0; 2 * k < n; ++k) {
    tail += binomial_half(n, k);
    if (1 - 2 * tail < kConfidence) break;
    low = k;
  }
  if (!low) return std::nullopt;
  return std::pair{*low, n - 1 - *low};
}

std::optional<double> Summary::half_width() const {
  if (!median_interval || !(median > 0)) return std::nullopt;
  return (median_interval->high - median_interval->low) / 2 / median;
}

Summary Summary::scaled(double factor) const {
  Summary s = *this;
  for (double* v : {&s.median, &s.q1, &s.q3, &s.min, &s.max}) *v *= factor;
  if (s.median_interval) {
    s.median_interval->low *= factor;
    s.median_interval->high *= factor;
  }
  return s;
}

Summary summarize(std::vector<double> samples) {
  const std::size_t all = samples.size();
  std::erase_if(samples, [](double v) { return !is_duration(v); });
  if (samples.empty()) return {.dropped = all};
  std::sort(samples.begin(), samples.end());
  Summary s{.median = quantile(samples, 0.5),
            .q1 = quantile(samples, 0.25),
            .q3 = quantile(samples, 0.75),
            .min = samples.front(),
            .max = samples.back(),
            .samples = samples.size(),
            .dropped = all - samples.size()};
  if (const auto ranks = median_ranks(samples.size())) {
    s.median_interval = Interval{.low = samples[ranks->first], .high = samples[ranks->second]};
  }
  return s;
}

Summary summarize_ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  const std::size_t pairs = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratios.push_back(is_duration(a[i]) && is_duration(b[i]) ? a[i] / b[i] : 0);
  }
  return summarize(std::move(ratios));
}

GeometricMean geometric_mean(const std::vector<Summary>& ratios) {
  double logs = 0, squares = 0;
  std::size_t count = 0;
  bool all_have_intervals = true;
  for (const Summary& r : ratios) {
    if (!(r.median > 0)) continue;
    ++count;
    logs += std::log(r.median);
    if (r.median_interval && r.median_interval->low > 0) {
      const double half = std::log(r.median_interval->high / r.median_interval->low) / 2;
      squares += half * half;
    } else {
      all_have_intervals = false;
    }
  }
  if (count == 0) return {};
  const double mean = logs / double(count);
  GeometricMean result{.value = std::exp(mean), .interval = std::nullopt};
  if (all_have_intervals) {
    const double half = std::sqrt(squares) / double(count);
    result.interval = Interval{.low = std::exp(mean - half), .high = std::exp(mean + half)};
  }
  return result;
}

}  // namespace libkernels::bench
