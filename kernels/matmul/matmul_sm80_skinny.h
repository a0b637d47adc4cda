// Matmul with very few rows or columns on sm80: the translation units behind matmul_sm80_skinny.cu,
// one a type.
#pragma once

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_stream_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// The kernels of a translation unit.
struct StreamKernelSet {
  cudaError_t (*launch)(const StreamPlan& plan, const LaunchContext& context);
  cudaError_t (*resources)(int tile, KernelResources* out);
  cudaError_t (*preload)();
};

extern const StreamKernelSet sm80_skinny_f16, sm80_skinny_bf16, sm80_skinny_f8;

}  // namespace libkernels::inline LK_BACKEND::op::matmul
