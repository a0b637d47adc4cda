// Matmul with few rows or columns: what its plan, its launcher and its kernel share.
//
// The problem is seen as D = W X, where W, [rows, k], is the operand of many rows (B^T, or A) and
// X, [k, cols], the one of at most 64 columns (A^T, or B). C is D or its transpose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/ptx/descriptor.cuh"
#include "kernels/ptx/tensor_map.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A tile of D, which one CTA computes, or a cluster that shares its K.
struct SkinnyTile {
  int rows;  // a multiple of 64
  int cols;  // N of wgmma
  int stages;
  int ctas_per_sm;
};

inline constexpr SkinnyTile kSkinnyTiles[] = {
    {128, 8, 5, 2},
    {128, 16, 5, 2},
    {128, 32, 4, 2},
    {128, 64, 3, 2},
};

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct SkinnyConfig {
  DType type;
  ptx::Major w, x;  // which index is adjacent: k, or (mn) the row of W or the column of X
  int rows, cols, stages, ctas_per_sm;
};

inline constexpr int kSkinnyThreads = 160;   // a warpgroup that multiplies, and a warp that loads
inline constexpr int kSkinnyWarps = 4;       // of the warpgroup
inline constexpr int kSkinnyRowBytes = 128;  // of a row of W in a stage: the swizzle's
inline constexpr int kSkinnyMmaRows = 64;
inline constexpr int kSkinnyMaxCols = 64;
inline constexpr int kSkinnyMaxCtas = 8;  // of a cluster

// The swizzle of X where its columns are adjacent: a row of the tile is one of the pattern.
__host__ __device__ constexpr ptx::Swizzle skinny_x_swizzle(int row_bytes) {
  return row_bytes == 16   ? ptx::Swizzle::none
         : row_bytes == 32 ? ptx::Swizzle::b32
         : row_bytes == 64 ? ptx::Swizzle::b64
                           : ptx::Swizzle::b128;
}

// Kernel arguments.
struct SkinnyParams {
  ptx::TensorMap w;    // (k, row, batch), or (row, k, batch) in boxes of 64 rows
  ptx::TensorMap x;    // (k, col, batch), or (col, k, batch)
  std::int64_t tiles;  // row tiles times products
  std::int32_t row_tiles;
  std::int32_t k_blocks;  // stages of K
  std::int32_t cols;
  bool w_batched, x_batched;         // false: all products read the same
  bool interleaved;                  // the CTAs of a cluster take turns in K; else a run of it each
  bool cols_by_rows;                 // C is taken as D^T
  std::uint64_t w_policy, x_policy;  // ptx::CachePolicy
  Epilogue epilogue;
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
