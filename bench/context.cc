#include "bench/context.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <ctime>

#include "lkbench_build_info.h"  // made by bench/build_info.cmake

namespace libkernels::bench {
namespace {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// 13000 as "13.0".
std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// 1980 as "1980"; what is not known as "unknown".
template <class T>
std::string known(T value) {
  return value > 0 ? fmt::format("{}", value) : "unknown";
}

void add_build(const std::string& command, Context* context) {
  context->insert(context->end(), {{"program", "lkbench " LKBENCH_VERSION},
                                   {"commit", LKBENCH_COMMIT},
                                   {"command", command},
                                   {"date", utc_now()},
                                   {"cuda_runtime", cuda_version(CUDART_VERSION)},
                                   {"toolkit", LKBENCH_TOOLKIT},
                                   {"compilers", LKBENCH_COMPILERS},
                                   {"flags", LKBENCH_FLAGS},
                                   {"build_type", LKBENCH_BUILD_TYPE},
                                   {"input", "standard normal distribution"}});
}

const std::string& find(const Context& context, const std::string& key) {
  static const std::string none = "unknown";
  for (const auto& [k, v] : context) {
    if (k == key) return v;
  }
  return none;
}

}  // namespace

Context measured_context(const Flags& flags, const std::string& command,
                         const DeviceProperties& device, const GpuMonitor& monitor) {
  Context context;
  add_build(command, &context);
  const GpuFacts& facts = monitor.facts();
  const bool graph = flags.mode == Mode::graph;
  context.insert(
      context.end(),
      {{"mode", name(flags.mode)},
       {"mode_meaning", graph ? "time per call of a CUDA graph of many calls, median over replays"
                              : "one pair of events a call, median over calls"},
       {"cache", flags.warm ? "warm: one set of buffers, in the L2 as far as it fits"
                            : "cold: buffers rotate beyond twice the L2"},
       {"seconds_per_row", fmt::format("{}", flags.seconds)},
       {"precision", fmt::format("{}", flags.precision)},
       {"device", device.name},
       {"compute_capability", fmt::format("{}.{}", device.cc_major, device.cc_minor)},
       {"sm_count", fmt::format("{}", device.sm_count)},
       {"l2_bytes", fmt::format("{}", device.l2_bytes)},
       {"memory_bytes", fmt::format("{}", device.memory_bytes)},
       {"driver", facts.driver},
       {"power_cap_watts", known(facts.power_cap_watts)},
       {"max_sm_mhz", known(facts.max_sm_mhz)},
       {"max_memory_mhz", known(facts.max_memory_mhz)},
       {"ecc", facts.ecc},
       {"mig", facts.mig}});
  return context;
}

Context counted_context(const Flags& flags, const std::string& command) {
  Context context;
  add_build(command, &context);
  context.insert(context.end(),
                 {{"mode", "counted"},
                  {"mode_meaning",
                   "counted on the CPU emulator, modelled from data sheets; no time "
                   "was measured"},
                  {"cache", "n/a"},
                  {"device", fmt::format("emulated {}", fmt::join(flags.devices, ", "))}});
  return context;
}

std::string headline(const Context& context) {
  const auto get = [&](const char* key) { return find(context, key); };
  std::string text = fmt::format("{} ({}), {}\n", get("program"), get("commit"), get("date"));
  if (get("mode") == "counted") {
    return text + fmt::format("COUNTED AND MODELLED, NOT MEASURED: {}\n", get("device"));
  }
  return text +
         fmt::format("{}: {} SMs, cc {}, driver {}, CUDA {}, {} W\nmode {}: {}; {}; input: {}\n",
                     get("device"), get("sm_count"), get("compute_capability"), get("driver"),
                     get("cuda_runtime"), get("power_cap_watts"), get("mode"), get("mode_meaning"),
                     get("cache"), get("input"));
}

}  // namespace libkernels::bench
