// GPU generations for which kernels are written.
#pragma once

#include <cstdint>

namespace libkernels {

// A generation of kernels, not of GPUs: which GPUs run it, runs_on() says.
enum class Arch : std::int32_t {
  sm80 = 80,    // cp.async, ldmatrix, mma.sync; everyone's fallback
  sm90 = 90,    // TMA, mbarrier, clusters, wgmma
  sm100 = 100,  // TMA, tcgen05, tensor memory
};

// True if kernels of generation `arch` run on compute capability `major`.`minor`.
//
// sm80 ships machine code for 8.x, 9.0 and 10.x and PTX for everything newer. sm90 is built for
// the architecture-specific target 90a, which runs on 9.0 alone. sm100 is built for the family
// target 100f: 10.0 and 10.3, and neither 11.0 nor 12.x, which have no tensor memory of that kind.
// This function is the only place that knows: dispatch asks it and nothing else.
constexpr bool runs_on(Arch arch, int major, int minor) {
  switch (arch) {
    case Arch::sm80:
      return major >= 8;
    case Arch::sm90:
      return major == 9 && minor == 0;
    case Arch::sm100:
      return major == 10;
  }
  return false;
}

// "sm80", "sm90", "sm100", or "invalid".
constexpr const char* name(Arch arch) {
  switch (arch) {
    case Arch::sm80:
      return "sm80";
    case Arch::sm90:
      return "sm90";
    case Arch::sm100:
      return "sm100";
  }
  return "invalid";
}

}  // namespace libkernels
