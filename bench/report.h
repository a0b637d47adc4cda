// What lkbench says: records, the tables made of them, and the file they are written to.
//
// The file (--out=FILE) is JSON of schema version 2, which bench/schema.json describes field by
// field; the tests hold every file against it. A figure that does not exist is absent or null,
// never 0 and never NaN. Times are microseconds per call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_state.h"
#include "bench/statistics.h"

namespace libkernels::bench {

// Without a clock: what the emulator counted and what follows from the counts.
struct Counted {
  std::string device;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  double mma_flops = 0;  // on tensor cores, padding included
  std::optional<double> read_sectors_per_request;
  std::optional<double> write_sectors_per_request;
  std::uint64_t bank_conflicts = 0;
  std::uint64_t ctas = 0;
  int registers = 0;             // per thread
  bool registers_exact = false;  // else the most that the launch bounds allow
  // With so many registers, and if they did not limit: equal where their number is exact.
  int ctas_per_sm = 0;
  int ctas_per_sm_most = 0;
  double occupancy = 0;
  double occupancy_most = 0;
  std::string occupancy_limit;
  std::int64_t waves = 0;
  std::int64_t waves_least = 0;
  std::vector<std::pair<std::string, double>> modelled_us;  // by GPU
};

// An interleaved comparison with another contestant of the row.
struct Versus {
  std::string role;
  std::string kernel;
  Summary ratio;  // the other's time over this one's, pair by pair: above 1, this one is faster
};

struct Record {
  std::string op;
  std::string role;
  std::string kernel;
  std::string types;
  std::string form;
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;  // the product of the first two extents
  std::string variant;
  std::int64_t floor_bytes = 0;
  double flops = 0;
  int launches = 1;

  std::string mode;
  std::string cache;  // "cold", "warm"; "" of what is not timed
  std::optional<Summary> us;
  std::optional<bool> converged;        // to the precision that was asked for
  std::optional<Summary> isolated_us;   // beside graph mode: single calls, an event's cost included
  std::optional<Summary> burst_us;      // of power-limited rows: right after a pause
  std::optional<Summary> sustained_us;  // ... after a second or so without one
  std::optional<double> gb_per_s;
  std::optional<double> tflops;
  std::string ceiling;         // what the fraction is of: "copy", "read", "math"
  std::string ceiling_kernel;  // the fastest of that kind
  std::optional<double> ceiling_gb_per_s;
  std::optional<double> ceiling_tflops;
  std::optional<double> ceiling_fraction;
  std::optional<double> speedup_unfused;  // counted: fewer bytes, not less time
  std::optional<double> speedup_naive;
  std::string peer;  // the kernel of the fastest other contestant that is neither
  std::optional<double> speedup_peer;
  std::optional<Versus> versus;  // of --ab
  std::optional<GpuState> gpu;
  std::optional<double> microjoules;  // per call, of the whole board
  std::string energy_from;            // "counter" (sustained), "power" (of the row, times us)

  std::optional<double> error_ulp;
  std::optional<double> error_fraction;
  std::optional<Counted> counted;

  std::string note;  // why it was skipped, or what failed, or what to know of its conditions
  bool failed = false;
};

// One candidate for a ceiling.
struct CeilingRecord {
  std::string kind;  // "copy", "read", "write"; "fma f32", "mma.sync bf16", "wgmma bf16"
  std::string kernel;
  std::int64_t bytes = 0;  // moved by a call: read and written counted
  double flops = 0;
  Summary us{};
  double per_s = 0;            // bytes or FLOPs
  double datasheet_per_s = 0;  // 0: unknown
  bool best = false;           // of its kind and size
  std::optional<GpuState> gpu{};
};

struct Report {
  std::vector<std::pair<std::string, std::string>> context;
  std::vector<Record> records;
  std::vector<CeilingRecord> ceilings{};
};

// The table of --ab: a line for each record that has a comparison, the geometric mean last. Empty
// if none has.
std::string versus_table(const Report& report);
// The ceilings: of each kind and size the best, beside the data sheet's figure.
std::string ceilings_table(const Report& report);

// The table with its legend. Measured and counted records have different columns; ceilings other
// than the best are left to the file.
std::string measured_table(const Report& report);
std::string counted_table(const Report& report);

std::string to_json(const Report& report);

// ---- Cells --------------------------------------------------------------------------------------

// "-" for what is missing or not finite.
std::string cell(std::optional<double> value, int decimals);
// Three significant digits, for values that range widely: "0.52", "12.3", "1.2e+05".
std::string cell_short(std::optional<double> value);

// "[3/48] gelu/...  1 min 20 s left": of a row that begins, after `done` of `rows` in so many
// seconds.
std::string progress_line(std::size_t done, std::size_t rows, double seconds,
                          const std::string& row);

// Rows as columns of equal width, two blanks apart, numbers to the right. The first row is the
// head.
std::string align(const std::vector<std::vector<std::string>>& rows);

}  // namespace libkernels::bench
