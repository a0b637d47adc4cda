#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace libkernels::bench {

double quantile(const std::vector<double>& ascending, double q) {
  if (ascending.empty()) return 0;
  const double rank = std::clamp(q, 0.0, 1.0) * double(ascending.size() - 1);
  const std::size_t below = std::size_t(rank);
  if (below + 1 >= ascending.size()) return ascending.back();
  const double part = rank - double(below);
  return ascending[below] + part * (ascending[below + 1] - ascending[below]);
}

Summary summarize(std::vector<double> samples) {
  std::erase_if(samples, [](double v) { return !std::isfinite(v); });
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  return {.median = quantile(samples, 0.5),
          .q1 = quantile(samples, 0.25),
          .q3 = quantile(samples, 0.75),
          .min = samples.front(),
          .max = samples.back(),
          .samples = samples.size()};
}

}  // namespace libkernels::bench
