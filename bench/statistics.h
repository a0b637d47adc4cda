// What is said of a set of time samples.
#pragma once

#include <cstddef>
#include <vector>

namespace libkernels::bench {

// Of samples in one unit; all 0 where there is no sample.
struct Summary {
  double median = 0;
  double q1 = 0;  // quartiles, by linear interpolation between the closest ranks
  double q3 = 0;
  double min = 0;
  double max = 0;
  std::size_t samples = 0;

  // Half the distance of the quartiles as a fraction of the median; 0 without samples.
  double spread() const { return median > 0 ? (q3 - q1) / 2 / median : 0; }
};

// Ignores samples that are not finite.
Summary summarize(std::vector<double> samples);

// The value below which the fraction `q` of the ascending samples lies, 0 <= q <= 1; 0 if empty.
double quantile(const std::vector<double>& ascending, double q);

}  // namespace libkernels::bench
