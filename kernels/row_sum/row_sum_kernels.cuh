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
