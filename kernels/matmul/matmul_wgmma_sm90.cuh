// Matmul on Hopper's tensor cores: the kernel of every arithmetic that wgmma has.
//
// A CTA is a warpgroup that has the copy engine fill a ring of stages (one thread does), and one or
// two that multiply out of it, each its own part of the tile with the sums in registers. The grid
// is persistent, and the copies for the next tile run while the last one is stored.
//
//   copies     wait for an empty stage -> a copy of A, a copy of B -> expect their bytes
//   products   wait for a full stage -> four steps of K -> the stage before is empty
//   C          registers -> a warp's own shared memory -> C (matmul_epilogue_sm90.cuh)
//
// No clusters: sharing copies between CTAs by multicast gave nothing, 128 x 256 in pairs along m or
// n: 4096^3 and 8192^3 within 1% of single CTAs, 2048^3 2% behind (H200, 2026-12-01).
#pragma once

#include "kernels/common/pipeline.cuh"
#include "kernels/matmul/matmul_epilogue_sm90.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Registers of a thread: a launch has 65536 / threads for each, and most are wanted for the sums.
template <int kGroups>
inline constexpr int kLoaderRegisters = kGroups == 2 ? 24 : 56;
template <int kGroups>
inline constexpr int kMultiplierRegisters = kGroups == 2 ? 240 : 248;

// Where a tile of C begins, and in which product of the batch.
struct TilePlace {
  int batch, m, n;
};

template <class Cfg>
LK_DEVICE TilePlace tile_place(std::int64_t tile, const Raster& raster) {
  const TileIndex i = tile_at(tile, raster);
  return {int(i.batch), int(i.m) * ShapeSm90<Cfg>::kTile.m, int(i.n) * ShapeSm90<Cfg>::kTile.n};
}

// ---- Copies -------------------------------------------------------------------------------------

// A stage of an operand: kRows of its M or N from `mn` on.
template <int kRows, Major kMajor>
LK_DEVICE void copy_stage(unsigned char* stage, const ptx::TensorMap* map, int mn, int k, int batch,
                          ptx::Mbarrier* full) {
  if constexpr (kMajor == Major::k) {  // [kRows][kStageBytes]
    ptx::cp_async_bulk_tensor_3d_shared_global(stage, map, k, mn, batch, full);
  } else {
#pragma unroll
    for (int b = 0; b < kRows; b += kMnBlock) {  // [kMnBlock of K][kStageBytes] each
      ptx::cp_async_bulk_tensor_3d_shared_global(stage + b * kStageBytes, map, mn + b, k, batch,
                                                 full);
    }
  }
}

// All copies of this CTA. One thread.
template <class Cfg>
LK_DEVICE void load_tiles(const ArgumentsSm90& args, typename ShapeSm90<Cfg>::Smem& s) {
  using T = ShapeSm90<Cfg>;
  const ParamsSm90& p = args.p;
  PipelinePosition<T::kTile.stages> at;
#pragma unroll 1
  for (std::int64_t tile = blockIdx.x; tile < p.raster.tiles; tile += gridDim.x) {
    const TilePlace place = tile_place<Cfg>(tile, p.raster);
    const int batch_a = p.batch_a ? place.batch : 0, batch_b = p.batch_b ? place.batch : 0;
#pragma unroll 1
    for (int stage = 0, k = 0; stage < p.k_stages; ++stage, k += T::kK, at.advance()) {
      producer_acquire(&s.ring, at);
      producer_commit(&s.ring, at, T::kBytes);
      ptx::Mbarrier* full = &s.ring.full[at.stage];
      copy_stage<T::kRowsA, T::kConfig.a>(s.a[at.stage], &args.a, place.m, k, batch_a, full);
      copy_stage<T::kRowsB, T::kConfig.b>(s.b[at.stage], &args.b, place.n, k, batch_b, full);
    }
  }
}

// ---- Products -----------------------------------------------------------------------------------

// The operand of a step of K, at its first row of M or N in a stage; and how far the next step is.
template <Major kMajor>
LK_DEVICE ptx::MatrixDescriptor operand_at(const unsigned char* stage) {
  constexpr ptx::DescriptorFields kFields = kMajor == Major::k
                                                ? ptx::k_major_tile(ptx::Swizzle::b128)
                                                : ptx::mn_major_tile(ptx::Swizzle::b128, kMnBlock);
  return ptx::matrix_descriptor_at(stage, kFields);
}
template <Major kMajor, int kMmaK>
inline constexpr int kStepAdvance = kMajor == Major::k ? kStepBytesSm90 : kMmaK* kStageBytes;

// sums (+)= A B over one stage: a group of products, in flight.
template <class Cfg>
LK_DEVICE void multiply_stage(const unsigned char* stage_a, const unsigned char* stage_b,
                              typename ShapeSm90<Cfg>::Sums& sums, bool add) {
  using T = ShapeSm90<Cfg>;
  constexpr Major kA = T::kConfig.a, kB = T::kConfig.b;
  const ptx::MatrixDescriptor a = operand_at<kA>(stage_a), b = operand_at<kB>(stage_b);
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) ptx::wgmma_fence(sums[i]);
#pragma unroll
  for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < T::kM64; ++i) {
      ptx::wgmma_mma_async<kWgmmaM, T::kGroupN, T::kMmaK, T::kType, T::kType, ptx::Major(kA),
                           ptx::Major(kB)>(
          sums[i], a.advanced(i * kWgmmaM * kStageBytes + step * kStepAdvance<kA, T::kMmaK>),
          b.advanced(step * kStepAdvance<kB, T::kMmaK>), add || step > 0);
    }
  }
  ptx::wgmma_commit_group();
}

// This warp has read the stage.
template <int kStages>
LK_DEVICE void release(PipelineBarriers<kStages>* ring, const PipelinePosition<kStages>& at) {
  if (threadIdx.x % kWarpThreads == 0) consumer_release(ring, at);
}

// Where CTAs have several tiles, the second of two groups starts when the first has asked for so
// many stages of its first tile: then one stores while the other multiplies.
inline constexpr int kLead = 2;
inline constexpr std::uint32_t kLeadBarrier = 3;  // 1 and 2 are the groups'
inline constexpr std::uint32_t kStartBarrier = 4;

// All products of a group's part of a tile. `leads`: keep the groups apart, see above.
template <class Cfg>
LK_DEVICE void multiply_tile(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s, int group,
                             bool leads, PipelinePosition<Cfg::value.stages>& at,
                             typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  const int last_lead = leads && group == 0 ? (p.k_stages < kLead ? p.k_stages : kLead) - 1 : -1;
  if (leads && group == 1) ptx::bar_sync(kLeadBarrier, 2 * kGroupThreads);
  PipelinePosition<T::kTile.stages> last = at;  // read by products that may still run
#pragma unroll 1
  for (int stage = 0; stage < p.k_stages; ++stage) {
    consumer_wait(&s.ring, at);
    multiply_stage<Cfg>(s.a[at.stage] + T::group_m(group) * kStageBytes,
                        s.b[at.stage] + T::group_n(group) * kStageBytes, sums, stage > 0);
    if (stage == last_lead) ptx::bar_arrive(kLeadBarrier, 2 * kGroupThreads);
    ptx::wgmma_wait_group<1>();
    if (stage > 0) release(&s.ring, last);
    last = at;
    at.advance();
  }
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) ptx::wgmma_wait_group<0>(sums[i]);
  release(&s.ring, last);
}

// A warpgroup that multiplies.
template <class Cfg>
LK_DEVICE void multiply_tiles(const ArgumentsSm90& args, typename ShapeSm90<Cfg>::Smem& s,
                              int group) {
  using T = ShapeSm90<Cfg>;
  const ParamsSm90& p = args.p;
  const Epilogue& e = p.epilogue;
  const int m = T::group_m(group), n = T::group_n(group);
  const float scale = product_scale(e);
  const WarpStaging staging{s.staging[group][threadIdx.x / kWarpThreads % kGroupWarps]};
  BiasSm90<Cfg> bias(e, s.bias[group], group);
  PipelinePosition<T::kTile.stages> at;
  std::int64_t tile = blockIdx.x;
  TilePlace next = tile_place<Cfg>(tile, p.raster);
  bias.load(e, next.m + m, next.n + n);
  bool leads = T::kGroups == 2 && p.raster.tiles > gridDim.x;
#pragma unroll 1
  while (tile < p.raster.tiles) {
    typename T::Sums sums;  // what they were before, the first product ignores
    multiply_tile<Cfg>(p, s, group, leads, at, sums);
    leads = false;
    bias.stage(e);
    const TilePlace here = next;
    tile += gridDim.x;
    if (tile < p.raster.tiles) {
      next = tile_place<Cfg>(tile, p.raster);
      bias.load(e, next.m + m, next.n + n);
    }
    store_tile<Cfg>(args, staging, bias, scale, here.batch, here.m + m, here.n + n, sums);
  }
  ptx::cp_async_bulk_wait_group_read<0>();  // the copy engine has read what it stores
}

template <class Cfg>
__global__ void __launch_bounds__(ShapeSm90<Cfg>::kThreads, 1)
    matmul_sm90_wgmma(const __grid_constant__ ArgumentsSm90 args) {
  using T = ShapeSm90<Cfg>;
  auto& s = ptx::dynamic_smem<typename T::Smem>();
  const int group = int(threadIdx.x) / kGroupThreads;
  constexpr std::uint32_t kStarters = kWarpThreads + T::kGroups * kGroupThreads;
  if (group == 0) {
    ptx::setmaxnreg_dec<kLoaderRegisters<T::kGroups>>();
    if (threadIdx.x >= kWarpThreads) return;
    const bool elected = ptx::elect_sync();
    if (elected) {
      ptx::prefetch_tensormap(&args.a);
      ptx::prefetch_tensormap(&args.b);
      init_pipeline(&s.ring, 1, T::kGroups * kGroupWarps);
    }
    __syncwarp();
    ptx::bar_arrive(kStartBarrier, kStarters);  // this warp need not wait: the ring is empty
    ptx::griddepcontrol_wait();  // what was copied to scratch is there; nobody else reads that
    if (elected) load_tiles<Cfg>(args, s);
  } else {
    ptx::bar_sync(kStartBarrier, kStarters);
    ptx::setmaxnreg_inc<kMultiplierRegisters<T::kGroups>>();
    multiply_tiles<Cfg>(args, s, group - 1);
  }
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
