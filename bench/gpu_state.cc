#include "bench/gpu_state.h"

#include <dlfcn.h>

namespace libkernels::bench {
namespace {

// The few declarations of nvml.h that are needed; its ABI is stable.
using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr unsigned kTextBytes = 96;

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
  int (*shutdown)() = nullptr;
  std::string driver;

  ~Nvml() {
    if (shutdown != nullptr) shutdown();
    if (library != nullptr) dlclose(library);
  }

  template <class F>
  bool load(F* function, const char* name) {
    *function = reinterpret_cast<F>(dlsym(library, name));
    return *function != nullptr;
  }

  bool open(const std::string& device_name) {
    library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return false;
    int (*init)() = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    if (!load(&init, "nvmlInit_v2") || init() != kSuccess) return false;
    load(&shutdown, "nvmlShutdown");
    char text[kTextBytes] = {};
    if (load(&driver_version, "nvmlSystemGetDriverVersion") &&
        driver_version(text, sizeof(text)) == kSuccess) {
      driver = text;
    }
    load(&clock, "nvmlDeviceGetClockInfo");
    load(&power, "nvmlDeviceGetPowerUsage");
    if (!load(&reasons, "nvmlDeviceGetCurrentClocksEventReasons")) {
      load(&reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    return find_device(device_name);
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

GpuMonitor::GpuMonitor(const std::string& device_name) : nvml_(std::make_unique<Nvml>()) {
  nvml_->open(device_name);
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
  if (nvml_->reasons != nullptr) nvml_->reasons(nvml_->device, &reasons);
  state.watts = milliwatts * 1e-3;
  state.throttle_reasons = throttle_words(reasons);
  return state;
}

std::string GpuMonitor::driver_version() const {
  return nvml_->driver.empty() ? "unknown" : nvml_->driver;
}

}  // namespace libkernels::bench
