// Broken kernels for the emulator, each with a twin that differs in the one mistake.
#pragma once

#include <cuda_runtime.h>

#include <span>

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

}  // namespace libkernels::test

namespace libkernels::inline LK_BACKEND::test_faults {
std::span<const test::FaultCase> cases();
bool hooked();  // are plain loads and stores seen?
}  // namespace libkernels::inline LK_BACKEND::test_faults
