// What lkbench says: records, the tables made of them, and the file they are written to.
//
// Schema of the file (--out=FILE), version 1:
//
//   { "schema": 1,
//     "context": { "program", "commit", "date" (UTC, ISO 8601), "mode" ("graph" | "isolated" |
//                  "counted"), "mode_meaning", "input" (distribution), "cache" ("cold" | "n/a"),
//                  "seconds_per_row", "device", "compute_capability", "sm_count", "l2_bytes",
//                  "memory_bytes", "driver", "cuda_runtime", "toolkit", "compilers", "flags",
//                  "build_type" },
//     "records": [ { "op", "role" ("fused" | "naive" | "unfused" | "ceiling"), "kernel", "types",
//                    "form", "elements", "variant" ("" | "x+1 y+1" | ...: pointers off by so many
//                    elements), "floor_bytes", "launches", "note",
//         measured:  "mode", "us" {"median", "q1", "q3", "min", "max", "samples"}, "gb_per_s",
//                    "ceiling_kernel", "ceiling_gb_per_s", "ceiling_fraction", "speedup_unfused",
//                    "speedup_naive",
//                    "gpu" {"sm_mhz", "memory_mhz", "watts", "throttle_reasons"},
//         both:      "error_ulp", "error_fraction_of_bound",
//         counted:   "counted" {"device", "bytes_read", "bytes_written",
//                    "read_sectors_per_request", "write_sectors_per_request", "bank_conflicts",
//                    "ctas", "registers", "registers_exact" (else the launch bounds' limit),
//                    "ctas_per_sm", "ctas_per_sm_most", "occupancy", "occupancy_most",
//                    "occupancy_limit", "waves", "waves_least" (most, least: if registers did not
//                    limit)},
//                    "modelled_us" {"A100", "H100", "H200", "B200"} } ] }
//
// A figure that does not exist is absent or null, never 0 and never NaN. Times are per call.
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
  std::optional<Summary> us;
  std::optional<double> gb_per_s;
  std::string ceiling_kernel;
  std::optional<double> ceiling_gb_per_s;
  std::optional<double> ceiling_fraction;
  std::optional<double> speedup_unfused;  // counted: fewer bytes, not less time
  std::optional<double> speedup_naive;
  std::optional<GpuState> gpu;

  std::optional<double> error_ulp;
  std::optional<double> error_fraction;
  std::optional<Counted> counted;

  std::string note;  // why it was skipped, or what failed
  bool failed = false;
};

struct Report {
  std::vector<std::pair<std::string, std::string>> context;
  std::vector<Record> records;
};

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

// Rows as columns of equal width, two blanks apart, numbers to the right. The first row is the
// head.
std::string align(const std::vector<std::vector<std::string>>& rows);

}  // namespace libkernels::bench
