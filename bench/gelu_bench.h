// Google Benchmark drives the suite: one benchmark for each contestant of each row.
#pragma once

#include <vector>

#include "bench/gelu_suite.h"

namespace libkernels::bench {

// Registers the rows. The first benchmark of a row that runs has the suite run the whole row, since
// its contestants are interleaved; the others report what it found. A repetition runs the row anew.
// Every record is appended to *report. All arguments must outlive benchmark::Shutdown().
void register_gelu(GeluSuite& suite, const std::vector<GeluRow>& rows, bool counted,
                   Report* report);

}  // namespace libkernels::bench
