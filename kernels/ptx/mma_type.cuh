// How the operands of matrix instructions hold their elements. Included by ptx.cuh's families.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::ptx {

// tf32 is the bits of an fp32 of which the low 13 are ignored: cvt_rna_tf32_f32 rounds to it.
enum class MmaType : std::uint8_t { f16, bf16, tf32, e4m3, e5m2 };

__host__ __device__ constexpr int mma_bytes(MmaType type) {
  return type == MmaType::tf32 ? 4 : type == MmaType::f16 || type == MmaType::bf16 ? 2 : 1;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
