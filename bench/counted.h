// Counted rows, whatever the operation: what the emulator counts of a call, and what follows.
//
//   return count_on_devices(flags.devices, row, [&] {
//     ... buffers, inputs ...
//     Record record = row;
//     count_call(&record, backend.op_resources({...}), [&] { backend.op({...}); });
//     ... compares the result; error_ulp, note, failed ...
//     return std::vector{record};
//   });
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.h"
#include "kernels/ptx/device_properties.h"
#include "kernels/ptx/emu/emulator.h"
#include "src/backend.h"

namespace libkernels::bench {

// Runs body() once on each of the emulated devices, counting, and appends what it returns. `row`
// stands in, with the reason, for a device whose body throws, or that does not exist.
std::vector<Record> count_on_devices(const std::vector<std::string>& devices, const Record& row,
                                     const std::function<std::vector<Record>()>& body);

// Makes the call, of one kernel or several alike, and fills mode, launches and counted in.
//
// `resources` are those of its kernel. Without them its registers are taken to be the most with
// which a CTA starts, and figures that depend on them become ranges.
void count_call(Record* record, const std::optional<CallResources>& resources,
                const std::function<void()>& call);

// ---- What they are made of ----------------------------------------------------------------------

// Counting, and the emulated device, for as long as this lives. Throws runtime_error for a device
// that does not exist.
class CountingScope {
 public:
  explicit CountingScope(const std::string& device);
  ~CountingScope();
  CountingScope(const CountingScope&) = delete;
  CountingScope& operator=(const CountingScope&) = delete;

 private:
  DeviceProperties profile_;
  emulator::Settings settings_;
};

// Occupancy, waves and modelled times of what was counted. Pure. `last` tells the CTA's size where
// there are no resources.
Counted counted_of(const DeviceProperties& device, const std::optional<CallResources>& resources,
                   const emulator::Counters& counters, const emulator::LastLaunch& last);

}  // namespace libkernels::bench
