// Matmul on sm90: the tiles that are compiled.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/matmul/matmul_plan_sm90.h"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Bytes of K in a stage: a row of the copy engine's widest swizzle. Where M or N is adjacent, a row
// has so many bytes of that, and a stage is made of blocks as wide.
inline constexpr int kStageBytes = 128;
// Rows of A of one wgmma, and of C that a warp of the group has of it.
inline constexpr int kWgmmaM = 64, kWarpRows = 16;
inline constexpr int kGroupThreads = 128, kGroupWarps = 4;
// Of the first group, those that split B (tf32x3).
inline constexpr int kSplitWarps = kGroupWarps - 1, kSplitThreads = kSplitWarps * 32;

// bf16, f16 and tf32, of which a stage takes as long. A group of 64 x 256 has the most products
// for what it reads of shared memory; the narrower tiles are for problems of which it would leave
// SMs idle in the last wave. The last two columns are fitted to squares of 256 to 4096. Figures: us
// with bias and ReLU, of bf16 NT, and of tf32 NN and NT; in brackets cuBLASLt's best of 8 in the
// same run, on an NVIDIA H200, 2026-12-01.
constexpr TileSm90 kWgmmaConfigs[] = {
    // m, n, groups m, n, stages, ns a stage, ns a tile
    // The first, tf32: 2048^3: 47.4, 47.4 (49.3, 47.1); 4096^3: 385, 388 (392, 387); 8192^3: 3304
    // NN (3308)
    {128, 256, 2, 1, 4, 640, 3300},  // 2048^3: 25.9 (24.5); 4096^3: 199 (198); 8192^3: 1662 (1660)
    {128, 224, 2, 1, 4, 568, 3100},  // 1792^3: 20.3 (19.9); 512 x 14336 x 4096: 90.6 (91.3)
    {128, 192, 2, 1, 4, 488, 2600},  // 1536^3: 15.5 (13.3)
    {128, 160, 2, 1, 4, 415, 2400},  // 1536^3: 13.8 (13.3)
    {128, 128, 2, 1, 6, 328, 2000},  // 2048^3: 26.7 (24.5)
    {128, 64, 2, 1, 8, 235, 1300},   // 1024^3: 6.7 (6.6); tf32: 11.8, 10.3 (12.5, 11.5)
    {64, 128, 1, 1, 8, 185, 2150},   // 1024^3: 6.8 (6.6); tf32: 11.7, 10.5 (12.5, 11.5)
    {64, 64, 1, 1, 8, 131, 1000},    // 256^3: 2.8 (2.9); 512^3: 4.1 (4.1)
};

// f8. A group has registers for 64 x 128 sums, twice or thrice; three groups move the least through
// shared memory, which bounds narrower tiles. Clusters that share A or B gave nothing here, either:
// 192 x 128 in pairs along m, 8192^3: 943 us, along n 874, alone 857. Figures: us of e4m3 to bf16
// with bias and ReLU, NT, and in brackets cuBLASLt's best of 8, without fast accumulation, in the
// same run, on an NVIDIA H200, 2026-12-01. The last two columns are fitted to squares of 256 to
// 8192 and to 64 to 512 x 14336 x 4096.
constexpr TileSm90 kWgmma8Configs[] = {
    // m, n, groups m, n, stages, ns a stage, ns a tile
    {192, 128, 3, 1, 4, 640, 2200},  // 3072^3: 49.3 (56.9); 8192^3: 847 (879); 4096^3: 125 (115)
    {192, 96, 3, 1, 4, 500, 2200},   // 1536^3: 10.1 (10.8)
    {128, 128, 2, 1, 6, 436, 2000},  // 2048^3: 17.3 (17.0); 4096^3: 115 (115)
    {128, 112, 2, 1, 6, 395,
     2000},                         // Unmeasured: for 512 x 14336 x 4096, of which 128 x 128 wastes
    {64, 128, 1, 1, 8, 250, 1700},  // 1024^3: 5.8 (6.2); 64 x 14336 x 4096: 18.6 (18.5)
    {64, 64, 1, 1, 8, 180, 1200},   // 512^3: 3.7 (3.8)
    {64, 32, 1, 1, 8, 148, 1100},   // 256^3: 2.7 (2.9)
};

// tf32x3. Beside the sums there are those of a stage, in the tensor core, and beside B its lo.
constexpr TileSm90 kWgmmaTf32x3Configs[] = {
    {128, 192, 2, 1, 3, 1915, 2600},  // Unmeasured: changed since
    {128, 160, 2, 1, 3, 1737, 2400},  // Unmeasured: changed since
    {128, 128, 2, 1, 4, 1390, 2000},  // Unmeasured: changed since
    {128, 64, 2, 1, 6, 810, 1300},    // Unmeasured: changed since
};

constexpr std::span<const TileSm90> tiles_sm90(Arithmetic a) {
  if (a == Arithmetic::f8) return kWgmma8Configs;
  if (a == Arithmetic::tf32x3) return kWgmmaTf32x3Configs;
  return kWgmmaConfigs;
}

// wgmma takes 16-bit elements of any layout, and others with K adjacent. (But 32-bit ones of A may
// come from registers, and so in any layout.)
constexpr bool takes_any_major(Arithmetic a) {
  return a == Arithmetic::f16 || a == Arithmetic::bf16;
}

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct ConfigSm90 {
  Arithmetic arithmetic;
  DType type_a, type_b;
  Major a, b;
  int m, n, groups_m, groups_n, stages;

  constexpr TileSm90 tile() const { return {m, n, groups_m, groups_n, stages, 0, 0}; }
};

// The kernels of an arithmetic, a type and a layout of A are numbered: tiles, times two layouts of
// B or, of f8, two types.
constexpr std::size_t kernels_of_tile(Arithmetic a) {
  return takes_any_major(a) || a == Arithmetic::f8 ? 2 : 1;
}
constexpr ConfigSm90 config_sm90_at(Arithmetic arithmetic, DType type_a, Major a,
                                    std::size_t index) {
  const std::size_t each = kernels_of_tile(arithmetic);
  const TileSm90 t = tiles_sm90(arithmetic)[index / each];
  const bool second = index % each != 0, f8 = arithmetic == Arithmetic::f8;
  const Major b = second && !f8 ? Major::mn : Major::k;
  const DType type_b = !f8 ? type_a : second ? DType::f8_e5m2 : DType::f8_e4m3;
  return {arithmetic, type_a, type_b, a, b, t.m, t.n, t.groups_m, t.groups_n, t.stages};
}

// Rows of kStageBytes that a stage of so many M or N takes, of elements of so many bytes.
constexpr int stage_rows(int mn, Major major, int element) {
  const int block = kStageBytes / element;
  return major == Major::k ? mn : (mn + block - 1) / block * block;
}

// Columns of C that a warp stages at once on the way out, as 16-bit elements; and as fp32, padded
// (matmul_epilogue.cuh). Bytes of a warp: two of the former, or one of the latter.
constexpr int part_cols(const TileSm90& t) {
  const int n = t.n / t.groups_n;
  return n % 64 == 0 ? 64 : n % 32 == 0 ? 32 : 16;
}
// The swizzle of such a part: rows of it are rows of the pattern.
constexpr ptx::Swizzle part_swizzle(int cols) {
  return cols == 64 ? ptx::Swizzle::b128 : cols == 32 ? ptx::Swizzle::b64 : ptx::Swizzle::b32;
}
inline constexpr int kBlockCols = 32;
inline constexpr int kPartStaging = kWarpRows * 64 * 2, kWarpStaging = 2 * kPartStaging;
static_assert(kWarpStaging >= kWarpRows * (kBlockCols + 8) * int(sizeof(float)));

// Bytes of shared memory, in any layout: what Smem of matmul_shape_sm90.cuh takes at most.
constexpr std::size_t smem_bytes(const TileSm90& t, Arithmetic arithmetic) {
  const int element = takes_any_major(arithmetic) ? 2 : 4;
  const int rows = stage_rows(t.m, Major::mn, element) +
                   stage_rows(t.n, Major::mn, element) * (arithmetic == Arithmetic::tf32x3 ? 2 : 1);
  const std::size_t groups = std::size_t(t.groups());
  const std::size_t staging = groups * kGroupWarps * kWarpStaging;
  const std::size_t bias = groups * std::size_t(t.n / t.groups_n) * sizeof(float);
  const std::size_t barriers = std::size_t(t.stages) * 3 * 8;
  const std::size_t bytes = std::size_t(t.stages * rows * kStageBytes) + staging + bias + barriers;
  return (bytes + 1023) / 1024 * 1024;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
