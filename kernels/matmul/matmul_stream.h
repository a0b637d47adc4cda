// Matmul with very few columns: what its plan, its launcher and its kernel share. W, X and D are
// those of matmul_skinny.h.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul_epilogue.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct StreamTile {
  int cols;   // 8 or 16, at most
  int rows;   // of a warp, and of its CTA: a multiple of 8
  int chunk;  // bytes of a row: 128, 256 or 512
  int depth;  // chunks in flight
  int warps;  // that share K

  constexpr int threads() const { return 32 * warps; }
};

// For as many columns, the fewest warps first.
inline constexpr StreamTile kStreamTiles[] = {
    {8, 16, 256, 2, 8},   // 1 x 4096 x 4096 of bf16: 11.8 us, 9.1 to sum it (H200, 2026-12-01)
    {16, 32, 128, 4, 4},  // 16 x 14336 x 4096 of e4m3: 74 us (H200, 2026-12-01)
};

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct StreamConfig {
  DType type;  // f8_e4m3 stands for both f8
  int cols, rows, chunk, depth, warps;
};

inline constexpr int kStreamCols = 16;    // M of mma.sync
inline constexpr int kStreamMmaRows = 8;  // N of mma.sync
inline constexpr int kStreamCopy = 16;    // bytes of a cp.async

// Kernel arguments. Strides in bytes.
struct StreamParams {
  const void* w;  // [rows, k], k adjacent
  const void* x;  // [cols, k], k adjacent
  std::int64_t w_stride, x_stride, w_batch_stride, x_batch_stride;
  std::int64_t rows, k_bytes;
  std::int64_t row_tiles, tiles;  // of a product, and in all
  std::int32_t cols;
  bool w_e5m2, x_e5m2;
  bool cols_by_rows;  // C is taken as D^T
  Epilogue epilogue;
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
