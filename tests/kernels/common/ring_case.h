// Kernels on common/pipeline.cuh and common/cluster_exchange.cuh, seen from outside.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "kernels/ptx/backend.h"

namespace libkernels::test {

inline constexpr int kRingThreads = 96;    // a producer warp and two of consumers
inline constexpr int kRingItemWords = 64;  // what a stage holds: a word a consumer
inline constexpr int kReduceRounds = 5;

struct RingParams {
  const std::uint32_t* in;  // ring: [ctas, items, kRingItemWords]; reduce: [ctas, kReduceRounds]
  std::uint32_t* out;  // ring: [ctas, items, kRingItemWords]; reduce: [ctas, kReduceRounds, 32]
  int items;           // of the ring, of each CTA
};

struct RingCase {
  const char* name;
  bool reduces;
  int cluster;
  cudaError_t (*launch)(const RingParams& params, unsigned ctas, cudaStream_t stream);
};

}  // namespace libkernels::test
