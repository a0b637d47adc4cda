// Row-sum: the instantiation that serves a pass, on any generation.
//
// A generation G is a struct that names what it adds:
//   kShapes[]    how lanes share a row, from short rows to long ones; the last one loops
//   kPdl         its kernels wait for a prerequisite grid (griddepcontrol)
#pragma once

#include "kernels/row_sum/row_sum_cta.cuh"
#include "kernels/row_sum/row_sum_lanes.cuh"
#include "kernels/row_sum/row_sum_launch.h"
#include "kernels/row_sum/row_sum_staged.cuh"
#include "kernels/row_sum/row_sum_strided.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

// H200, 2026-12-01, 2^28 elements, of the reading rate at that size in the same run, the output
// counted; in brackets what was there before, with one shape for all rows of a tree:
//   bf16  15 columns 0.96 (0.93), 16 0.96, 17 0.92 (0.83), 31 0.95, 33 0.90 (0.77), 40 0.95 (0.66),
//         49 0.96 (0.88), 63 0.96, 64 0.97, 65 0.90 (0.64), 97 0.92 (0.79), 129 0.92 (0.51), 289
//         0.96 (0.68), 513 0.92 (0.53), 1023 0.97, 1025 0.93 (0.68), 2049 0.92 (0.85), 4096 1.00,
//         4097 0.92 (0.79), 8193 0.98 (0.79), 16385 0.98 (0.78), 50257 0.98
//   fp32  15 0.96, 17 0.95 (0.78), 33 0.89 (0.74), 63 0.93, 64 0.96, 65 0.92 (0.74), 129 0.93
//         (0.67), 257 0.97 (0.75), 513 0.93 (0.86), 1023 and more 0.99, 8193 1.00 (0.88)
// Except where a row is one lane's, whole rows are read in as many adjacent bytes a warp as there
// are. A tree that the columns fill by little more than a half takes more rows at once, or fewer
// lanes with more vectors each; ragged rows then go through shared memory. Tiles of 4 KB get there
// by loads (63 columns of bf16 0.96, by cp.async 0.92), of 8 KB by cp.async (129 columns of bf16
// 0.92, by ten loads at a time 0.64). The 8 KB tiles had an evict-first
// hint in these figures; lkbench has the table as it is (bench/results/h200_row_sum.json).
inline constexpr Shape kShapeConfigs[] = {
    // vectors; lanes, rows, vectors of a lane; of ragged rows; bytes staged: 16-bit, fp32; threads
    {1, 1, 8, 1, 1, 4, 1, 16, 16, 128},         {2, 1, 4, 2, 1, 4, 2, 26, 20, 128},
    {4, 1, 2, 4, 1, 2, 4, 44, 0, 128},          {7, 2, 4, 4, 2, 1, 4, 112, 96, 128},
    {8, 8, 4, 1, 2, 1, 4, 128, 0, 128},         {11, 8, 4, 2, 4, 1, 4, 176, 176, 128},
    {16, 16, 8, 1, 4, 1, 4, 256, 256, 128},     {32, 32, 8, 1, 8, 1, 4, 480, 368, 128},
    {64, 32, 4, 2, 16, 1, 4, 896, 736, 128},    {128, 32, 2, 4, 32, 1, 4, 1664, 1600, 128},
    {256, 32, 1, 8, 32, 1, 8, 2944, 2176, 128}, {512, 32, 1, 16, 32, 1, 16, 4800, 4352, 128},
    {528, 96, 1, 8, 96, 1, 8, 0, 0, 96},        {1023, 64, 1, 8, 64, 1, 8, 0, 0, 64},
    {1024, 64, 1, 16, 64, 1, 16, 0, 0, 64},     {1536, 96, 1, 8, 96, 1, 8, 0, 0, 96},
    {2048, 128, 1, 8, 128, 1, 8, 0, 0, 128},    {3072, 192, 1, 8, 192, 1, 8, 0, 0, 192},
    {6144, 256, 1, 8, 256, 1, 8, 0, 0, 256},    {0, 256, 1, 16, 256, 1, 16, 0, 0, 256},
};

// Of 128 threads, that the registers must allow at least, by the vectors that a lane has in flight.
// Ragged rows of 15 columns of bf16, 12 vectors: 142 us with 4, 135 with 6.
constexpr int ctas_per_sm(int loads) { return loads <= 5 ? 8 : loads <= 12 ? 6 : 4; }

template <class G>
struct Kernels {
  template <DType kType, int kShape, bool kWhole>
  static KernelUse unit() {
    constexpr Shape kS = G::kShapes[kShape];
    if constexpr (kS.lanes <= kWarpThreads) {
      static_assert(kS.lanes * kS.vectors == kS.ragged_lanes * kS.ragged_vectors);
      constexpr int kLanes = kWhole ? kS.lanes : kS.ragged_lanes;
      constexpr int kRows = kWhole ? kS.rows : kS.ragged_rows;
      constexpr int kVectors = kWhole ? kS.vectors : kS.ragged_vectors;
      constexpr bool kOnce = kLanes >= 8 || (kWhole && kVectors == 1);
      constexpr int kCtas = ctas_per_sm(kRows * (kVectors + (kWhole ? 0 : 1)));
      using Cfg = std::integral_constant<Config, Config{kType, kLanes, kRows, kVectors, kS.threads,
                                                        kWhole, kOnce, kCtas, G::kPdl}>;
      return {&row_sum_lanes<Cfg>, kS.threads, kCtas, 0};
    } else {  // one kernel for the shapes that differ in their lanes, and for any alignment
      constexpr int kCtas = kS.vectors <= 8 ? 4 : 2;
      using Cfg = std::integral_constant<Config, Config{kType, kWarpThreads, 1, kS.vectors,
                                                        kMostThreads, false, true, kCtas, G::kPdl}>;
      return {&row_sum_cta<Cfg>, kS.threads, kCtas, sizeof(CtaSmem)};
    }
  }
  template <DType kType, int kShape>
  static KernelUse row() {
    constexpr int kVectors = row_vectors(kShape), kThreads = row_threads(kShape);
    constexpr int kCtas = ctas_per_sm(kVectors) * kStagedThreads / kThreads;
    using Cfg = std::integral_constant<Config, Config{kType, kWarpThreads, 1, kVectors, kThreads,
                                                      true, true, kCtas, G::kPdl}>;
    return {&row_sum_row<Cfg>, kThreads, kCtas, 0};
  }
  template <DType kType, int kShape>
  static KernelUse staged() {
    constexpr int kVectors = G::kShapes[kShape].lanes * G::kShapes[kShape].vectors;
    constexpr int kCtas = kVectors <= 2 ? 8 : 6;
    constexpr StagedConfig kConfig{
        kType, kVectors, staged_lanes(kVectors), staged_tile_bytes(kVectors), kStagedThreads,
        kCtas, G::kPdl};
    using Cfg = std::integral_constant<StagedConfig, kConfig>;
    return {&row_sum_staged<Cfg>, kStagedThreads, kCtas, sizeof(StagedSmem<Cfg>)};
  }
  template <DType kType, Path kPath, int kShape>
  static KernelUse strided() {
    constexpr bool kBrief = kShape / 2 == kStridedBrief;
    constexpr int kLanes = kStridedLanes[kShape / 2];
    // Vectors of 16-bit elements are twice as many sums to carry along.
    constexpr int kMost = !kBrief && size_of(kType) == 2 ? 4 : 8;
    constexpr int kChainsAtOnce = kLanes < kMost ? kLanes : kMost;
    constexpr int kCtas = kStridedCtasPerSm;
    constexpr StridedConfig kConfig{kType,  kLanes, kChainsAtOnce, kShape % 2 == 1,
                                    kBrief, kCtas,  G::kPdl};
    using Cfg = std::integral_constant<StridedConfig, kConfig>;
    constexpr auto use = [](KernelPointer kernel) {
      return KernelUse{kernel, kStridedThreads, kCtas, sizeof(StridedSmem)};
    };
    if constexpr (kPath == Path::strided_vectors) return use(&row_sum_strided_vectors<Cfg>);
    if constexpr (kPath == Path::strided_rows) return use(&row_sum_strided_rows<Cfg>);
    if constexpr (kPath == Path::strided_cols) return use(&row_sum_strided_cols<Cfg>);
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
