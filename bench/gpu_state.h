// The GPU's clocks, power and throttling while something is measured, from NVML. NVML is looked for
// at run time; where it is absent, so are the figures.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace libkernels::bench {

struct GpuState {
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  double watts = 0;
  unsigned celsius = 0;
  std::string throttle_reasons;  // "none", "power-cap", "power-cap+thermal", ...
};

// What does not change during a run; "unknown" and 0 where NVML does not say.
struct GpuFacts {
  std::string driver = "unknown";
  std::string ecc = "unknown";  // "on", "off"
  std::string mig = "unknown";  // "on", "off"
  double power_cap_watts = 0;
  unsigned max_sm_mhz = 0;
  unsigned max_memory_mhz = 0;
};

class GpuMonitor {
 public:
  // The device that is measured: by its PCI bus id ("" if unknown: by name), since NVML counts
  // devices differently than CUDA.
  explicit GpuMonitor(const std::string& device_name, const std::string& bus_id = "");
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  std::optional<GpuState> sample() const;
  const GpuFacts& facts() const;
  // Of the device since the driver was loaded; steps of some 20 to 100 ms.
  std::optional<double> joules() const;

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;
};

// NVML's bit mask in words.
std::string throttle_words(unsigned long long reasons);

// Of several samples: medians of the figures, every throttle reason that was seen.
std::optional<GpuState> merge(const std::vector<GpuState>& samples);

// What a reader of the row has to know of the clocks; "" if nothing. A clock that has not come up
// is noted, never a reason to drop a sample.
std::string clock_note(const GpuState& state, const GpuFacts& facts);

}  // namespace libkernels::bench
