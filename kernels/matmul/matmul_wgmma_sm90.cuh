// Matmul on Hopper's tensor cores: the kernel of every arithmetic that wgmma has.
//
// A CTA is a warpgroup that has the copy engine fill a ring of stages (one thread does), and one or
// two that multiply out of it, each its own part of the tile with the sums in registers. The CTAs
// of a cluster hold neighbouring tiles: what they share, each copies a part of, for all of them.
// The grid is persistent, and the copies for the next tile run while the last one is stored.
//
//   copies     wait for an empty stage -> expect its bytes -> two copies, one of them multicast
//   products   wait for a full stage -> four steps of K -> the stage before is empty
//   C          registers -> a warp's own shared memory -> whole lines (matmul_epilogue_sm90.cuh)
#pragma once

#include "kernels/common/pipeline.cuh"
#include "kernels/matmul/matmul_epilogue_sm90.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Registers of a thread: a launch has 65536 / threads for each, and most are wanted for the sums.
template <int kGroups>
inline constexpr int kLoaderRegisters = kGroups == 2 ? 40 : 56;
template <int kGroups>
inline constexpr int kMultiplierRegisters = kGroups == 2 ? 232 : 248;

// Where a tile of C begins, and in which product of the batch.
struct TilePlace {
  std::int64_t batch, m, n;
};

// The tiles of this CTA, one after the other:
//   for (TilesSm90<Cfg> tiles(p); tiles.valid(); tiles.advance())
template <class Cfg>
class TilesSm90 {
  using T = ShapeSm90<Cfg>;

 public:
  LK_DEVICE explicit TilesSm90(const ParamsSm90& p) : p_(p), tile_(blockIdx.x / T::kCluster) {
    if constexpr (T::kCluster > 1) {
      const int rank = int(ptx::cluster_ctarank());
      rank_m_ = rank % T::kTile.cluster_m;
      rank_n_ = rank / T::kTile.cluster_m;
    }
  }
  LK_DEVICE bool valid() const { return tile_ < p_.raster.tiles; }
  LK_DEVICE void advance() { tile_ += gridDim.x / T::kCluster; }
  LK_DEVICE TilePlace place() const {
    const TileIndex i = tile_at(tile_, p_.raster);
    return {i.batch, (i.m * T::kTile.cluster_m + rank_m_) * T::kTile.m,
            (i.n * T::kTile.cluster_n + rank_n_) * T::kTile.n};
  }

 private:
  const ParamsSm90& p_;
  std::int64_t tile_;
  int rank_m_ = 0, rank_n_ = 0;
};

// ---- Copies -------------------------------------------------------------------------------------

// This CTA's part of a stage of an operand: kRows of its M or N from `mn` on, for the CTAs of
// `mask`.
template <int kRows, int kK, Major kMajor, bool kMulticast>
LK_DEVICE void copy_part(unsigned char* stage, const ptx::TensorMap* map, int mn, int k, int batch,
                         ptx::Mbarrier* full, std::uint16_t mask) {
  const auto copy = [&](unsigned char* to, int x, int y) {
    if constexpr (kMulticast) {
      ptx::cp_async_bulk_tensor_3d_shared_global_multicast(to, map, x, y, batch, full, mask);
    } else {
      ptx::cp_async_bulk_tensor_3d_shared_global(to, map, x, y, batch, full);
    }
  };
  if constexpr (kMajor == Major::k) {
    copy(stage, k, mn);  // [kRows][kStageBytes]
  } else {
    constexpr int kBlock = kStageBytes / 2;  // M or N of a block [kK][kStageBytes]
    static_assert(kRows % kBlock == 0);
#pragma unroll
    for (int b = 0; b < kRows; b += kBlock) copy(stage + b * kStageBytes, mn + b, k);
  }
}

// Returns when all CTAs of the cluster have read what this one copied, and told so here: then
// nobody touches its shared memory any more, and once its threads have met it may exit. (A barrier
// of the cluster would first wait until everybody's part of C is in memory.)
template <class Cfg>
LK_DEVICE void wait_for_peers(typename ShapeSm90<Cfg>::Smem& s,
                              PipelinePosition<Cfg::value.stages> at) {
  for (int i = 0; i < Cfg::value.stages; ++i, at.advance()) producer_acquire(&s.ring, at);
}

// One thread.
template <class Cfg>
LK_DEVICE void load_tiles(const ArgumentsSm90& args, typename ShapeSm90<Cfg>::Smem& s) {
  using T = ShapeSm90<Cfg>;
  constexpr TileSm90 kTile = T::kTile;
  constexpr int kRowsA = kTile.m / kTile.cluster_n, kRowsB = kTile.n / kTile.cluster_m;
  int rank_m = 0, rank_n = 0;
  if constexpr (T::kCluster > 1) {
    const int rank = int(ptx::cluster_ctarank());
    rank_m = rank % kTile.cluster_m;
    rank_n = rank / kTile.cluster_m;
  }
  // Ranks m + cluster_m n: A's rows go to all n of this m, B's columns to all m of this n.
  std::uint16_t mask_a = 0, mask_b = 0;
  for (int n = 0; n < kTile.cluster_n; ++n) mask_a |= 1u << (rank_m + kTile.cluster_m * n);
  for (int m = 0; m < kTile.cluster_m; ++m) mask_b |= 1u << (m + kTile.cluster_m * rank_n);
  const int part_a = rank_n * kRowsA, part_b = rank_m * kRowsB;

  PipelinePosition<kTile.stages> at;
#pragma unroll 1
  for (TilesSm90<Cfg> tiles(args.p); tiles.valid(); tiles.advance()) {
    const TilePlace tile = tiles.place();
    const int m = int(tile.m) + part_a, n = int(tile.n) + part_b;
    const int batch_a = args.p.batch_a ? int(tile.batch) : 0;
    const int batch_b = args.p.batch_b ? int(tile.batch) : 0;
#pragma unroll 1
    for (int stage = 0, k = 0; stage < args.p.k_stages; ++stage, k += T::kK, at.advance()) {
      producer_acquire(&s.ring, at);
      ptx::Mbarrier* full = &s.ring.full[at.stage];
      copy_part<kRowsA, T::kK, T::kConfig.a, (kTile.cluster_n > 1)>(
          s.a[at.stage] + part_a * kStageBytes, &args.a, m, k, batch_a, full, mask_a);
      copy_part<kRowsB, T::kK, T::kConfig.b, (kTile.cluster_m > 1)>(
          s.b[at.stage] + part_b * kStageBytes, &args.b, n, k, batch_b, full, mask_b);
      // Last, so that who knows of this stage knows that no more copies come from here.
      producer_commit(&s.ring, at, (kTile.m + kTile.n) * kStageBytes);
    }
  }
  if constexpr (T::kCluster > 1) wait_for_peers<Cfg>(s, at);
}

// ---- Products -----------------------------------------------------------------------------------

// This warp has read the stage: one lane tells each CTA that copies into it, which are those
// of the same rows and those of the same columns of the cluster.
template <class Cfg>
LK_DEVICE void release(typename ShapeSm90<Cfg>::Smem& s,
                       const PipelinePosition<Cfg::value.stages>& at) {
  using T = ShapeSm90<Cfg>;
  constexpr int kM = T::kTile.cluster_m;
  if (threadIdx.x % kWarpThreads != 0) return;
  if constexpr (T::kCluster == 1) {
    consumer_release(&s.ring, at);
  } else {
    const int rank = int(ptx::cluster_ctarank());
#pragma unroll
    for (int r = 0; r < T::kCluster; ++r) {
      if (kM > 1 && T::kTile.cluster_n > 1 && r % kM != rank % kM && r / kM != rank / kM) continue;
      consumer_release_peer(&s.ring, at, std::uint32_t(r));
    }
  }
}

// The operand of a step of K: kRows of M or N, of which `stage` holds more.
template <Major kMajor>
LK_DEVICE ptx::MatrixDescriptor operand_at(const unsigned char* stage) {
  constexpr ptx::DescriptorFields kFields =
      kMajor == Major::k ? ptx::k_major_tile(ptx::Swizzle::b128)
                         : ptx::mn_major_tile(ptx::Swizzle::b128, kStageBytes / 2);
  return ptx::matrix_descriptor_at(stage, kFields);
}
template <Major kMajor, int kMmaK>
inline constexpr std::uint32_t kStepAdvance = kMajor == Major::k
                                                  ? kStepBytesSm90
                                                  : std::uint32_t(kMmaK* kStageBytes);

// sums (+)= A B over one stage: a group of products, in flight.
template <class Cfg>
LK_DEVICE void multiply_stage(const unsigned char* stage_a, const unsigned char* stage_b,
                              typename ShapeSm90<Cfg>::Sums& sums, bool add) {
  using T = ShapeSm90<Cfg>;
  const ptx::MatrixDescriptor b = operand_at<T::kConfig.b>(stage_b);
  const ptx::MatrixDescriptor a = operand_at<T::kConfig.a>(stage_a);
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) ptx::wgmma_fence(sums[i]);
#pragma unroll
  for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < T::kM64; ++i) {
      ptx::wgmma_mma_async<kWgmmaM, T::kGroupN, T::kMmaK, T::kType, T::kType,
                           ptx::Major(T::kConfig.a), ptx::Major(T::kConfig.b)>(
          sums[i],
          a.advanced(i * kWgmmaM * kStageBytes + step * kStepAdvance<T::kConfig.a, T::kMmaK>),
          b.advanced(step * kStepAdvance<T::kConfig.b, T::kMmaK>), add || step > 0);
    }
  }
  ptx::wgmma_commit_group();
}

// The second of two groups starts when the first has asked for so many stages of its first tile: so
// one stores, later, while the other multiplies.
inline constexpr int kLead = 2;
inline constexpr std::uint32_t kLeadBarrier = 3;

// All products of a group's part of a tile.
template <class Cfg>
LK_DEVICE void multiply_tile(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s, int group,
                             bool first, PipelinePosition<Cfg::value.stages>& at,
                             typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  const int m = group / T::kTile.groups_n * T::kGroupM, n = group % T::kTile.groups_n * T::kGroupN;
  const int lead = p.k_stages < kLead ? p.k_stages : kLead;
  const int leads = T::kGroups == 2 && first && group == 0 ? lead - 1 : -1;
  if (T::kGroups == 2 && first && group == 1) ptx::bar_sync(kLeadBarrier, 2 * kGroupThreads);
  PipelinePosition<T::kTile.stages> last = at;  // read by products that may still run
#pragma unroll 1
  for (int stage = 0; stage < p.k_stages; ++stage) {
    consumer_wait(&s.ring, at);
    multiply_stage<Cfg>(s.a[at.stage] + m * kStageBytes, s.b[at.stage] + n * kStageBytes, sums,
                        stage > 0);
    if (stage == leads) ptx::bar_arrive(kLeadBarrier, 2 * kGroupThreads);
    ptx::wgmma_wait_group<1>();
    if (stage > 0) release<Cfg>(s, last);
    last = at;
    at.advance();
  }
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) ptx::wgmma_wait_group<0>(sums[i]);
  release<Cfg>(s, last);
}

// A warpgroup that multiplies.
template <class Cfg>
LK_DEVICE void multiply_tiles(const ArgumentsSm90& args, typename ShapeSm90<Cfg>::Smem& s,
                              int group) {
  using T = ShapeSm90<Cfg>;
  const Epilogue& e = args.p.epilogue;
  const int m = group / T::kTile.groups_n * T::kGroupM, n = group % T::kTile.groups_n * T::kGroupN;
  const float scale = product_scale(e);
  unsigned char* staging = s.staging[group][threadIdx.x / kWarpThreads % kGroupWarps];
  int turn = 0;
  PipelinePosition<T::kTile.stages> at;
  BiasSm90<Cfg> bias(e, s.bias[group], group);
  TilesSm90<Cfg> tiles(args.p);
  TilePlace tile = tiles.place();
  bias.load(e, tile.m + m, tile.n + n);
#pragma unroll 1
  for (bool first = true; tiles.valid(); first = false) {
    typename T::Sums sums;  // what they were before, the first product ignores
    multiply_tile<Cfg>(args.p, s, group, first, at, sums);
    bias.stage(e);
    const TilePlace here = tile;
    tiles.advance();
    tile = tiles.place();
    if (tiles.valid()) bias.load(e, tile.m + m, tile.n + n);
    if (e.bias_on_rows) {
      store_tile_sm90<Cfg, true>(args, staging, turn, bias, scale, here.batch, here.m + m,
                                 here.n + n, sums);
    } else {
      store_tile_sm90<Cfg, false>(args, staging, turn, bias, scale, here.batch, here.m + m,
                                  here.n + n, sums);
    }
  }
  ptx::cp_async_bulk_wait_group_read<0>();  // the copy engine has read what it stores
}

// The barriers of all CTAs of the cluster are initialised: init_pipeline has fenced them, so the
// arrival itself orders nothing.
template <class Cfg>
LK_DEVICE void meet_at_start() {
  if constexpr (ShapeSm90<Cfg>::kCluster > 1) {
    ptx::barrier_cluster_arrive_relaxed();
    ptx::barrier_cluster_wait_acquire();
  } else {
    __syncthreads();
  }
}
template <class Cfg>
__global__ void __launch_bounds__(ShapeSm90<Cfg>::kThreads, 1)
    matmul_sm90_wgmma(const __grid_constant__ ArgumentsSm90 args) {
  using T = ShapeSm90<Cfg>;
  auto& s = ptx::dynamic_smem<typename T::Smem>();
  if (threadIdx.x == 0) {
    ptx::prefetch_tensormap(&args.a);
    ptx::prefetch_tensormap(&args.b);
    constexpr int kFillers = T::kTile.cluster_m + T::kTile.cluster_n - 1;
    init_pipeline(&s.ring, 1, T::kGroups * kGroupWarps * kFillers);
  }
  meet_at_start<Cfg>();
  const int group = int(threadIdx.x) / kGroupThreads;
  if (group == 0) {
    ptx::setmaxnreg_dec<kLoaderRegisters<T::kGroups>>();
    if (threadIdx.x < kWarpThreads && ptx::elect_sync()) load_tiles<Cfg>(args, s);
  } else {
    ptx::setmaxnreg_inc<kMultiplierRegisters<T::kGroups>>();
    multiply_tiles<Cfg>(args, s, group - 1);
  }
  if constexpr (T::kCluster > 1) __syncthreads();  // see wait_for_peers
}

// ---- The kernels of an arithmetic and a layout of A ---------------------------------------------

template <Arithmetic kArithmetic, Major kA>
struct WgmmaKernels {
  static constexpr std::size_t kCount = tiles_sm90(kArithmetic).size() * 2;
  static constexpr ConfigSm90 config(std::size_t index) {
    return config_sm90_at(kArithmetic, kA, index);
  }
  template <std::size_t kIndex>
  static KernelPointerSm90 pointer() {
    return &matmul_sm90_wgmma<std::integral_constant<ConfigSm90, config(kIndex)>>;
  }
  static constexpr KernelSetSm90 set() { return kernel_set_sm90<WgmmaKernels>(); }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
