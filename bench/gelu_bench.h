// GeLU's rows for Google Benchmark.
#pragma once

#include <vector>

#include "bench/bench_row.h"
#include "bench/gelu_suite.h"

namespace libkernels::bench {

// `suite` must outlive the result's use.
std::vector<BenchRow> gelu_bench_rows(GeluSuite& suite, const std::vector<GeluRow>& rows,
                                      bool counted);

}  // namespace libkernels::bench
