// Matmul on sm90: the tiles that are compiled.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/matmul/matmul_plan_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Bytes of K in a stage: a row of the copy engine's widest swizzle.
inline constexpr int kStageBytes = 128;
// Rows of A of one wgmma, and of C that a warp of the group has of it.
inline constexpr int kWgmmaM = 64, kWarpRows = 16;
inline constexpr int kGroupThreads = 128, kGroupWarps = 4;

// Columns of C that a warp stages at once on the way out.
inline constexpr int kPartCols = 64;       // as 16-bit elements
inline constexpr int kBlockCols = 32;      // as fp32, padded (matmul_epilogue.cuh)
inline constexpr int kWarpStaging = 4096;  // bytes: two of 16 x 64 x 2, or one of 16 x (32 + 8) x 4

// bf16 and f16.
constexpr TileSm90 kWgmma16Configs[] = {
    // m, n, groups m, n, stages, cluster m, n, lead, ns a stage, ns a tile
    {128, 256, 2, 1, 4, 2, 1, 0, 600, 2500},  // Unmeasured: first version
    {256, 128, 2, 1, 4, 1, 2, 0, 620, 2500},  // Unmeasured: first version
    {128, 128, 2, 1, 6, 2, 1, 0, 330, 2000},  // Unmeasured: first version
    {128, 64, 2, 1, 8, 1, 1, 0, 230, 1600},   // Unmeasured: first version
    {64, 64, 1, 1, 8, 1, 1, 0, 160, 1300},    // Unmeasured: first version
};

constexpr std::span<const TileSm90> tiles_sm90(Arithmetic) { return kWgmma16Configs; }

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct ConfigSm90 {
  Arithmetic arithmetic;
  Major a, b;
  int m, n, groups_m, groups_n, stages, cluster_m, cluster_n, lead;

  constexpr TileSm90 tile() const {
    return {m, n, groups_m, groups_n, stages, cluster_m, cluster_n, lead, 0, 0};
  }
};

// The kernels of an arithmetic and a layout of A are numbered: tiles, times two layouts of B.
constexpr ConfigSm90 config_sm90_at(Arithmetic arithmetic, Major a, std::size_t index) {
  const TileSm90 t = tiles_sm90(arithmetic)[index / 2];
  return {arithmetic,  a,        index % 2 != 0 ? Major::mn : Major::k,
          t.m,         t.n,      t.groups_m,
          t.groups_n,  t.stages, t.cluster_m,
          t.cluster_n, t.lead};
}

// Bytes of shared memory: what Smem of matmul_wgmma_sm90.cuh takes.
constexpr std::size_t smem_bytes(const TileSm90& t) {
  const std::size_t groups = std::size_t(t.groups());
  const std::size_t stages = std::size_t(t.stages) * (t.m + t.n) * kStageBytes;
  const std::size_t staging = groups * kGroupWarps * kWarpStaging;
  const std::size_t bias = groups * (t.n / t.groups_n) * sizeof(float);
  const std::size_t barriers = std::size_t(t.stages) * 2 * 8;
  return (stages + staging + bias + barriers + 1023) / 1024 * 1024;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
