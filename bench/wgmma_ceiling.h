// The rate of wgmma when nothing has to be fetched: a ceiling of every product on a 9.0 GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::bench_device {

struct WgmmaCeiling {
  const char* name;
  const char* unit;  // "wgmma bf16": what it is the ceiling of
  // FLOPs of a launch of one CTA an SM. By the datasheet 1.8 million iterations take a second on an
  // H200, whatever the type.
  double (*flops)(int sm_count, int iterations);
  // sink: a word of device memory, which is not written.
  cudaError_t (*launch)(std::uint32_t* sink, int sm_count, int iterations, cudaStream_t stream);
};

std::span<const WgmmaCeiling> wgmma_ceilings();

}  // namespace libkernels::inline LK_BACKEND::bench_device
