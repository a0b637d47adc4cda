// Matmul on sm90: what an instantiation's numbers come to, and its shared memory.
#pragma once

#include <type_traits>

#include "kernels/common/pipeline.cuh"
#include "kernels/matmul/matmul_tiles_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr int kStepBytesSm90 = 32;  // of K, of one wgmma

// Barriers of the CTA; 1 to 3 are the groups'.
inline constexpr std::uint32_t kLeadBarrier = 4, kStartBarrier = 5;

constexpr ptx::MmaType wgmma_type(DType t) {
  return t == DType::f8_e4m3   ? ptx::MmaType::e4m3
         : t == DType::f8_e5m2 ? ptx::MmaType::e5m2
         : t == DType::bf16    ? ptx::MmaType::bf16
         : t == DType::f16     ? ptx::MmaType::f16
                               : ptx::MmaType::tf32;
}

template <class Cfg>
struct ShapeSm90 {
  static constexpr ConfigSm90 kConfig = Cfg::value;
  static constexpr TileSm90 kTile = kConfig.tile();
  static constexpr ptx::MmaType kTypeA = wgmma_type(kConfig.type_a);
  static constexpr ptx::MmaType kTypeB = wgmma_type(kConfig.type_b);
  static constexpr int kElement = ptx::mma_bytes(kTypeA);
  static constexpr bool kPromotes = kElement == 1;         // sums of a stage are added up in fp32
  static constexpr int kK = kStageBytes / kElement;        // of a stage
  static constexpr int kMmaK = kStepBytesSm90 / kElement;  // of a wgmma
  static constexpr int kSteps = kStageBytes / kStepBytesSm90;
  static constexpr int kGroups = kTile.groups();
  static constexpr int kThreads = kTile.threads();
  static constexpr int kMnBlock = kStageBytes / kElement;  // elements of M or N in a row
  static constexpr int kRowsA = stage_rows(kTile.m, kConfig.a, kElement);
  static constexpr int kRowsB = stage_rows(kTile.n, kConfig.b, kElement);
  // wgmma reads other than 16-bit elements with K adjacent, unless they are in registers.
  static constexpr bool kAFromRegisters = kConfig.a == Major::mn && kElement != 2;
  static constexpr bool kSplits = kConfig.arithmetic == Arithmetic::tf32x3;
  static constexpr int kBytes = (kRowsA + kRowsB) * kStageBytes;  // of a stage
  static constexpr int kGroupM = kTile.m / kTile.groups_m, kGroupN = kTile.n / kTile.groups_n;
  static constexpr int kM64 = kGroupM / kWgmmaM;  // wgmmas of a step
  static constexpr int kPartCols = part_cols(kTile);
  using Sums = float[kM64][kGroupN / 2];
  using Position = PipelinePosition<kTile.stages>;
  static_assert(kGroupM % kWgmmaM == 0 && kGroupN % kPartCols == 0);

  // Where a group's part of the tile begins.
  static LK_DEVICE int group_m(int group) { return group / kTile.groups_n * kGroupM; }
  static LK_DEVICE int group_n(int group) { return group % kTile.groups_n * kGroupN; }

  // What tf32x3 has besides (matmul_split_sm90.cuh).
  struct SmemSplit {
    alignas(1024) unsigned char b_lo[kTile.stages][kRowsB * kStageBytes];
  };
  struct SmemWhole {};
  struct Smem : std::conditional_t<kSplits, SmemSplit, SmemWhole> {
    alignas(1024) unsigned char a[kTile.stages][kRowsA * kStageBytes];
    alignas(1024) unsigned char b[kTile.stages][kRowsB * kStageBytes];
    alignas(1024) unsigned char staging[kGroups][kGroupWarps][kWarpStaging];
    alignas(16) float bias[kGroups][kGroupN];
    PipelineBarriers<kTile.stages> ring;
    ptx::Mbarrier split[kTile.stages];  // a phase: the warps that split B
  };
  static_assert(sizeof(Smem) <= smem_bytes(kTile, kConfig.arithmetic));
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
