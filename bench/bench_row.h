// Google Benchmark drives the rows: one benchmark for each contestant of each row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/problem.h"
#include "bench/report.h"
#include "bench/runner.h"

namespace libkernels::bench {

// A problem, and how to run it.
struct BenchRow {
  std::string name;                // "gelu/bf16/tanh/65536"
  std::int64_t floor_bytes;        // for --list
  std::vector<std::string> roles;  // of the records that run() makes: "fused", "naive", ...
  // Measures or counts all contestants of the row, interleaved. Does not throw: a row that cannot
  // run is a record with the reason (bench/records.h).
  std::function<std::vector<Record>()> run;
};

// A row for each problem. `runner` and `problems` must outlive the result's use.
std::vector<BenchRow> bench_rows(Runner& runner, const Problems& problems, bool counted);

// Registers a benchmark for each role of each row. The first one of a row that runs has the row
// run; the others report what it found. After a SIGINT no further row runs. Every record is
// appended to *report. What the rows refer to, and *report, must outlive benchmark::Shutdown().
void register_rows(const std::vector<BenchRow>& rows, bool counted, Report* report);

}  // namespace libkernels::bench
