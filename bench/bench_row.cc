#include "bench/bench_row.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "bench/process.h"

namespace libkernels::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// How far the run is, and how long it will still take if the rows to come are like those before.
class Progress {
 public:
  explicit Progress(std::size_t rows) : rows_(rows), begin_(now()) {}
  void row_done() { ++done_; }
  std::string line(const std::string& row) const {
    return progress_line(done_, rows_, now() - begin_, row);
  }

 private:
  std::size_t rows_;
  std::size_t done_ = 0;
  double begin_;
};

// A row, and what came of it. It runs once, however often Google Benchmark asks.
class RowDriver {
 public:
  RowDriver(const BenchRow& row, std::shared_ptr<Progress> progress, Report* report)
      : row_(row), progress_(std::move(progress)), report_(report) {}

  // The contestant's record; null if the row has none of that role, or does not run any more.
  const Record* record(const std::string& role) {
    if (records_.empty() && !interrupted()) {
      show_progress();
      records_ = row_.run();
      progress_->row_done();
      report_->records.insert(report_->records.end(), records_.begin(), records_.end());
    }
    for (const Record& r : records_) {
      if (r.role == role && (role != "ceiling" || r.kernel == r.ceiling_kernel)) return &r;
    }
    return nullptr;
  }

  // Why a role is missing: the row's first note.
  std::string reason() const {
    if (records_.empty()) return "interrupted";
    return records_.front().note.empty() ? "not part of this row" : records_.front().note;
  }

 private:
  // On a terminal alone: a pipe gets nothing.
  void show_progress() const {
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r\033[K{}\r", progress_->line(row_.name));
    std::fflush(stderr);
  }

  BenchRow row_;
  std::shared_ptr<Progress> progress_;
  Report* report_;
  std::vector<Record> records_;
};

void add_counter(benchmark::State& state, const char* name, std::optional<double> value) {
  if (value) state.counters[name] = *value;
}

// Gives Google Benchmark the record's time: the median of a call, or, counted, the roofline time on
// the H200, so labelled.
void report_record(benchmark::State& state, const Record& record) {
  double seconds = 0;
  if (record.us) seconds = record.us->median * 1e-6;
  if (record.counted) {
    for (const auto& [gpu, us] : record.counted->modelled_us) {
      if (gpu == "H200") seconds = us * 1e-6;
    }
  }
  for (auto _ : state) state.SetIterationTime(seconds);
  state.SetBytesProcessed(record.floor_bytes);
  state.SetLabel(record.counted ? record.kernel + " MODELLED for an H200, not measured"
                                : record.kernel);
  if (record.us) {
    state.counters["q1_us"] = record.us->q1;
    state.counters["q3_us"] = record.us->q3;
    state.counters["samples"] = double(record.us->samples);
  }
  add_counter(state, "ceiling_fraction", record.ceiling_fraction);
  add_counter(state, "error_ulp", record.error_ulp);
  add_counter(state, "speedup_unfused", record.speedup_unfused);
  if (record.counted) {
    state.counters["counted_read"] = double(record.counted->bytes_read);
    state.counters["counted_written"] = double(record.counted->bytes_written);
    state.counters["counted_waves"] = double(record.counted->waves);
  }
}

void run_benchmark(benchmark::State& state, RowDriver& driver, const std::string& role) {
  const Record* record = driver.record(role);
  if (record == nullptr) {
    state.SkipWithError(driver.reason().c_str());
  } else if (record->failed || (!record->us && !record->counted)) {
    state.SkipWithError(record->note.empty() ? "no result" : record->note.c_str());
  } else {
    report_record(state, *record);
  }
}

}  // namespace

std::vector<BenchRow> bench_rows(Runner& runner, const Problems& problems, bool counted) {
  std::vector<BenchRow> rows;
  for (const std::unique_ptr<Problem>& problem : problems) {
    const Case& c = problem->about();
    BenchRow row{.name = benchmark_name(c),
                 .floor_bytes = c.floor.bytes(),
                 .roles = c.roles,
                 .run = [&runner, &problem = *problem] { return runner.run(problem); }};
    if (!counted) row.roles.push_back("ceiling");
    rows.push_back(std::move(row));
  }
  return rows;
}

void register_rows(const std::vector<BenchRow>& rows, bool counted, Report* report) {
  const auto progress = std::make_shared<Progress>(rows.size());
  for (const BenchRow& row : rows) {
    const auto driver = std::make_shared<RowDriver>(row, progress, report);
    for (const std::string& role : row.roles) {
      const std::string full = (counted ? "modelled/" : "") + row.name + '/' + role;
      benchmark::RegisterBenchmark(
          full.c_str(),
          [driver, role](benchmark::State& state) { run_benchmark(state, *driver, role); })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace libkernels::bench
