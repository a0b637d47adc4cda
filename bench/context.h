// Under which conditions a report came about: for the head of the table and the file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/flags.h"
#include "bench/gpu_state.h"
#include "kernels/ptx/device_properties.h"

namespace libkernels::bench {

using Context = std::vector<std::pair<std::string, std::string>>;

// `command`: the arguments of the program.
Context measured_context(const Flags& flags, const std::string& command,
                         const DeviceProperties& device, const GpuMonitor& monitor);
Context counted_context(const Flags& flags, const std::string& command);

// Two or three lines for the reader of a table.
std::string headline(const Context& context);

}  // namespace libkernels::bench
