// What tensor_copy_kernels.cu offers to tensor_copy_test.cc, per backend.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace libkernels::test {

inline constexpr int kTileBytes = 32 * 1024;  // of shared memory, the largest box drawn
inline constexpr int kTileWords = kTileBytes / 4;
inline constexpr std::uint32_t kTilePoison = 0xffe7ffe7u;
inline constexpr int kMostCtas = 4;      // of a cluster
inline constexpr int kSlotWords = 1024;  // multicast: a slot for each issuing CTA

// A tensor, a box and where it starts; in the enumerations' numbers.
struct TensorDraw {
  int type = 0, rank = 1, swizzle = 0, promotion = 0;
  std::uint64_t extents[3] = {1, 1, 1};
  std::uint64_t strides[2] = {};  // bytes
  std::uint32_t box[3] = {1, 1, 1};
  int at[3] = {};
  bool hint = false;
};

// Of each CTA of a cluster: whom its copy goes to, and how far from the draw's box it starts.
struct MulticastDraw {
  int ctas = 1;
  std::uint32_t masks[kMostCtas] = {};
  int shift = 0;  // in the outermost dimension, times the rank
};

struct TensorSide {
  // The box, into a tile of kTilePoison; the whole tile to `out`, kTileWords words.
  cudaError_t (*load)(const void* base, const TensorDraw& draw, std::uint32_t* out,
                      cudaStream_t stream);
  // From a tile that holds `in`, kTileWords words.
  cudaError_t (*store)(void* base, const TensorDraw& draw, const std::uint32_t* in,
                       cudaStream_t stream);
  // Every CTA's slots, [ctas, kMostCtas, kSlotWords] words.
  cudaError_t (*multicast)(const void* base, const TensorDraw& draw, const MulticastDraw& cast,
                           std::uint32_t* out, cudaStream_t stream);
  // Encodes only.
  cudaError_t (*encode)(const void* base, const TensorDraw& draw);
};

}  // namespace libkernels::test
