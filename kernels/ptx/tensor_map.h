// Tensor maps, which tell the copy engine where a tensor lies: made on the host by launchers, with
// one body per backend.
//
//   struct Params { ptx::TensorMap map; ... };
//   __global__ void kernel(const __grid_constant__ Params p) { ... &p.map ... }
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/ptx/backend.h"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// Opaque. As a parameter of a kernel it needs no fence.
struct alignas(128) TensorMap {
  std::uint64_t opaque[16];
};

// In the order of CUtensorMapDataType. 8-bit floats travel as u8. tf32 is an fp32 in global memory,
// and rounded on the way into shared memory: to nearest, ties to even, as cvt.rn.tf32.f32 does.
enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32
};

// In the order of CUtensorMapL2promotion.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };

inline constexpr int kMaxTensorRank = 5;

// A tensor and the box that one copy moves, dimensions from the contiguous one up.
struct TiledTensor {
  const void* base = nullptr;  // a multiple of 16 bytes
  TensorType type = TensorType::u8;
  int rank = 1;
  std::uint64_t extents[kMaxTensorRank] = {};      // elements, 1 to 2^32
  std::uint64_t strides[kMaxTensorRank - 1] = {};  // bytes, of dimensions 1 up; multiples of 16
  std::uint32_t box[kMaxTensorRank] = {};          // elements, 1 to 256; rows multiples of 16 bytes
  Swizzle swizzle = Swizzle::none;                 // rows of the box at most swizzle_width() bytes
  L2Promotion promotion = L2Promotion::none;
};

constexpr std::uint32_t tensor_type_bytes(TensorType type) {
  constexpr std::uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4};
  return kBytes[int(type)];
}

// Bytes of the box: what the mbarrier of a copy counts, whatever lies outside the tensor.
constexpr std::uint32_t box_bytes(const TiledTensor& t) {
  std::uint32_t bytes = tensor_type_bytes(t.type);
  for (int i = 0; i < t.rank; ++i) bytes *= t.box[i];
  return bytes;
}

// cuTensorMapEncodeTiled. cudaErrorInvalidValue if a rule is broken (the emulator's last_fault()
// says which), cudaErrorNotSupported without a driver that has it.
[[nodiscard]] cudaError_t encode_tiled(TensorMap* map, const TiledTensor& tensor);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/tensor_map.inl"
#else
#include "kernels/ptx/cuda/tensor_map.inl"
#endif
