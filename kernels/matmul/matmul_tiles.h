// Matmul on sm80: the tiles that are compiled, largest first.
//
// Figures are TFLOP/s of square problems, n^3, on an NVIDIA H200, with the tile that the plan takes
// there: in short bursts, and NN unless said otherwise. None of those sizes takes the other tiles.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/matmul/matmul_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// bf16 and f16 from aligned operands. A warp of 64 x 64 reads 64 + 64 rows of shared memory for 64
// * 64 products: the most that 128 accumulators a thread allow, and as much as the banks deliver
// beside the copies (per SM and k16: 8 warps, 32 KB of ldmatrix and 12 to 16 KB of cp.async, 344 to
// 384 clocks, against 390 of mma.sync at its measured 629 TFLOP/s). All run in the 99 KB of 8.6,
// 8.9 and 12.x.
constexpr Tile kAsync16Configs[] = {
    // m, n, k bytes, warps m, warps n, stages, CTAs an SM
    // 2026-12-01: bf16 4096: 437 NN, 438 NT, 425 TN; 8192: 446; 2048: 400. The power limit held
    // 4096 at 1.57 GHz and 8192 at 1.47. Stages of 128 bytes: 431, 442 (8192).
    {128, 256, 64, 2, 4, 4, 1},
    {128, 128, 64, 2, 2, 4, 2},  // 2026-12-01: bf16 4096: 430, if it were taken there
    {64, 64, 128, 2, 2, 4, 3},   // 2026-11-30: bf16 1024: 173; 512: 38
};

// bf16 and f16 from other operands, and fp8: the next stage is in registers meanwhile.
constexpr Tile kStaged16Configs[] = {
    {128, 128, 64, 2, 4, 2, 1},  // 2026-11-30: 1793: 55; 4095: 85; e4m3 4096: 90 NT
    {64, 64, 64, 2, 2, 2, 3},    // Unmeasured: no such size yet
};

// tf32.
constexpr Tile kAsyncTf32Configs[] = {
    {128, 128, 128, 2, 4, 3, 1},  // 2026-11-30: 4096: 108
    {64, 64, 128, 2, 2, 4, 2},    // Unmeasured: no such size yet
};
constexpr Tile kStagedTf32Configs[] = {
    {128, 128, 64, 2, 4, 2, 1},  // Unmeasured: no such size yet
    {64, 64, 64, 2, 2, 2, 2},    // Unmeasured: no such size yet
};

// tf32x3: two sets of sums and the split fragments leave room for 64 x 32 of a warp where cp.async
// copies, whose fragments come without a shift, and for 32 x 32 elsewhere.
constexpr Tile kAsyncTf32x3Configs[] = {
    {128, 128, 128, 2, 4, 3, 1},  // 2026-12-01: 4096: 52
    {64, 128, 128, 2, 4, 3, 1},   // 2026-12-01: 1024: 37; 4096: 40, if it were taken there
};
constexpr Tile kStagedTf32x3Configs[] = {
    {64, 128, 64, 2, 4, 2, 1},  // Unmeasured: changed since
    {64, 64, 64, 2, 2, 2, 2},   // Unmeasured: changed since
};

// fp32 by fused multiply-adds, 8 x 16 or 8 x 8 sums a thread (matmul_sm80_fp32.cu). Stages of
// 8 of K: the loop of 16 is too long for the instruction cache (4096: 46.8 instead of 51.6).
constexpr Tile kFp32Configs[] = {
    {128, 256, 32, 2, 4, 4, 1},  // 2026-12-01: 4096: 50.7, 44.5 NT, 50.8 TN
    {64, 128, 32, 2, 2, 4, 2},   // 2026-12-01: 1024: 37.9
};

constexpr std::span<const Tile> tiles_of(Arithmetic arithmetic, Load load) {
  switch (arithmetic) {
    case Arithmetic::f16:
    case Arithmetic::bf16:
      return load == Load::async ? std::span<const Tile>(kAsync16Configs) : kStaged16Configs;
    case Arithmetic::f8:
      return kStaged16Configs;
    case Arithmetic::tf32:
      return load == Load::async ? std::span<const Tile>(kAsyncTf32Configs) : kStagedTf32Configs;
    case Arithmetic::tf32x3:
      return load == Load::async ? std::span<const Tile>(kAsyncTf32x3Configs)
                                 : kStagedTf32x3Configs;
    case Arithmetic::fp32:
      return kFp32Configs;
  }
  return {};
}

// What an instantiation fixes, as a template argument: flat, see kernels/common/config_table.h.
struct Config {
  Arithmetic arithmetic;
  Load load;
  Major a, b;
  int m, n, k_bytes, warps_m, warps_n, stages, ctas_per_sm;

  constexpr Tile tile() const { return {m, n, k_bytes, warps_m, warps_n, stages, ctas_per_sm}; }
};

// The kernels of an arithmetic and a load are numbered: tiles, times four layouts.
constexpr Config config_at(Arithmetic arithmetic, Load load, std::size_t index) {
  const Tile t = tiles_of(arithmetic, load)[index / 4];
  return {arithmetic,
          load,
          index & 2 ? Major::mn : Major::k,
          index & 1 ? Major::mn : Major::k,
          t.m,
          t.n,
          t.k_bytes,
          t.warps_m,
          t.warps_n,
          t.stages,
          t.ctas_per_sm};
}

// Bytes of an element in a stage.
constexpr int stage_element(Arithmetic a) {
  return a == Arithmetic::f16 || a == Arithmetic::bf16 || a == Arithmetic::f8 ? 2 : 4;
}

// Rows of C that a warp stages at once for the epilogue, and bytes of the CTA's shared memory: the
// stages, or, after the last of K, a block of each warp (matmul_epilogue.cuh). fp32 has rows of
// kFmaPadding floats more, so that an operand in which K is adjacent is written without conflicts.
inline constexpr int kBlockRows = 16;
inline constexpr int kBlockPadding = 8;
inline constexpr int kFmaPadding = 4;
constexpr std::size_t smem_bytes(Arithmetic arithmetic, const Tile& t) {
  const int padding = arithmetic == Arithmetic::fp32 ? 2 * kFmaPadding : 0;
  const std::size_t stages = std::size_t(t.stages) * (t.m + t.n + padding) * t.k_bytes;
  const std::size_t blocks =
      sizeof(float) * t.warps_m * t.warps_n * kBlockRows * (t.n / t.warps_n + kBlockPadding);
  return stages > blocks ? stages : blocks;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
