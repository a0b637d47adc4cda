// Kernels around wgmma.mma_async, seen from outside: the same source, compiled once per backend,
// hands the tests a list of these.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "kernels/ptx/backend.h"

namespace libkernels::test {

// Tiles are plain rows of `steps` times 32 bytes of K, whatever the layout in shared memory.
struct WgmmaParams {
  const unsigned char* a;  // [tiles, 64, 32 steps] bytes
  const unsigned char* b;  // [tiles, n, 32 steps]
  const float* c;          // [tiles, 64, n]
  float* d;                // [tiles, 64, n]
  bool scale_d;            // is C added?
};

struct WgmmaCase {
  const char* name;
  const char* a;  // the element types: "bf16", "e4m3", ...
  const char* b;
  int n;
  int steps;  // products that add up
  cudaError_t (*launch)(const WgmmaParams& params, unsigned tiles, cudaStream_t stream);
};

}  // namespace libkernels::test
