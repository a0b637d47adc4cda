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
      if (i * T::kMmaRows >= p.rows) break;
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
                           unsigned tile, int begin, int end,
                           PipelinePosition<Cfg::value.stages>& at) {
  using T = Skinny<Cfg>;
  const Work work = work_at<Cfg>(p, tile, here);
  const int w_batch = p.w_batched ? work.batch : 0, x_batch = p.x_batched ? work.batch : 0;
  if (end > work.blocks) end = work.blocks;
  const auto bytes =
      std::uint32_t((T::kWByK ? p.rows : (p.rows + T::kMmaRows - 1) / T::kMmaRows * T::kMmaRows) *
                        kSkinnyRowBytes +
                    T::kXBytes);
  for (int i = begin; i < end; ++i, at.advance()) {
    // Peers' sums, of the tile before, were read where their first stages will be.
    if (T::kSharers > 1 && i < T::kStages) {
      producer_acquire_cluster(&s.ring, at);
    } else {
      producer_acquire(&s.ring, at);
    }
    producer_commit(&s.ring, at, bytes);
    load_stage<Cfg>(p, s, here, at.stage, work.row, work.col, (work.first + i * work.step) * T::kK,
                    w_batch, x_batch);
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
}

// One arrival of this warp at the barrier of each CTA of the cluster, for what its lanes did. A
// release to a cluster is slow (a fence of the whole GPU in SASS), so one CTA does without.
LK_DEVICE void arrive_at_all(ptx::Mbarrier* bar, const Place& here, unsigned sharers) {
  __syncwarp();
  const unsigned lane = threadIdx.x % kWarpThreads, ctas = unsigned(here.parts) * sharers;
  if (ctas == 1) {
    if (lane == 0) ptx::mbarrier_arrive(bar);
  } else if (lane < ctas) {
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

// Four rows of a column of this CTA's tile: the sums of all parts of K, in their order.
template <class Cfg>
LK_DEVICE void add_up(typename Skinny<Cfg>::Smem& s, const Place& place, int col, int row,
                      float (&v)[kEpilogueVector]) {
  constexpr int kParts = kSkinnyMaxCluster / Cfg::value.sharers;
  auto* own = reinterpret_cast<uint4*>(&s.u.staged.sums[col][row]);
  uint4 u[kParts];
  if (place.parts == 1) {
    u[0] = ptx::ld_shared(own);
  } else {
#pragma unroll
    for (int i = 0; i < kParts; ++i) {  // all of them under way at once
      if (i >= place.parts) continue;
      u[i] =
          ptx::ld_shared_cluster(ptx::mapa(own, unsigned(i * Cfg::value.sharers + place.sharer)));
    }
  }
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    if (i >= place.parts) continue;
    const std::uint32_t theirs[] = {u[i].x, u[i].y, u[i].z, u[i].w};
#pragma unroll
    for (int j = 0; j < kEpilogueVector; ++j) {
      v[j] = i == 0 ? bit_cast<float>(theirs[j]) : v[j] + bit_cast<float>(theirs[j]);
    }
  }
}

// Which rows and columns of its tile a thread finishes: four rows, in every so manieth column. The
// parts take turns in columns.
template <class Cfg>
struct Share {
  static constexpr int kQuads = Cfg::value.rows / kEpilogueVector;
  static constexpr int kColsAtOnce = Skinny<Cfg>::kWarps * kWarpThreads / kQuads;
  int row, col, step;

  LK_DEVICE explicit Share(const Place& place)
      : row(int(threadIdx.x) % kQuads * kEpilogueVector),
        col(int(threadIdx.x) / kQuads + place.part * kColsAtOnce),
        step(place.parts * kColsAtOnce) {}
};

// The bias of a thread's four rows, if they are C's columns; loaded long before it is needed.
template <class Cfg>
LK_DEVICE void load_bias(const SkinnyParams& p, int row, float (&bias)[kEpilogueVector]) {
  const Epilogue& e = p.epilogue;
#pragma unroll
  for (int i = 0; i < kEpilogueVector; ++i) bias[i] = 0;
  if (e.bias == nullptr || !p.cols_by_rows || e.bias_on_rows || row >= e.cols) return;
  const std::int64_t left = e.cols - row;
  load_columns(bias, e.bias, row, 1, left < kEpilogueVector ? int(left) : kEpilogueVector,
               e.bias_type, false);
}

// Four rows of a column of D, of which `valid` exist, where they are not one access of C.
LK_DEVICE void finish_each(const SkinnyParams& p, float scale, const float (&v)[kEpilogueVector],
                           std::int64_t product, int row, int col, int valid) {
  const Epilogue& e = p.epilogue;
#pragma unroll 1
  for (int i = 0; i < valid; ++i) {
    const std::int64_t e_row = p.cols_by_rows ? col : row + i;
    const std::int64_t e_col = p.cols_by_rows ? row + i : col;
    float one[1] = {i == 0 ? v[0] : i == 1 ? v[1] : i == 2 ? v[2] : v[3]}, bias[1] = {};
    if (e.bias != nullptr && !e.bias_on_rows) {
      load_columns(bias, e.bias, e_col, 1, 1, e.bias_type, false);
    }
    finish(e, scale, one, bias, product, e_row, e_col, 1);
  }
}

// The usual end, several columns at once: what counts here is latency, with one warp a scheduler.
LK_DEVICE bool is_plain(const SkinnyParams& p) {
  const Epilogue& e = p.epilogue;
  return p.cols_by_rows && e.wide && e.c_in == nullptr && e.product &&
         (e.bias == nullptr || !e.bias_on_rows) &&
         (e.activation == Activation::none || e.activation == Activation::relu);
}
template <class Cfg>
LK_DEVICE void finish_plain(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                            const float (&bias)[kEpilogueVector], const Place& place,
                            const Share<Cfg>& share, std::int64_t c, int cols, int valid) {
  const Epilogue& e = p.epilogue;
  const bool relu = e.activation == Activation::relu;
#pragma unroll 4
  for (int col = share.col; col < cols; col += share.step) {
    float v[kEpilogueVector];
    add_up<Cfg>(s, place, col, share.row, v);
#pragma unroll
    for (int i = 0; i < kEpilogueVector; ++i) {
      v[i] = scale * v[i];
      if (e.bias != nullptr) v[i] += bias[i];
      if (relu) v[i] = ptx::max_NaN_f32(v[i], 0.0f);
    }
    store_columns(v, e.c, c + col * e.row_stride, 1, valid, e.type, true);
  }
}

// This CTA's share of its tile, from the sums of the parts to C, or to scratch.
template <class Cfg>
LK_DEVICE void finish_tile(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s, float scale,
                           const float (&bias)[kEpilogueVector], const Place& place,
                           const Work& work) {
  const Epilogue& e = p.epilogue;
  const std::int64_t product = std::int64_t(work.batch) * p.splits + work.split;
  const Share<Cfg> share(place);
  const int row = work.row + share.row;
  std::int64_t left = (p.cols_by_rows ? e.cols : e.rows) - std::int64_t(row);
  if (left > p.rows - share.row) left = p.rows - share.row;
  if (left <= 0) return;
  const int valid = left < kEpilogueVector ? int(left) : kEpilogueVector;
  const int cols = p.cols - work.col < Cfg::value.cols ? p.cols - work.col : Cfg::value.cols;
  if (is_plain(p)) {
    const std::int64_t c = product * e.batch_stride + work.col * e.row_stride + row;
    return finish_plain<Cfg>(p, s, scale, bias, place, share, c, cols, valid);
  }
#pragma unroll 1
  for (int col = share.col; col < cols; col += share.step) {
    float v[kEpilogueVector];
    add_up<Cfg>(s, place, col, share.row, v);
    if (p.cols_by_rows && e.wide) {
      finish(e, scale, v, bias, product, work.col + col, row, valid);
    } else {
      finish_each(p, scale, v, product, row, work.col + col, valid);
    }
  }
}

// Of the warps that multiply, in this CTA.
template <class Cfg>
LK_DEVICE void sync_multipliers() {
  constexpr std::uint32_t kBarrier = 1;  // 0 is __syncthreads
  ptx::bar_sync(kBarrier, Skinny<Cfg>::kWarps * kWarpThreads);
}

// Rows of the stages that no copy fills are multiplied, too.
template <class Cfg>
LK_DEVICE void clear_unused_rows(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s) {
  using T = Skinny<Cfg>;
  if (!T::kWByK || p.rows == T::kRows) return;
  constexpr int kVectors = kSkinnyRowBytes / int(sizeof(uint4));
  const int begin = p.rows * kVectors;
#pragma unroll 1
  for (int stage = 0; stage < T::kStages; ++stage) {
    auto* w = reinterpret_cast<uint4*>(s.u.stages.w[stage]);
    for (int i = begin + int(threadIdx.x); i < T::kRows * kVectors; i += T::kWarps * kWarpThreads) {
      ptx::st_shared(w + i, make_uint4(0, 0, 0, 0));
    }
  }
  ptx::fence_proxy_async_shared_cta();
  sync_multipliers<Cfg>();
}

template <class Cfg>
LK_DEVICE void multiply_tiles(const SkinnyParams& p, typename Skinny<Cfg>::Smem& s,
                              const Place& here, const TileWalk& walk) {
  using T = Skinny<Cfg>;
  clear_unused_rows<Cfg>(p, s);
  const float scale = product_scale(p.epilogue);
  PipelinePosition<T::kStages> at;
  std::uint32_t parity = 0;
  for (unsigned tile = walk.tile; tile < unsigned(p.tiles); tile += walk.step, parity ^= 1) {
    const Work work = work_at<Cfg>(p, tile, here);
    const int kept = !T::kOverlaid ? 0 : work.blocks < T::kStages ? work.blocks : T::kStages;
    PipelinePosition<T::kStages> held = at;  // of the first stage that is not released yet
    float bias[kEpilogueVector];
    load_bias<Cfg>(p, work.row + Share<Cfg>(here).row, bias);
    typename T::Sums acc;
    // One stage's products are under way while the next one is waited for.
    for (int i = 0; i < work.blocks; ++i, at.advance()) {
      consumer_wait(&s.ring, at);
      multiply_stage<Cfg>(s, at.stage, i == 0, acc);
      ptx::wgmma_wait_group<1>();
      if (i > 0 && i + kept <= work.blocks) {
        release_stage<Cfg>(s, here, held);
        held.advance();
      }
    }
#pragma unroll
    for (int m = 0; m < T::kMmas; ++m) ptx::wgmma_wait_group<0>(acc[m]);
    if (kept == 0) release_stage<Cfg>(s, here, held);
    if constexpr (T::kOverlaid) {
      sync_multipliers<Cfg>();  // all of them have read the stages
    } else {
      wait_for_all(&s.sums_empty, parity ^ 1);  // nobody reads those of the last tile any more
    }
    stage_sums<Cfg>(s, acc);
    arrive_at_all(&s.sums_full, here, T::kSharers);
    wait_for_all(&s.sums_full, parity);
    finish_tile<Cfg>(p, s, scale, bias, here, work);
    if (tile + walk.step >= unsigned(p.tiles)) break;
    arrive_at_all(&s.sums_empty, here, T::kSharers);
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
LK_DEVICE void meet_cluster(bool alone) {
  if (alone) {
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
  const bool alone = T::kSharers == 1 && p.log2_parts == 0;
  if (leads) {
    ptx::prefetch_tensormap(&p.w);
    ptx::prefetch_tensormap(&p.x);
    init_pipeline(&s.ring, 1, T::kWarps * T::kSharers);
    const unsigned arrivals = (T::kSharers << p.log2_parts) * T::kWarps;
    ptx::mbarrier_init(&s.sums_full, arrivals);
    ptx::mbarrier_init(&s.sums_empty, arrivals);
    ptx::fence_mbarrier_init_release_cluster();
  }
  const Place here = place<Cfg>(p);
  const TileWalk walk = tile_walk<Cfg>(p);
  // What a CTA copies for itself alone need not wait for its peers.
  constexpr int kEarly = T::kSharers == 1 ? T::kStages : 0;
  PipelinePosition<T::kStages> at;
  if (leads && !alone) load_stages<Cfg>(p, s, here, walk.tile, 0, kEarly, at);
  __syncwarp();
  meet_cluster(alone);
  ptx::griddepcontrol_launch_dependents();  // what adds up splits waits for them by itself
  if (loads) {
    if constexpr (T::kMovesRegisters) ptx::setmaxnreg_dec<T::kProducerRegisters>();
    if (leads) {
      int begin = alone ? 0 : kEarly;
      for (unsigned tile = walk.tile; tile < unsigned(p.tiles); tile += walk.step, begin = 0) {
        load_stages<Cfg>(p, s, here, tile, begin, p.k_blocks, at);
      }
    }
  } else {
    if constexpr (T::kMovesRegisters) ptx::setmaxnreg_inc<T::kConsumerRegisters>();
    multiply_tiles<Cfg>(p, s, here, walk);
  }
  __syncwarp();
  // Peers may still read this CTA's sums, copy into it, or arrive on its barriers.
  if (!alone) meet_cluster(false);
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
