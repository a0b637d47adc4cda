// Matmul with few columns on sm90: the kernel. See matmul_sm90_skinny.cu for the contract.
//
// A CTA is a warp that copies stages of W and X into a ring, by tensor copies, and a warpgroup that
// multiplies them: wgmma with W as its operand of 64 rows. The CTAs of a cluster have the same tile
// of D and share its K. Each stages its sums in its shared memory, and then finishes its share of
// the tile, adding up all of theirs in the order of ranks.
#pragma once

#include "kernels/matmul/matmul_skinny_finish.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

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
      ptx::wgmma_mma_async<T::kMmaRows, T::kCols, T::kMmaK, T::kTypeW, T::kTypeX, Cfg::value.w,
                           Cfg::value.x>(acc[m], w.advanced(m * T::kNextRows + k * T::kNextKOfW),
                                         x.advanced(k * T::kNextKOfX), !first || k > 0);
    }
  }
  ptx::wgmma_commit_group();
}

// fp8, of whose sums the tensor cores keep about 13 bits: those of a stage are added up in fp32.
template <class Cfg>
LK_DEVICE void multiply_and_add(typename Skinny<Cfg>::Smem& s, int stage, bool first,
                                typename Skinny<Cfg>::Sums& acc) {
  using T = Skinny<Cfg>;
  typename T::Sums partial;
  multiply_stage<Cfg>(s, stage, true, partial);
#pragma unroll
  for (int m = 0; m < T::kMmas; ++m) {
    ptx::wgmma_wait_group<0>(partial[m]);
#pragma unroll
    for (int v = 0; v < T::kCols / 2; ++v) {
      acc[m][v] = first ? partial[m][v] : acc[m][v] + partial[m][v];
    }
  }
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
    // One stage's products are under way while the next one is waited for, but of f8, whose sums
    // are added up.
    for (int i = 0; i < work.blocks; ++i, at.advance()) {
      consumer_wait(&s.ring, at);
      if constexpr (T::kPromotes) {
        multiply_and_add<Cfg>(s, at.stage, i == 0, acc);
      } else {
        multiply_stage<Cfg>(s, at.stage, i == 0, acc);
        ptx::wgmma_wait_group<1>();
      }
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
