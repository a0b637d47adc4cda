// Is a kernel's output right? An fp64 reference, and errors measured against it. Nothing is timed
// that has not passed here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/contestants.h"
#include "include/libkernels/dtype.h"

namespace libkernels::bench {

// gelu(x) in double precision, in forms that do not cancel for x << 0.
double gelu_reference(double x, GeluForm form);

// The distance between neighbouring values of the type at |value|: a unit in the last place.
double ulp(DType type, double value);

// The largest error that the library allows itself at x, where `ref` is the exact result: fp32
// outputs 4 ulp for x >= -1 and a relative bound below, 16-bit outputs half an ulp more.
double gelu_bound(double x, double ref, GeluForm form, DType y_type);

// What the baselines must keep, so that a wrong one is not timed: they cancel in the negative tail
// and the unfused chain rounds after each step, so this is an absolute bound, and a wide one.
double baseline_bound(double x, DType x_type);

// Element i of an array of `type`.
double decode(DType type, const void* array, std::size_t i);

// n values of the standard normal distribution, rounded to the type. The same for the same seed.
std::vector<std::byte> normal_values(DType type, std::size_t n, std::uint64_t seed);

// One input, the exact results, and what may be missed.
struct GeluReference {
  GeluReference(DType x_type, DType y_type, GeluForm form, std::size_t n, std::uint64_t seed);

  DType x_type;
  DType y_type;
  GeluForm form;
  std::vector<std::byte> x;
  std::vector<double> y;
  std::vector<double> y_ulp;
  std::vector<double> bound;
};

struct ErrorSummary {
  double max_ulp = 0;       // largest |error| in units in the last place of the output type
  double max_fraction = 0;  // largest |error| as a fraction of gelu_bound
  double max_baseline_fraction = 0;  // ... of baseline_bound
  std::size_t worst = 0;             // where max_fraction is
  std::size_t not_finite = 0;        // results that are NaN or infinite; the reference never is
};

// Compares the first n <= reference.y.size() elements.
ErrorSummary compare(const GeluReference& reference, const void* y, std::size_t n);

}  // namespace libkernels::bench
