// What is timed beside the library's GeLU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "include/libkernels/dtype.h"

namespace libkernels::bench {

enum class GeluForm { tanh, erf };

struct GeluCallArgs {
  const void* x;
  void* y;
  void* scratch[2];  // `n` elements of x_type each; of the unfused chain alone
  DType x_type;      // f32, f16, bf16
  DType y_type;      // x_type or f32
  GeluForm form;
  std::int64_t n;
  cudaStream_t stream;
};

struct GeluBaseline {
  const char* name;
  // Kernels that one call launches.
  int (*launches)(const GeluCallArgs& call);
  cudaError_t (*launch)(const GeluCallArgs& call);
};

}  // namespace libkernels::bench
