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
// counted; in brackets what it replaces, where that is one shape for all rows of a tree:
//   bf16  15 and 16 columns 0.96, 33 0.89 (0.77), 40 0.95 (0.73), 48 0.94, 64 0.92, 65 0.90 (0.51),
//         97 0.92, 128 0.98, 129 0.92 (0.59), 256 0.98, 289 0.96 (0.57), 513 0.92 (0.60),
//         1023 0.99, 1025 0.93 (0.75), 2049 0.92 (0.81), 4096 1.00, 4097 0.90 (0.80),
//         8193 0.98 (0.79), 16385 0.97 (0.78), 50257 and more 0.97
//   fp32  15 and 16 0.955, 33 0.89 (0.74), 63 0.93, 64 0.955, 65 0.92 (0.66), 128 0.97, 129 0.93
//         (0.71), 257 0.97 (0.71), 513 0.93 (0.90), 1023 and more 0.99, 8193 1.00 (0.88)
// Except where a row is one lane's, whole rows are read in as many adjacent bytes a warp as there
// are; a tree that the columns fill by a little over a half takes more rows at once, or fewer lanes
// and more vectors of each. Staged rows had been copied by cp.async for these figures; by loads,
// which leave more of the L2 to others, they gained up to 2% before the sums of staged rows took
// their present form.
inline constexpr Shape kShapeConfigs[] = {
    // vectors; lanes a row, rows at once, vectors of a lane; of ragged rows; staged; threads
    {1, 1, 8, 1, 1, 4, 1, 1, 1, 128},         {2, 1, 4, 2, 1, 4, 2, 0, 0, 128},
    {4, 1, 2, 4, 1, 2, 4, 0, 0, 128},         {7, 2, 4, 4, 2, 1, 4, 7, 5, 128},
    {8, 8, 4, 1, 2, 1, 4, 8, 0, 128},         {11, 8, 4, 2, 4, 1, 4, 16, 16, 128},
    {16, 16, 8, 1, 4, 1, 4, 16, 16, 128},     {32, 32, 8, 1, 8, 1, 4, 30, 23, 128},
    {64, 32, 4, 2, 16, 1, 4, 56, 46, 128},    {128, 32, 2, 4, 32, 1, 4, 104, 100, 128},
    {256, 32, 1, 8, 32, 1, 8, 184, 136, 128}, {512, 32, 1, 16, 32, 1, 16, 300, 272, 128},
    {528, 96, 1, 8, 96, 1, 8, 0, 0, 96},      {1023, 64, 1, 8, 64, 1, 8, 0, 0, 64},
    {1024, 64, 1, 16, 64, 1, 16, 0, 0, 64},   {1536, 96, 1, 8, 96, 1, 8, 0, 0, 96},
    {2048, 128, 1, 8, 128, 1, 8, 0, 0, 128},  {3072, 192, 1, 8, 192, 1, 8, 0, 0, 192},
    {6144, 256, 1, 8, 256, 1, 8, 0, 0, 256},  {0, 256, 1, 16, 256, 1, 16, 0, 0, 256},
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
