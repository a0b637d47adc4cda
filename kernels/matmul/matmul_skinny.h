// Matmul with few rows or columns: what its plan, its launcher and its kernel share.
//
// The problem is seen as D = W X, where W, [rows, k], is the operand of many rows (B^T, or A) and
// X, [k, cols], the one of at most 64 columns (A^T, or B). C is D or its transpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/ptx/descriptor.cuh"
#include "kernels/ptx/tensor_map.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A tile of D, which one CTA computes, or several of a cluster that share its K.
struct SkinnyTile {
  int rows;     // a multiple of 64 groups
  int cols;     // N of wgmma
  int groups;   // warpgroups that multiply, each its rows
  int sharers;  // CTAs with adjacent rows that copy X once, for all of them
  int stages;
  int ctas_per_sm;

  // A warp that copies; or a warpgroup of which one does, to leave its registers to the others.
  constexpr int threads() const { return 128 * groups + (groups == 1 ? 32 : 128); }
};

// By columns, then rows; the last is for a deep K. One CTA an SM. Figures are us of bf16, NT, on an
// NVIDIA H200, 2026-12-01, with cuBLASLt's best of 8 and the sum of the operand in the same run.
inline constexpr SkinnyTile kSkinnyTiles[] = {
    {64, 8, 1, 1, 16, 1},  // 1 x 4096 x 4096: 12.9 (13.4, 9.1); 1 x 6144 x 4096: 15.5 (15.3, 12.8)
    {128, 8, 1, 1, 8, 1},  // 1 x 14336 x 4096: 29.7 (30.4, 26.7); 1 x 28672 x 8192: 110 (118, 104)
    {64, 16, 1, 1, 16,
     1},  // 16 x 4096 x 4096: 13.3 (13.5, 9.1); 16 x 6144 x 4096: 15.9 (15.7, 12.8)
    {128, 16, 1, 1, 8, 1},   // 16 x 14336 x 4096: 30.7 (30.1, 26.7)
    {64, 32, 1, 1, 12, 1},   // Unmeasured: as those of 16 and 64 columns
    {128, 32, 1, 1, 8, 1},   // Unmeasured: as those of 16 and 64 columns
    {64, 64, 1, 1, 10, 1},   // 64 x 6144 x 4096: 17.5 (15.8, 12.8)
    {128, 64, 1, 1, 7, 1},   // 64 x 14336 x 4096: 33.6 (30.5, 26.7)
    {128, 256, 2, 2, 4, 1},  // 256 x 256 x 262144: 79.4 (84.9, 59.8), 74 without adding up
};

inline constexpr int kSkinnyDeepTile = int(std::size(kSkinnyTiles)) - 1;

// f8, of which with more columns matmul_sm90 is faster: us of e4m3, this kernel first, in brackets
// cuBLASLt's best of 8 in the same run (H200, 2026-12-01): 1 x 14336 x 4096: 18.2 and 19.7 (17.6);
// 1 x 4096 x 14336: 23.8 and 46.4 (19.5); 32 x 4096 x 4096: 11.4 and 11.4 (7.7); 64 x 4096 x 4096:
// 13.3 and 8.5 (7.9); 64 x 14336 x 4096: 22.3 and 18.6 (18.7); 1 x 28672 x 8192: 58.3 (61.7).
inline constexpr int kSkinnyMaxColsF8 = 32;

// The tiles that a type has, from the first on.
constexpr int skinny_tiles(DType type) {
  int count = 0;
  while (kSkinnyTiles[count].cols <= kSkinnyMaxColsF8) ++count;
  return is_f8(type) ? count : int(std::size(kSkinnyTiles));
}

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct SkinnyConfig {
  DType type_w, type_x;
  ptx::Major w, x;  // which index is adjacent: k, or (mn) the row of W or the column of X
  int rows, cols, groups, sharers, stages, ctas_per_sm;

  constexpr SkinnyTile tile() const { return {rows, cols, groups, sharers, stages, ctas_per_sm}; }
};

inline constexpr int kSkinnyRowBytes = 128;  // of W and X in a stage: the swizzle's
inline constexpr int kSkinnyMmaRows = 64;
inline constexpr int kSkinnyBoxCols = 64;  // at most, where columns of X are adjacent
inline constexpr int kSkinnyMaxCols = 64;
inline constexpr int kSkinnyMaxCluster = 8;

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
  ptx::TensorMap x;    // (k, col, batch), or (col, k, batch) in boxes of 64 columns or all
  std::int32_t rows;   // of a CTA's tile: at most those of the instantiation
  std::int32_t tiles;  // of a cluster: row tiles, times column tiles, times products and splits
  std::int32_t row_tiles, col_tiles;  // of a cluster
  std::int32_t splits;                // of K, among tiles
  std::int32_t k_blocks;              // stages of K
  std::int32_t log2_parts;            // of a split, in a cluster
  std::int32_t cols;
  bool w_batched, x_batched;  // false: all products read the same
  bool cols_by_rows;          // C is taken as D^T
  Epilogue epilogue;          // of C; with splits, of sums in scratch: a product each
};

// The splits of a product added up, in their order, and the epilogue.
struct SkinnyCombineParams {
  const float* sums;  // [batch][splits][cols][pitch]
  std::int64_t rows, cols, batch;
  std::int64_t pitch;  // at least rows, a multiple of four
  std::int32_t splits;
  bool cols_by_rows;
  Epilogue epilogue;
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
