// Broken kernels of sm_90 for the emulator, each with a twin that differs in the one mistake.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "kernels/ptx/backend.h"
#include "kernels/ptx/tensor_map.h"

namespace libkernels::test {

inline constexpr int kHopperThreads = 128;  // per CTA
inline constexpr int kHopperWords = 1024;   // a CTA's part of data and of input
inline constexpr int kHopperRows = 32;      // of the tensor that the map describes: [32][64] bf16

}  // namespace libkernels::test

namespace libkernels::inline LK_BACKEND::test_hopper {

struct Params {
  ptx::TensorMap map;        // of input's first words
  ptx::TensorMap map_wrong;  // of more rows than input has
  std::uint32_t* data;
  const std::uint32_t* input;
};

struct Case {
  const char* name;  // of the kernel, too
  cudaError_t (*broken)(const Params& params);
  cudaError_t (*correct)(const Params& params);
};
std::span<const Case> cases();
std::span<const Case> cluster_cases();
std::span<const Case> wgmma_cases();
bool hooked();

}  // namespace libkernels::inline LK_BACKEND::test_hopper
