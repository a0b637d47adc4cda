// The limits of one device, as plain data: read from the driver (src/device_cuda.cc) or taken from
// an emulated profile (kernels/ptx/emu/profile.cc). Planners read it; no SM count is hard-coded.
#pragma once

#include <cstddef>

namespace libkernels {

struct DeviceProperties {
  char name[64] = {};
  int cc_major = 0;
  int cc_minor = 0;
  int sm_count = 0;
  int max_threads_per_cta = 0;
  int max_threads_per_sm = 0;
  int max_ctas_per_sm = 0;
  int registers_per_sm = 0;
  std::size_t smem_per_sm = 0;         // bytes
  std::size_t smem_per_cta_optin = 0;  // bytes, the most one CTA may ask for
  std::size_t l2_bytes = 0;
  std::size_t memory_bytes = 0;
  // Datasheet peaks, for rooflines only; 0 where unknown.
  double peak_bytes_per_s = 0;
  double peak_bf16_flops = 0;
};

}  // namespace libkernels
