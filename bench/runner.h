// Runs problems: measured on a GPU, or counted on the emulator. The same for all operations.
#pragma once

#include <memory>
#include <vector>

#include "bench/flags.h"
#include "bench/gpu_state.h"
#include "bench/problem.h"
#include "bench/report.h"
#include "bench/workplace.h"

namespace libkernels::bench {

// Runs problems one at a time and says what came of each, way by way. Never throws for a problem
// that cannot run: its record carries the reason.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual std::vector<Record> run(Problem& problem) = 0;
  // Copy, read and write at three sizes and the arithmetic, beyond what rows needed so far.
  virtual void measure_ceilings() {}
  // What was measured of them.
  virtual std::vector<CeilingRecord> ceilings() const { return {}; }
};

// `monitor` may sample nothing; all arguments must outlive the runner.
std::unique_ptr<Runner> make_timed_runner(const Backend& backend, const Contestants& contestants,
                                          const Flags& flags, const GpuMonitor& monitor);
// Emulated devices are taken from flags.devices, one after the other.
std::unique_ptr<Runner> make_counted_runner(const Backend& backend, const Contestants& contestants,
                                            const Flags& flags);

// What every record of the case has in common.
Record record_of(const Case& c, const std::string& role, const std::string& kernel,
                 const std::string& mode);

// Runs the way once on poisoned outputs, and writes what is said of the result into the record.
void verify_way(Problem& problem, const Way& way, Workplace& place, Record* record);

}  // namespace libkernels::bench
