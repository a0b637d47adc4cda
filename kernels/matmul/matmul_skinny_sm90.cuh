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
  static constexpr ptx::MmaType kType = mma_type_of(Cfg::value.type);
  static constexpr int kElement = ptx::mma_bytes(kType);
  static constexpr int kMmaRows = kSkinnyMmaRows;
  static constexpr int kMmas = kRows / kMmaRows;  // side by side
  static constexpr int kMmaK = 32 / kElement;
  static constexpr int kK = kSkinnyRowBytes / kElement;  // of a stage
  static constexpr int kWBytes = kRows * kSkinnyRowBytes, kXBytes = kCols * kSkinnyRowBytes;
  static constexpr int kPitch = kRows + 4;                 // of the staged sums, in floats
  static constexpr int kUnitFloats = 32 * kBlockPitch<8>;  // the larger of the two forms
  using Sums = float[kMmas][kCols / 2];

  struct Smem {
    alignas(1024) unsigned char w[kStages][kWBytes];
    alignas(1024) unsigned char x[kStages][kXBytes];
    alignas(16) float sums[kCols][kPitch];
    alignas(16) float unit[kSkinnyWarps][kUnitFloats];
    PipelineBarriers<kStages> ring;
    ptx::Mbarrier sums_full, sums_empty;
  };

  static constexpr bool kWByK = Cfg::value.w == ptx::Major::k,
                        kXByK = Cfg::value.x == ptx::Major::k;
  __host__ __device__ static constexpr ptx::DescriptorFields w_fields() {
    return kWByK ? ptx::k_major_tile(ptx::Swizzle::b128)
                 : ptx::mn_major_tile(ptx::Swizzle::b128, kK);
  }
  __host__ __device__ static constexpr ptx::DescriptorFields x_fields() {
    constexpr int kRow = kCols * kElement;
    if (kXByK) return ptx::k_major_tile(ptx::Swizzle::b128);
    // Without a swizzle, the distance between pieces of 8 of K is `leading`.
    if (kRow == 16) return {.leading = 128, .stride = 128};
    return ptx::mn_major_tile(skinny_x_swizzle(kRow), kK);
  }
  // From one product of 64 rows to the next, and from one step of K to the next, in a stage.
  static constexpr std::uint32_t kNextRows = kMmaRows * kSkinnyRowBytes;
  static constexpr std::uint32_t kNextKOfW = kWByK ? 32 : kMmaK * kSkinnyRowBytes;
  static constexpr std::uint32_t kNextKOfX = kXByK ? 32 : kMmaK * kCols * kElement;
};

// This CTA's part of K: `count` stages, `step` apart.
struct KPart {
  int first, step, count;
};
LK_DEVICE KPart k_part(const SkinnyParams& p) {
  const int ctas = int(ptx::cluster_nctarank()), rank = int(ptx::cluster_ctarank());
  if (p.interleaved) return {rank, ctas, (p.k_blocks - rank + ctas - 1) / ctas};
  const int first = int(std::int64_t(p.k_blocks) * rank / ctas);
  return {first, 1, int(std::int64_t(p.k_blocks) * (rank + 1) / ctas) - first};
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
LK_DEVICE void load_tiles(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s) {
  using T = Skinny<Cfg>;
  const KPart part = k_part(p);
  const TileWalk walk = tile_walk();
  const ptx::CachePolicy w_policy{p.w_policy}, x_policy{p.x_policy};
  PipelinePosition<T::kStages> at;
  for (std::int64_t tile = walk.tile; tile < p.tiles; tile += walk.step) {
    const int batch = int(tile / p.row_tiles);
    const int row = int(tile - std::int64_t(batch) * p.row_tiles) * T::kRows;
    const int w_batch = p.w_batched ? batch : 0, x_batch = p.x_batched ? batch : 0;
    for (int i = 0; i < part.count; ++i, at.advance()) {
      const int k = (part.first + i * part.step) * T::kK;
      producer_acquire(&s.ring, at);
      producer_commit(&s.ring, at, T::kWBytes + T::kXBytes);
      ptx::Mbarrier* full = &s.ring.full[at.stage];
      unsigned char* w = s.w[at.stage];
      if constexpr (T::kWByK) {
        ptx::cp_async_bulk_tensor_3d_shared_global(w, &p.w, k, row, w_batch, full, w_policy);
      } else {
#pragma unroll
        for (int m = 0; m < T::kMmas; ++m) {
          ptx::cp_async_bulk_tensor_3d_shared_global(
              w + m * T::kNextRows, &p.w, row + m * T::kMmaRows, k, w_batch, full, w_policy);
        }
      }
      ptx::cp_async_bulk_tensor_3d_shared_global(s.x[at.stage], &p.x, T::kXByK ? k : 0,
                                                 T::kXByK ? 0 : k, x_batch, full, x_policy);
    }
  }
}

template <class Cfg>
LK_DEVICE void multiply_stage(typename Skinny<Cfg>::Smem& s, int stage, bool first,
                              typename Skinny<Cfg>::Sums& acc) {
  using T = Skinny<Cfg>;
  const auto w = ptx::matrix_descriptor_at(s.w[stage], T::w_fields());
  const auto x = ptx::matrix_descriptor_at(s.x[stage], T::x_fields());
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

// One arrival of this warp at the barrier of each CTA of the cluster, for what its lanes did.
LK_DEVICE void arrive_at_all(ptx::Mbarrier* bar) {
  __syncwarp();
  const unsigned lane = threadIdx.x % kWarpThreads;
  if (lane < ptx::cluster_nctarank()) {
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
#pragma unroll
  for (int m = 0; m < T::kMmas; ++m) {
#pragma unroll
    for (int v = 0; v < T::kCols / 2; ++v) {
      const int row = m * T::kMmaRows + 16 * warp + lane / 4 + 8 * (v / 2 % 2);
      const int col = 8 * (v / 4) + lane % 4 * 2 + v % 2;
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(&s.sums[col][row]),
                     bit_cast<std::uint32_t>(acc[m][v]));
    }
  }
}

// The sums of all CTAs of the cluster at columns col .. col + 3 by lane / 8, rows row .. + 31, into
// this warp's unit: [8][kBlockPitch<32>], or transposed [32][kBlockPitch<8>].
template <class Cfg>
LK_DEVICE void add_up(typename Skinny<Cfg>::Smem& s, int col, int row, float* unit,
                      bool cols_by_rows) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int ctas = int(ptx::cluster_nctarank());
#pragma unroll 1
  for (int c = lane / 8; c < 8; c += 4) {
    const int r = lane % 8 * 4;
    auto* own = reinterpret_cast<uint4*>(&s.sums[col + c][row + r]);
    float v[4];
#pragma unroll 4
    for (int rank = 0; rank < ctas; ++rank) {
      const uint4 u = ptx::ld_shared_cluster(ptx::mapa(own, unsigned(rank)));
      const float theirs[] = {bit_cast<float>(u.x), bit_cast<float>(u.y), bit_cast<float>(u.z),
                              bit_cast<float>(u.w)};
#pragma unroll
      for (int i = 0; i < 4; ++i) v[i] = rank == 0 ? theirs[i] : v[i] + theirs[i];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float* to =
          unit + (cols_by_rows ? c * kBlockPitch<32> + r + i : (r + i) * kBlockPitch<8> + c);
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(to), bit_cast<std::uint32_t>(v[i]));
    }
  }
}

// This CTA's share of the tile, from the sums of the cluster to C.
template <class Cfg>
LK_DEVICE void finish_tile(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                           std::int64_t tile) {
  using T = Skinny<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const std::int64_t batch = tile / p.row_tiles;
  const std::int64_t row0 = (tile - batch * p.row_tiles) * T::kRows;
  float* unit = s.unit[warp];
  constexpr int kAcross = T::kRows / 32, kUnits = kAcross * (T::kCols / 8);
  const int first = int(ptx::cluster_ctarank()) * kSkinnyWarps + warp;
  const int step = int(ptx::cluster_nctarank()) * kSkinnyWarps;
#pragma unroll 1
  for (int u = first; u < kUnits; u += step) {
    const int col = u / kAcross * 8, row = u % kAcross * 32;
    if (col >= p.cols) break;
    add_up<Cfg>(s, col, row, unit, p.cols_by_rows);
    __syncwarp();
    if (p.cols_by_rows) {
      store_block<8, 32>(p.epilogue, scale, unit, batch, col, row0 + row);
    } else {
      store_block<32, 8>(p.epilogue, scale, unit, batch, row0 + row, col);
    }
    __syncwarp();
  }
}

template <class Cfg>
LK_DEVICE void multiply_tiles(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s) {
  using T = Skinny<Cfg>;
  const float scale = product_scale(p.epilogue);
  const KPart part = k_part(p);
  const TileWalk walk = tile_walk();
  PipelinePosition<T::kStages> at;
  std::uint32_t parity = 0;
  for (std::int64_t tile = walk.tile; tile < p.tiles; tile += walk.step, parity ^= 1) {
    typename T::Sums acc;
    for (int i = 0; i < part.count; ++i, at.advance()) {
      consumer_wait(&s.ring, at);
      multiply_stage<Cfg>(s, at.stage, i == 0, acc);
      if (threadIdx.x % kWarpThreads == 0) consumer_release(&s.ring, at);
    }
    wait_for_all(&s.sums_empty, parity ^ 1);  // nobody reads those of the last tile any more
    stage_sums<Cfg>(s, acc);
    arrive_at_all(&s.sums_full);
    wait_for_all(&s.sums_full, parity);
    finish_tile<Cfg>(p, s, scale, tile);
    arrive_at_all(&s.sums_empty);
  }
}

LK_DEVICE void meet_cluster() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

template <class Cfg>
__global__ void __launch_bounds__(kSkinnyThreads, Cfg::value.ctas_per_sm)
    matmul_sm90_skinny(const __grid_constant__ SkinnyParams p) {
  auto& s = ptx::dynamic_smem<typename Skinny<Cfg>::Smem>();
  if (threadIdx.x == 0) {
    init_pipeline(&s.ring, 1, kSkinnyWarps);
    const unsigned arrivals = ptx::cluster_nctarank() * kSkinnyWarps;
    ptx::mbarrier_init(&s.sums_full, arrivals);
    ptx::mbarrier_init(&s.sums_empty, arrivals);
    ptx::fence_mbarrier_init_release_cluster();
  }
  meet_cluster();
  if (threadIdx.x / kWarpThreads == kSkinnyWarps) {
    if (ptx::elect_sync()) load_tiles<Cfg>(p, s);
    __syncwarp();
  } else {
    multiply_tiles<Cfg>(p, s);
  }
  meet_cluster();  // peers may still read this CTA's sums, or arrive on its barriers
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
