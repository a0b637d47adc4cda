#include "bench/gpu_state.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

namespace libkernels::bench {
namespace {

// The few declarations of nvml.h that are needed; its ABI is stable.
using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;
constexpr unsigned kTextBytes = 96;
constexpr double kLowClock = 0.9;  // of the highest clock: below it a row gets a note

struct Reason {
  unsigned long long bit;
  const char* word;
};
constexpr Reason kReasons[] = {
    {0x1, "idle"},
    {0x2, "application-clocks"},
    {0x4, "power-cap"},
    {0x8, "hardware"},
    {0x10, "sync-boost"},
    {0x20, "thermal"},
    {0x40, "hardware-thermal"},
    {0x80, "power-brake"},
    {0x100, "display"},
};

// What an operator set, and an idle GPU, throttle nothing.
constexpr unsigned long long kHarmless = 0x1 | 0x2;

bool has_reason(const std::string& words, const char* word) {
  return fmt::format("+{}+", words).find(fmt::format("+{}+", word)) != std::string::npos;
}

}  // namespace

std::string throttle_words(unsigned long long reasons) {
  std::string words;
  for (const Reason& reason : kReasons) {
    if ((reasons & reason.bit) == 0) continue;
    if (!words.empty()) words += '+';
    words += reason.word;
  }
  return words.empty() ? "none" : words;
}

struct GpuMonitor::Nvml {
  void* library = nullptr;
  NvmlDevice device = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  int (*shutdown)() = nullptr;
  GpuFacts facts;

  ~Nvml() {
    if (shutdown != nullptr) shutdown();
    if (library != nullptr) dlclose(library);
  }

  template <class F>
  bool load(F* function, const char* name) {
    *function = reinterpret_cast<F>(dlsym(library, name));
    return *function != nullptr;
  }

  bool open(const std::string& device_name, const std::string& bus_id) {
    library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return false;
    int (*init)() = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    if (!load(&init, "nvmlInit_v2") || init() != kSuccess) return false;
    load(&shutdown, "nvmlShutdown");
    char text[kTextBytes] = {};
    if (load(&driver_version, "nvmlSystemGetDriverVersion") &&
        driver_version(text, sizeof(text)) == kSuccess) {
      facts.driver = text;
    }
    load(&clock, "nvmlDeviceGetClockInfo");
    load(&power, "nvmlDeviceGetPowerUsage");
    load(&temperature, "nvmlDeviceGetTemperature");
    load(&energy, "nvmlDeviceGetTotalEnergyConsumption");
    if (!load(&reasons, "nvmlDeviceGetCurrentClocksEventReasons")) {
      load(&reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    if (!find_by_bus(bus_id) && !find_device(device_name)) return false;
    read_facts();
    return true;
  }

  bool find_by_bus(const std::string& bus_id) {
    int (*handle)(const char*, NvmlDevice*) = nullptr;
    if (bus_id.empty() || !load(&handle, "nvmlDeviceGetHandleByPciBusId_v2")) return false;
    if (handle(bus_id.c_str(), &device) == kSuccess) return true;
    device = nullptr;
    return false;
  }

  void read_facts() {
    int (*mode)(NvmlDevice, int*, int*) = nullptr;
    int now = 0, pending = 0;
    if (load(&mode, "nvmlDeviceGetEccMode") && mode(device, &now, &pending) == kSuccess) {
      facts.ecc = now != 0 ? "on" : "off";
    }
    if (load(&mode, "nvmlDeviceGetMigMode") && mode(device, &now, &pending) == kSuccess) {
      facts.mig = now != 0 ? "on" : "off";
    }
    int (*limit)(NvmlDevice, unsigned*) = nullptr;
    unsigned milliwatts = 0;
    if (load(&limit, "nvmlDeviceGetEnforcedPowerLimit") && limit(device, &milliwatts) == kSuccess) {
      facts.power_cap_watts = milliwatts * 1e-3;
    }
    int (*most)(NvmlDevice, int, unsigned*) = nullptr;
    if (load(&most, "nvmlDeviceGetMaxClockInfo")) {
      most(device, kClockSm, &facts.max_sm_mhz);
      most(device, kClockMemory, &facts.max_memory_mhz);
    }
  }

  // The first device of that name.
  bool find_device(const std::string& device_name) {
    int (*count)(unsigned*) = nullptr;
    int (*handle)(unsigned, NvmlDevice*) = nullptr;
    int (*name)(NvmlDevice, char*, unsigned) = nullptr;
    unsigned devices = 0;
    if (!load(&count, "nvmlDeviceGetCount_v2") || !load(&handle, "nvmlDeviceGetHandleByIndex_v2") ||
        !load(&name, "nvmlDeviceGetName") || count(&devices) != kSuccess) {
      return false;
    }
    for (unsigned i = 0; i < devices; ++i) {
      char text[kTextBytes] = {};
      NvmlDevice candidate = nullptr;
      if (handle(i, &candidate) != kSuccess) continue;
      if (name(candidate, text, sizeof(text)) != kSuccess || device_name != text) continue;
      device = candidate;
      return true;
    }
    return false;
  }
};

GpuMonitor::GpuMonitor(const std::string& device_name, const std::string& bus_id)
    : nvml_(std::make_unique<Nvml>()) {
  nvml_->open(device_name, bus_id);
}

GpuMonitor::~GpuMonitor() = default;

std::optional<GpuState> GpuMonitor::sample() const {
  if (nvml_->device == nullptr) return std::nullopt;
  GpuState state;
  unsigned milliwatts = 0;
  unsigned long long reasons = 0;
  if (nvml_->clock != nullptr) {
    nvml_->clock(nvml_->device, kClockSm, &state.sm_mhz);
    nvml_->clock(nvml_->device, kClockMemory, &state.memory_mhz);
  }
  if (nvml_->power != nullptr) nvml_->power(nvml_->device, &milliwatts);
  if (nvml_->temperature != nullptr) {
    nvml_->temperature(nvml_->device, kTemperatureGpu, &state.celsius);
  }
  if (nvml_->reasons != nullptr) nvml_->reasons(nvml_->device, &reasons);
  state.watts = milliwatts * 1e-3;
  state.throttle_reasons = throttle_words(reasons);
  return state;
}

const GpuFacts& GpuMonitor::facts() const { return nvml_->facts; }

std::optional<double> GpuMonitor::joules() const {
  unsigned long long millijoules = 0;
  if (nvml_->device == nullptr || nvml_->energy == nullptr) return std::nullopt;
  if (nvml_->energy(nvml_->device, &millijoules) != kSuccess) return std::nullopt;
  return double(millijoules) * 1e-3;
}

std::optional<GpuState> merge(const std::vector<GpuState>& samples) {
  if (samples.empty()) return std::nullopt;
  const auto median = [&](auto member) {
    std::vector<double> values;
    for (const GpuState& s : samples) values.push_back(double(s.*member));
    std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                     values.end());
    return values[values.size() / 2];
  };
  unsigned long long reasons = 0;
  for (const Reason& reason : kReasons) {
    for (const GpuState& s : samples) {
      if (has_reason(s.throttle_reasons, reason.word)) reasons |= reason.bit;
    }
  }
  return GpuState{.sm_mhz = unsigned(median(&GpuState::sm_mhz)),
                  .memory_mhz = unsigned(median(&GpuState::memory_mhz)),
                  .watts = median(&GpuState::watts),
                  .celsius = unsigned(median(&GpuState::celsius)),
                  .throttle_reasons = throttle_words(reasons)};
}

std::string clock_note(const GpuState& state, const GpuFacts& facts) {
  std::string note;
  const auto low = [&](const char* what, unsigned now, unsigned most) {
    if (now == 0 || most == 0 || now >= kLowClock * most) return;
    note += fmt::format("{}low {} clock: {} of {} MHz", note.empty() ? "" : "; ", what, now, most);
  };
  low("SM", state.sm_mhz, facts.max_sm_mhz);
  low("memory", state.memory_mhz, facts.max_memory_mhz);
  std::string reasons;
  for (const Reason& reason : kReasons) {
    if ((reason.bit & kHarmless) != 0 || !has_reason(state.throttle_reasons, reason.word)) continue;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "+", reason.word);
  }
  if (!reasons.empty()) note += fmt::format("{}throttled: {}", note.empty() ? "" : "; ", reasons);
  return note;
}

}  // namespace libkernels::bench
