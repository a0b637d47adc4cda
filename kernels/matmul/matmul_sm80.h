// Matmul on sm80: the translation units behind matmul_sm80.cu, one an arithmetic, so that none takes
// long to compile.
#pragma once

#include "kernels/matmul/matmul_tiles.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

using KernelPointer = void (*)(Params);

struct KernelSet {
  KernelPointer (*find)(const Variant& variant);
  cudaError_t (*preload)();  // of all
};

extern const KernelSet sm80_f16, sm80_bf16, sm80_f8, sm80_tf32, sm80_tf32x3, sm80_fp32;

}  // namespace libkernels::inline LK_BACKEND::op::matmul
