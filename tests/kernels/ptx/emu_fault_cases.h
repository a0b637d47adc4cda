// Broken kernels for the emulator, each with a twin that differs in the one mistake.
#pragma once

#include <cuda_runtime.h>

#include <span>
#include <string>
#include <vector>

#include "kernels/ptx/backend.h"

namespace libkernels::test {

inline constexpr int kFaultThreads = 128;  // per CTA

struct FaultParams {
  float* data;  // kFaultThreads floats a CTA
  const float* input;
  int zero = 0;
};

struct FaultCase {
  const char* name;  // of the kernel, too
  unsigned ctas;
  cudaError_t (*broken)(const FaultParams& params);
  cudaError_t (*correct)(const FaultParams& params);
};

// What the text of a fault must say, besides the kernel's name.
struct Expected {
  const char* name;
  cudaError_t error;
  bool needs_hooks;
  std::vector<std::string> parts;
};

}  // namespace libkernels::test

namespace libkernels::inline LK_BACKEND::test_faults {
std::span<const test::FaultCase> cases();
std::span<const test::FaultCase> matrix_cases();  // emu_fault_matrix_kernels.cu
bool hooked();                                    // are plain loads and stores seen?
}  // namespace libkernels::inline LK_BACKEND::test_faults

// A FaultCase of the kernel template KERNEL, launched by the run<CTAS>() of its file.
#define LK_FAULT_CASE(CTAS, KERNEL)                                           \
  {                                                                           \
#KERNEL, CTAS, [](const Params& p) { return run<CTAS>(&KERNEL<true>, p); }, \
   [](const Params& p) { return run<CTAS>(&KERNEL<false>, p); } \
  }
