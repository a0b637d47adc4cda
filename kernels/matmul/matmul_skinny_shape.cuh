// Matmul with few columns on sm90: shared memory, and where a CTA stands: its tile and part of K.
#pragma once

#include <type_traits>

#include "kernels/common/pipeline.cuh"
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_skinny.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

constexpr ptx::MmaType mma_type_of(DType type) {
  switch (type) {
    case DType::f16:
      return ptx::MmaType::f16;
    case DType::f8_e4m3:
      return ptx::MmaType::e4m3;
    case DType::f8_e5m2:
      return ptx::MmaType::e5m2;
    default:
      return ptx::MmaType::bf16;
  }
}

template <class Cfg>
struct Skinny {
  static constexpr int kRows = Cfg::value.rows, kCols = Cfg::value.cols;
  static constexpr int kStages = Cfg::value.stages;
  static constexpr int kSharers = Cfg::value.sharers;
  static constexpr int kWarps = 4 * Cfg::value.groups;  // that multiply
  static constexpr ptx::MmaType kTypeW = mma_type_of(Cfg::value.type_w);
  static constexpr ptx::MmaType kTypeX = mma_type_of(Cfg::value.type_x);
  static constexpr int kElement = ptx::mma_bytes(kTypeW);
  static constexpr bool kPromotes = kElement == 1;  // sums of a stage are added up in fp32
  static constexpr int kMmaRows = kSkinnyMmaRows;
  static constexpr int kGroupRows = kRows / Cfg::value.groups;
  static constexpr int kMmas = kGroupRows / kMmaRows;  // side by side
  static constexpr int kMmaK = 32 / kElement;
  static constexpr int kK = kSkinnyRowBytes / kElement;  // of a stage
  static constexpr int kWBytes = kRows * kSkinnyRowBytes, kXBytes = kCols * kSkinnyRowBytes;
  static constexpr int kPitch = kRows + 4;  // of the staged sums, in floats
  using Sums = float[kMmas][kCols / 2];
  // Of the 168 that each of 384 threads has: 40 + 232 + 232 = 3 * 168.
  static constexpr bool kMovesRegisters = Cfg::value.groups == 2;
  static constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

  struct Stages {
    alignas(1024) unsigned char w[kStages][kWBytes];
    alignas(1024) unsigned char x[kStages][kXBytes];
  };
  struct Staged {
    alignas(16) float sums[kCols][kPitch];
  };
  // Large sums take the place of the stages, which are then released late.
  static constexpr bool kOverlaid = kCols > kSkinnyMaxCols;
  struct Apart {
    Stages stages;
    Staged staged;
  };
  union Overlaid {
    Stages stages;
    Staged staged;
  };
  struct Smem {
    std::conditional_t<kOverlaid, Overlaid, Apart> u;
    PipelineBarriers<kStages> ring;
    ptx::Mbarrier sums_full, sums_empty;
  };

  static constexpr bool kWByK = Cfg::value.w == ptx::Major::k;
  static constexpr bool kXByK = Cfg::value.x == ptx::Major::k;
  __host__ __device__ static constexpr ptx::DescriptorFields w_fields() {
    return kWByK ? ptx::k_major_tile(ptx::Swizzle::b128)
                 : ptx::mn_major_tile(ptx::Swizzle::b128, kK);
  }
  // Columns of a box of X, one behind the other if there are several.
  static constexpr int kBoxCols = kXByK                    ? kCols / kSharers
                                  : kCols < kSkinnyBoxCols ? kCols
                                                           : kSkinnyBoxCols;
  __host__ __device__ static constexpr ptx::DescriptorFields x_fields() {
    constexpr int kRow = kBoxCols * kElement;
    if (kXByK) return ptx::k_major_tile(ptx::Swizzle::b128);
    // Without a swizzle, the distance between pieces of 8 of K is `leading`.
    if (kRow == 16) return {.leading = 128, .stride = 128};
    return ptx::mn_major_tile(skinny_x_swizzle(kRow), kK);
  }
  // From one product of 64 rows to the next, and from one step of K to the next, in a stage.
  static constexpr std::uint32_t kNextRows = kMmaRows * kSkinnyRowBytes;
  static constexpr std::uint32_t kNextKOfW = kWByK ? 32 : kMmaK * kSkinnyRowBytes;
  static constexpr std::uint32_t kNextKOfX = kXByK ? 32 : kMmaK * kBoxCols * kElement;
  static constexpr int kBoxes = kCols / kSharers / kBoxCols;  // of X that a CTA copies
  static_assert(kBoxes >= 1 && kGroupRows % kMmaRows == 0);
};

// Where a CTA stands in its cluster: which of the CTAs with adjacent rows, and which of the parts
// of K. Ranks count the former first.
struct Place {
  int sharer, part, parts;
};
template <class Cfg>
LK_DEVICE Place place(const SkinnyParams& p) {
  constexpr int kSharers = Cfg::value.sharers;
  const int rank = p.log2_parts == 0 && kSharers == 1 ? 0 : int(ptx::cluster_ctarank());
  return {rank % kSharers, rank / kSharers, 1 << p.log2_parts};
}

// What a cluster computes at one time: where this CTA's tile begins, and its part of K, `blocks`
// stages that are `step` apart. Divisions are few and of 32 bits, for no copy can begin before:
// seven of 64 bits took 2 us (H200, 2026-12-01).
struct Work {
  int split, batch, row, col;
  int first, step, blocks;
};
template <class Cfg>
LK_DEVICE Work work_at(const SkinnyParams& p, unsigned tile, const Place& at) {
  unsigned row = tile, col = 0, batch = 0, split = 0;
  if (p.tiles != p.row_tiles) {
    const unsigned line = tile / unsigned(p.row_tiles), product = line / unsigned(p.col_tiles);
    row = tile - line * unsigned(p.row_tiles);
    col = line - product * unsigned(p.col_tiles);
    batch = product / unsigned(p.splits);
    split = product - batch * unsigned(p.splits);
  }
  int begin = 0, blocks = p.k_blocks;
  if (p.splits > 1) {  // the first ones have a stage more, if they are not all alike
    const int each = int(unsigned(p.k_blocks) / unsigned(p.splits));
    const int more = p.k_blocks - each * p.splits;
    begin = int(split) * each + (int(split) < more ? int(split) : more);
    blocks = each + (int(split) < more ? 1 : 0);
  }
  return {.split = int(split),
          .batch = int(batch),
          .row = (int(row) * Cfg::value.sharers + at.sharer) * p.rows,
          .col = int(col) * Cfg::value.cols,
          .first = begin + at.part,
          .step = at.parts,
          .blocks = (blocks - at.part + at.parts - 1) >> p.log2_parts};
}

// A cluster takes every so manieth tile.
struct TileWalk {
  unsigned tile, step;
};
template <class Cfg>
LK_DEVICE TileWalk tile_walk(const SkinnyParams& p) {
  if (p.log2_parts == 0 && Cfg::value.sharers == 1) return {blockIdx.x, gridDim.x};
  return {ptx::clusterid().x, ptx::nclusterid().x};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
