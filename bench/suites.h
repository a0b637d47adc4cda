// The suites of lkbench: the one place that knows all operations.
#pragma once

#include <span>
#include <string>

#include "bench/flags.h"
#include "bench/problem.h"

namespace libkernels::bench {

struct Suite {
  const char* name;   // of --suite
  const char* shape;  // of its rows: "N", "MxN" or "MxNxK"
  const char* about;  // a line for --help and --list
  bool in_quick;      // part of the quick table
  Problems (*problems)(const Selection& selection);
};

std::span<const Suite> suites();

// The problems that the flags choose, suite by suite, each case once. Throws FlagError for a suite
// that does not exist, and for a shape, form or layout that no row can have.
Problems chosen_problems(const Flags& flags, bool emulated);
// The filters that together leave none, and how many rows there are without each.
std::string why_no_row(const Flags& flags, bool emulated);

// ---- Defined by the drivers ---------------------------------------------------------------------

Problems gelu_problems(const Selection& selection);
Problems softmax_problems(const Selection& selection);
Problems row_sum_problems(const Selection& selection);
Problems matmul_problems(const Selection& selection);
Problems cliff_problems(const Selection& selection);
Problems decode_problems(const Selection& selection);

}  // namespace libkernels::bench
