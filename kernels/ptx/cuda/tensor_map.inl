#pragma once

#include <cuda.h>  // types alone: the function comes from the driver at run time
#include <cudaTypedefs.h>

namespace libkernels::inline LK_BACKEND::ptx {

static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) &&
              alignof(TensorMap) >= alignof(CUtensorMap));
static_assert(int(TensorType::bf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 &&
              int(TensorType::f16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
              int(TensorType::tf32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 &&
              int(Swizzle::b128) == CU_TENSOR_MAP_SWIZZLE_128B &&
              int(L2Promotion::b256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);

// Null without a driver.
inline PFN_cuTensorMapEncodeTiled_v12000 driver_encode_tiled() {
  constexpr unsigned kFirstVersion = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", &function, kFirstVersion, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

inline cudaError_t encode_tiled(TensorMap* map, const TiledTensor& t) {
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = driver_encode_tiled();
  if (encode == nullptr) return cudaErrorNotSupported;
  constexpr std::uint32_t kElementStrides[kMaxTensorRank] = {1, 1, 1, 1, 1};
  cuuint64_t extents[kMaxTensorRank] = {}, strides[kMaxTensorRank] = {};
  for (int i = 0; i < kMaxTensorRank; ++i) extents[i] = t.extents[i];
  for (int i = 0; i + 1 < kMaxTensorRank; ++i) strides[i] = t.strides[i];
  const CUresult result =
      encode(reinterpret_cast<CUtensorMap*>(map), CUtensorMapDataType(t.type), cuuint32_t(t.rank),
             const_cast<void*>(t.base), extents, strides, t.box, kElementStrides,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CUtensorMapSwizzle(t.swizzle),
             CUtensorMapL2promotion(t.promotion), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
