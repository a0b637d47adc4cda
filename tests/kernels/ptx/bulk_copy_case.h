// What bulk_copy_kernels.cu offers to bulk_copy_test.cc, per backend.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace libkernels::test {

inline constexpr int kBulkWords = 4096;  // of a CTA's tile
inline constexpr std::uint32_t kBulkPoison = 0xffe7ffe7u;
inline constexpr int kBulkCtas = 4;  // of a cluster, at most

// Offsets and sizes in bytes, all multiples of 16.
struct BulkDraw {
  int ctas = 1;
  bool hint = false;
  std::uint32_t bytes = 16;
  std::uint32_t shared = 0;             // offset in the tile, of rank 0
  std::uint32_t global = 0;             // offset in the buffer, of rank 0
  std::uint32_t step = 0;               // both grow by this from rank to rank
  std::uint32_t masks[kBulkCtas] = {};  // multicast: whom each rank sends to; else 0
  int shift = 0;                        // cluster copies: to rank + shift
};

struct StreamDraw {
  int stages = 1, chunks = 1;
  std::uint32_t bytes = 16;  // of a chunk
  int ctas = 1;
};

struct BulkKernels {
  // Loads of every rank, then the tiles of all, [ctas, kBulkWords].
  cudaError_t (*load)(const void* in, const BulkDraw& draw, std::uint32_t* out,
                      cudaStream_t stream);
  // `in` becomes every rank's tile, [ctas, kBulkWords]; parts of it go to out.
  cudaError_t (*store)(const std::uint32_t* in, const BulkDraw& draw, void* out,
                       cudaStream_t stream);
  // The same to the tiles of other ranks; then all tiles, [ctas, kBulkWords].
  cudaError_t (*cluster_copy)(const std::uint32_t* in, const BulkDraw& draw, std::uint32_t* out,
                              cudaStream_t stream);
  // Each CTA's chunks pass through a ring of stages in shared memory and come out complemented.
  cudaError_t (*stream)(const std::uint32_t* in, const StreamDraw& draw, std::uint32_t* out,
                        cudaStream_t stream);
};

}  // namespace libkernels::test
