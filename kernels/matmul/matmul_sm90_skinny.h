// Matmul with few rows or columns on sm90: the translation units behind matmul_sm90_skinny.cu, one
// a type.
#pragma once

#include "kernels/common/config_table.h"
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_skinny_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// The kernels of a translation unit.
struct SkinnyKernelSet {
  cudaError_t (*launch)(SkinnyPlan& plan, cudaStream_t stream);  // makes the tensor maps
  cudaError_t (*resources)(const SkinnyPlan& plan, KernelResources* out);
  cudaError_t (*preload)();
};

extern const SkinnyKernelSet sm90_skinny_f16, sm90_skinny_bf16, sm90_skinny_f8;

}  // namespace libkernels::inline LK_BACKEND::op::matmul
