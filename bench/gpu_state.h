// The GPU's clocks, power and throttling while something is measured, from NVML. NVML is looked for
// at run time; where it is absent, so are the figures.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace libkernels::bench {

struct GpuState {
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  double watts = 0;
  std::string throttle_reasons;  // "none", "power", "power+thermal", ...
};

class GpuMonitor {
 public:
  // `device_name`: of the device that is measured; NVML counts devices differently than CUDA.
  explicit GpuMonitor(const std::string& device_name);
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  std::optional<GpuState> sample() const;
  std::string driver_version() const;  // "unknown" without NVML

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;
};

// NVML's bit mask in words.
std::string throttle_words(unsigned long long reasons);

}  // namespace libkernels::bench
