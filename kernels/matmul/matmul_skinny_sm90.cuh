// Matmul with few columns on sm90: the kernel. See matmul_sm90_skinny.cu for the contract.
//
// A CTA is a warp that copies stages of W and X into a ring, by tensor copies, and a warpgroup that
// multiplies them: wgmma with W as its operand of 64 rows. The CTAs of a cluster have the same tile
// of D and share its K. Each stages its sums in its shared memory, and then finishes its share of
// the tile, adding up all of theirs in the order of ranks.
#pragma once

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
  static constexpr ptx::MmaType kType = mma_type_of(Cfg::value.type);
  static constexpr int kElement = ptx::mma_bytes(kType);
  static constexpr int kMmaRows = kSkinnyMmaRows;
  static constexpr int kGroupRows = kRows / Cfg::value.groups;
  static constexpr int kMmas = kGroupRows / kMmaRows;  // side by side
  static constexpr int kMmaK = 32 / kElement;
  static constexpr int kK = kSkinnyRowBytes / kElement;  // of a stage
  static constexpr int kWBytes = kRows * kSkinnyRowBytes, kXBytes = kCols * kSkinnyRowBytes;
  static constexpr int kPitch = kRows + 4;                 // of the staged sums, in floats
  static constexpr int kUnitFloats = 32 * kBlockPitch<8>;  // the larger of the two forms
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
    alignas(16) float unit[kWarps][kUnitFloats];
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
LK_DEVICE Place place() {
  constexpr int kSharers = Cfg::value.sharers;
  const int rank = int(ptx::cluster_ctarank());
  return {rank % kSharers, rank / kSharers, int(ptx::cluster_nctarank()) / kSharers};
}

// This CTA's part of K: `count` stages, `step` apart.
struct KPart {
  int first, step, count;
};
LK_DEVICE KPart k_part(const SkinnyParams& p, int split, const Place& at) {
  const auto cut = [&](std::int64_t blocks, int i, int n) { return int(blocks * i / n); };
  const int begin = cut(p.k_blocks, split, p.splits), end = cut(p.k_blocks, split + 1, p.splits);
  const int blocks = end - begin;
  if (p.interleaved) {
    return {begin + at.part, at.parts, (blocks - at.part + at.parts - 1) / at.parts};
  }
  const int first = cut(blocks, at.part, at.parts);
  return {begin + first, 1, cut(blocks, at.part + 1, at.parts) - first};
}

// What a cluster computes at one time, and where this CTA's tile of it begins.
struct Work {
  int split, batch;
  std::int64_t row, col;
};
template <class Cfg>
LK_DEVICE Work work_at(const SkinnyParams& p, std::int64_t tile, const Place& at) {
  const std::int64_t of_all = std::int64_t(p.row_tiles) * p.col_tiles;
  const std::int64_t product = tile / of_all;  // and split
  const int in_product = int(tile - product * of_all);
  const int col = in_product / p.row_tiles, row = in_product - col * p.row_tiles;
  const int batch = int(product / p.splits);
  return {.split = int(product - std::int64_t(batch) * p.splits),
          .batch = batch,
          .row = (std::int64_t(row) * Cfg::value.sharers + at.sharer) * Cfg::value.rows,
          .col = std::int64_t(col) * Cfg::value.cols};
}

// A cluster takes every so manieth tile.
struct TileWalk {
  std::int64_t tile, step;
};
LK_DEVICE TileWalk tile_walk() {
  const unsigned ctas = ptx::cluster_nctarank();
  return {blockIdx.x / ctas, gridDim.x / ctas};
}

template <class Cfg>
LK_DEVICE void load_stage(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, const Place& place,
                          int stage, int row, int col, int k, int w_batch, int x_batch) {
  using T = Skinny<Cfg>;
  ptx::Mbarrier* full = &s.ring.full[stage];
  unsigned char* w = s.u.stages.w[stage];
  if constexpr (T::kWByK) {
    ptx::cp_async_bulk_tensor_3d_shared_global(w, &p.w, k, row, w_batch, full);
  } else {
#pragma unroll
    for (int i = 0; i < T::kRows / T::kMmaRows; ++i) {
      ptx::cp_async_bulk_tensor_3d_shared_global(w + i * T::kNextRows, &p.w, row + i * T::kMmaRows,
                                                 k, w_batch, full);
    }
  }
#pragma unroll
  for (int i = 0; i < T::kBoxes; ++i) {
    const int first = (place.sharer * T::kBoxes + i) * T::kBoxCols;
    unsigned char* x = s.u.stages.x[stage] + first * kSkinnyRowBytes;
    const int c0 = T::kXByK ? k : col + first, c1 = T::kXByK ? col + first : k;
    if constexpr (T::kSharers > 1) {
      const auto mask = std::uint16_t(((1u << T::kSharers) - 1) << (place.part * T::kSharers));
      ptx::cp_async_bulk_tensor_3d_shared_global_multicast(x, &p.x, c0, c1, x_batch, full, mask);
    } else {
      ptx::cp_async_bulk_tensor_3d_shared_global(x, &p.x, c0, c1, x_batch, full);
    }
  }
}

// Stages begin .. end - 1 of this CTA's part of a tile's K.
template <class Cfg>
LK_DEVICE void load_stages(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, const Place& here,
                           std::int64_t tile, int begin, int end,
                           PipelinePosition<Cfg::value.stages>& at) {
  using T = Skinny<Cfg>;
  const Work work = work_at<Cfg>(p, tile, here);
  const KPart part = k_part(p, work.split, here);
  const int w_batch = p.w_batched ? work.batch : 0, x_batch = p.x_batched ? work.batch : 0;
  if (end > part.count) end = part.count;
  const int turn = p.turned && part.count > 0 ? int(tile % part.count) : 0;
  for (int i = begin; i < end; ++i, at.advance()) {
    const int block = i + turn < part.count ? i + turn : i + turn - part.count;
    // Peers' sums, of the tile before, were read where their first stages will be.
    if (T::kSharers > 1 && i < T::kStages) {
      producer_acquire_cluster(&s.ring, at);
    } else {
      producer_acquire(&s.ring, at);
    }
    producer_commit(&s.ring, at, T::kWBytes + T::kXBytes);
    load_stage<Cfg>(p, s, here, at.stage, int(work.row), int(work.col),
                    (part.first + block * part.step) * T::kK, w_batch, x_batch);
  }
}

// The warp's products have read the stage: whoever copies into it may do so again. `stores`: and
// sums were kept there meanwhile.
template <class Cfg>
LK_DEVICE void release_stage(typename Skinny<Cfg>::Smem& s, const Place& place,
                             const PipelinePosition<Cfg::value.stages>& at, bool stores = false) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  constexpr unsigned kSharers = Cfg::value.sharers;
  if constexpr (kSharers > 1) {
    __syncwarp();
    if (lane >= kSharers) return;
    const unsigned rank = unsigned(place.part) * kSharers + lane;
    if (stores) {
      consumer_release_cluster(&s.ring, at, rank);
    } else {
      consumer_release_peer(&s.ring, at, rank);
    }
  } else {
    if (lane == 0) consumer_release(&s.ring, at);
  }
}

template <class Cfg>
LK_DEVICE void multiply_stage(typename Skinny<Cfg>::Smem& s, int stage, bool first,
                              typename Skinny<Cfg>::Sums& acc) {
  using T = Skinny<Cfg>;
  const int group = int(threadIdx.x) / (4 * kWarpThreads);
  const auto w = ptx::matrix_descriptor_at(
      s.u.stages.w[stage] + group * T::kGroupRows * kSkinnyRowBytes, T::w_fields());
  const auto x = ptx::matrix_descriptor_at(s.u.stages.x[stage], T::x_fields());
#pragma unroll
  for (int m = 0; m < T::kMmas; ++m) ptx::wgmma_fence(acc[m]);
#pragma unroll
  for (int k = 0; k < T::kK / T::kMmaK; ++k) {
#pragma unroll
    for (int m = 0; m < T::kMmas; ++m) {
      ptx::wgmma_mma_async<T::kMmaRows, T::kCols, T::kMmaK, T::kType, T::kType, Cfg::value.w,
                           Cfg::value.x>(acc[m], w.advanced(m * T::kNextRows + k * T::kNextKOfW),
                                         x.advanced(k * T::kNextKOfX), !first || k > 0);
    }
  }
  ptx::wgmma_commit_group();
#pragma unroll
  for (int m = 0; m < T::kMmas; ++m) ptx::wgmma_wait_group<0>(acc[m]);
}

// One arrival of this warp at the barrier of each CTA of the cluster, for what its lanes did. A
// release to a cluster is slow (a fence of the whole GPU in SASS), so one CTA does without.
LK_DEVICE void arrive_at_all(ptx::Mbarrier* bar) {
  __syncwarp();
  const unsigned lane = threadIdx.x % kWarpThreads;
  if (ptx::cluster_nctarank() == 1) {
    if (lane == 0) ptx::mbarrier_arrive(bar);
  } else if (lane < ptx::cluster_nctarank()) {
    ptx::mbarrier_arrive_release_cluster(ptx::mapa(bar, lane));
  }
}
LK_DEVICE void wait_for_all(ptx::Mbarrier* bar, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity_acquire_cluster(bar, parity)) {
  }
}

template <class Cfg>
LK_DEVICE void stage_sums(typename Skinny<Cfg>::Smem& s, const typename Skinny<Cfg>::Sums& acc) {
  using T = Skinny<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads, lane = int(threadIdx.x) % kWarpThreads;
  const int row0 = warp / 4 * T::kGroupRows + warp % 4 * 16 + lane / 4;
#pragma unroll
  for (int m = 0; m < T::kMmas; ++m) {
#pragma unroll
    for (int v = 0; v < T::kCols / 2; ++v) {
      float* to =
          &s.u.staged
               .sums[8 * (v / 4) + lane % 4 * 2 + v % 2][row0 + m * T::kMmaRows + 8 * (v / 2 % 2)];
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(to), bit_cast<std::uint32_t>(acc[m][v]));
    }
  }
}

// The sums of all parts of K at columns col .. + 7 and rows row .. + 31 of this CTA's tile, into
// this warp's unit: [8][kBlockPitch<32>], or transposed [32][kBlockPitch<8>].
template <class Cfg>
LK_DEVICE void add_up(typename Skinny<Cfg>::Smem& s, const Place& place, int col, int row,
                      float* unit, bool cols_by_rows) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int r = lane % 8 * 4;
  constexpr int kTimes = 2;  // four columns at a time
  float v[kTimes][4] = {};
#pragma unroll 4
  for (int part = 0; part < place.parts; ++part) {
#pragma unroll
    for (int t = 0; t < kTimes; ++t) {
      auto* own = reinterpret_cast<uint4*>(&s.u.staged.sums[col + t * 4 + lane / 8][row + r]);
      const auto rank = unsigned(part * Cfg::value.sharers + place.sharer);
      const uint4 u =
          place.parts == 1 ? ptx::ld_shared(own) : ptx::ld_shared_cluster(ptx::mapa(own, rank));
      const float theirs[] = {bit_cast<float>(u.x), bit_cast<float>(u.y), bit_cast<float>(u.z),
                              bit_cast<float>(u.w)};
#pragma unroll
      for (int i = 0; i < 4; ++i) v[t][i] = part == 0 ? theirs[i] : v[t][i] + theirs[i];
    }
  }
#pragma unroll
  for (int t = 0; t < kTimes; ++t) {
    const int c = t * 4 + lane / 8;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float* to =
          unit + (cols_by_rows ? c * kBlockPitch<32> + r + i : (r + i) * kBlockPitch<8> + c);
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(to), bit_cast<std::uint32_t>(v[t][i]));
    }
  }
}

// This CTA's share of its tile, from the sums of the parts to C, or to scratch.
template <class Cfg>
LK_DEVICE void finish_tile(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                           const Place& place, const Work& work) {
  using T = Skinny<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const std::int64_t product = std::int64_t(work.batch) * p.splits + work.split;
  float* unit = s.u.staged.unit[warp];
  constexpr int kAcross = T::kRows / 32, kUnits = kAcross * (T::kCols / 8);
#pragma unroll 1
  for (int u = place.part * T::kWarps + warp; u < kUnits; u += place.parts * T::kWarps) {
    const int col = u / kAcross * 8, row = u % kAcross * 32;
    if (work.col + col >= p.cols) break;
    add_up<Cfg>(s, place, col, row, unit, p.cols_by_rows);
    __syncwarp();
    if (p.cols_by_rows) {
      store_block<8, 32>(p.epilogue, scale, unit, product, work.col + col, work.row + row);
    } else {
      store_block<32, 8>(p.epilogue, scale, unit, product, work.row + row, work.col + col);
    }
    __syncwarp();
  }
}

// Of the warps that multiply, in this CTA.
template <class Cfg>
LK_DEVICE void sync_multipliers() {
  constexpr std::uint32_t kBarrier = 1;  // 0 is __syncthreads
  ptx::bar_sync(kBarrier, Skinny<Cfg>::kWarps * kWarpThreads);
}

template <class Cfg>
LK_DEVICE void multiply_tiles(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s) {
  using T = Skinny<Cfg>;
  const float scale = product_scale(p.epilogue);
  const Place here = place<Cfg>();
  const TileWalk walk = tile_walk();
  PipelinePosition<T::kStages> at;
  std::uint32_t parity = 0;
  for (std::int64_t tile = walk.tile; tile < p.tiles; tile += walk.step, parity ^= 1) {
    const Work work = work_at<Cfg>(p, tile, here);
    const KPart part = k_part(p, work.split, here);
    const int kept = !T::kOverlaid ? 0 : part.count < T::kStages ? part.count : T::kStages;
    PipelinePosition<T::kStages> held = at;  // of the first stage that is not released yet
    typename T::Sums acc;
    for (int i = 0; i < part.count; ++i, at.advance()) {
      consumer_wait(&s.ring, at);
      multiply_stage<Cfg>(s, at.stage, i == 0, acc);
      if (i + kept < part.count) {
        release_stage<Cfg>(s, here, at);
        held.advance();
      }
    }
    if constexpr (T::kOverlaid) {
      sync_multipliers<Cfg>();  // all of them have read the stages
    } else {
      wait_for_all(&s.sums_empty, parity ^ 1);  // nobody reads those of the last tile any more
    }
    stage_sums<Cfg>(s, acc);
    arrive_at_all(&s.sums_full);
    wait_for_all(&s.sums_full, parity);
    finish_tile<Cfg>(p, s, scale, here, work);
    arrive_at_all(&s.sums_empty);
    if constexpr (T::kOverlaid) {
      wait_for_all(&s.sums_empty, parity);
      ptx::fence_proxy_async_shared_cta();  // the sums come before the next copies
      __syncwarp();
      for (int i = 0; i < kept; ++i, held.advance()) release_stage<Cfg>(s, here, held, true);
    }
  }
}

// Of all threads of the cluster. Never arrive at one time and wait later: in a cluster of one CTA
// the wait is the barrier.
LK_DEVICE void meet_cluster() {
  if (ptx::cluster_nctarank() == 1) {
    __syncthreads();
  } else {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
  }
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.tile().threads(), Cfg::value.ctas_per_sm)
    matmul_sm90_skinny(const __grid_constant__ SkinnyParams p) {
  using T = Skinny<Cfg>;
  auto& s = ptx::dynamic_smem<typename T::Smem>();
  const bool loads = threadIdx.x / kWarpThreads >= T::kWarps;
  const bool leads = threadIdx.x / kWarpThreads == T::kWarps && ptx::elect_sync();
  const Place here = place<Cfg>();
  const TileWalk walk = tile_walk();
  // What a CTA copies for itself alone need not wait for anybody.
  const int early = T::kSharers == 1 ? T::kStages : 0;
  PipelinePosition<T::kStages> at;
  if (leads) {
    ptx::prefetch_tensormap(&p.w);
    ptx::prefetch_tensormap(&p.x);
    init_pipeline(&s.ring, 1, T::kWarps * T::kSharers);
    const unsigned arrivals = ptx::cluster_nctarank() * T::kWarps;
    ptx::mbarrier_init(&s.sums_full, arrivals);
    ptx::mbarrier_init(&s.sums_empty, arrivals);
    ptx::fence_mbarrier_init_release_cluster();
    if (walk.tile < p.tiles) load_stages<Cfg>(p, s, here, walk.tile, 0, early, at);
  }
  __syncwarp();
  meet_cluster();
  ptx::griddepcontrol_launch_dependents();  // what adds up splits waits for them by itself
  if (loads) {
    if constexpr (T::kMovesRegisters) ptx::setmaxnreg_dec<T::kProducerRegisters>();
    if (leads) {
      for (std::int64_t tile = walk.tile; tile < p.tiles; tile += walk.step) {
        load_stages<Cfg>(p, s, here, tile, tile == walk.tile ? early : 0, p.k_blocks, at);
      }
    }
  } else {
    if constexpr (T::kMovesRegisters) ptx::setmaxnreg_inc<T::kConsumerRegisters>();
    multiply_tiles<Cfg>(p, s);
  }
  __syncwarp();
  meet_cluster();  // peers may still read this CTA's sums, copy into it, or arrive on its barriers
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
