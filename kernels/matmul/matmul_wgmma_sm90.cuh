// Matmul on Hopper's tensor cores: the kernel of every arithmetic that wgmma has.
//
// A CTA is a warpgroup that has the copy engine fill a ring of stages (one thread does), and one to
// three that multiply out of it, each its own part of the tile with the sums in registers. The grid
// is persistent, and the copies for the next tile run while the last one is stored.
//
//   copies     wait for an empty stage -> a copy of A, a copy of B -> expect their bytes
//   products   wait for a full stage -> four steps of K -> the stage before is empty
//              (A of f32 with M adjacent: its fragments into registers first)
//   C          registers -> a warp's own shared memory -> C (matmul_epilogue_sm90.cuh)
//
// No clusters: sharing copies between CTAs by multicast gave nothing, 128 x 256 in pairs along m or
// n: 4096^3 and 8192^3 within 1% of single CTAs, 2048^3 2% behind (H200, 2026-12-01).
#pragma once

#include <type_traits>

#include "kernels/common/pipeline.cuh"
#include "kernels/matmul/matmul_epilogue_sm90.cuh"
#include "kernels/matmul/matmul_fragment_sm90.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm90.h"
#include "kernels/matmul/matmul_split_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Registers of a thread: a launch has 65536 / threads for each, and most are wanted for the sums.
template <class T>
inline constexpr int kLoaderRegisters = T::kSplits        ? 56
                                        : T::kGroups == 3 ? 32
                                        : T::kGroups == 2 ? 40
                                                          : 56;
template <class T>
inline constexpr int kMultiplierRegisters = T::kSplits        ? 224
                                            : T::kGroups == 3 ? 160
                                            : T::kGroups == 2 ? 232
                                                              : 248;

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
template <int kRows, Major kMajor, int kMnBlock>
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
      copy_stage<T::kRowsA, T::kConfig.a, T::kMnBlock>(s.a[at.stage], &args.a, place.m, k, batch_a,
                                                       full);
      copy_stage<T::kRowsB, T::kConfig.b, T::kMnBlock>(s.b[at.stage], &args.b, place.n, k, batch_b,
                                                       full);
    }
  }
}

// ---- Products -----------------------------------------------------------------------------------

// The operand of a step of K, at its first row of M or N in a stage; and how far the next step is.
template <Major kMajor, int kMnBlock>
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
  const ptx::MatrixDescriptor a = operand_at<kA, T::kMnBlock>(stage_a);
  const ptx::MatrixDescriptor b = operand_at<kB, T::kMnBlock>(stage_b);
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) ptx::wgmma_fence(sums[i]);
#pragma unroll
  for (int step = 0; step < T::kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < T::kM64; ++i) {
      ptx::wgmma_mma_async<kWgmmaM, T::kGroupN, T::kMmaK, T::kTypeA, T::kTypeB, ptx::Major(kA),
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

// multiply_stage with A in registers.
template <class Cfg>
LK_DEVICE void multiply_fragments(const typename FragmentsA<Cfg>::Step (&a)[ShapeSm90<Cfg>::kSteps],
                                  const unsigned char* stage_b, typename ShapeSm90<Cfg>::Sums& sums,
                                  bool add) {
  using T = ShapeSm90<Cfg>;
  const ptx::MatrixDescriptor b = operand_at<Major::k, T::kMnBlock>(stage_b);
  ptx::wgmma_fence(sums[0]);
#pragma unroll
  for (int step = 0; step < T::kSteps; ++step) {
    ptx::wgmma_mma_async<kWgmmaM, T::kGroupN, T::kMmaK, T::kTypeA>(
        sums[0], a[step], b.advanced(step * kStepBytesSm90), add || step > 0);
  }
  ptx::wgmma_commit_group();
}

// multiply_tile with A in registers: a stage's fragments are loaded while the products of the stage
// before run.
template <class Cfg>
LK_DEVICE void multiply_tile_from_registers(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s,
                                            int group, bool leads,
                                            PipelinePosition<Cfg::value.stages>& at,
                                            typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  static_assert(T::kM64 == 1);
  const int last_lead = leads && group == 0 ? (p.k_stages < kLead ? p.k_stages : kLead) - 1 : -1;
  if (leads && group == 1) ptx::bar_sync(kLeadBarrier, 2 * kGroupThreads);
  const FragmentsA<Cfg> fragments(T::group_m(group));
  using Stage = typename FragmentsA<Cfg>::Step[T::kSteps];
  Stage a[2];
  PipelinePosition<T::kTile.stages> last = at;  // read by products that may still run
  int stage = 0;
  const auto multiply = [&](Stage& a_stage) {
    consumer_wait(&s.ring, at);
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
      fragments.load(s.a[at.stage], step, a_stage[step]);
    }
    multiply_fragments<Cfg>(a_stage, s.b[at.stage] + T::group_n(group) * kStageBytes, sums,
                            stage > 0);
    if (stage == last_lead) ptx::bar_arrive(kLeadBarrier, 2 * kGroupThreads);
    ptx::wgmma_wait_group<1>();
    __syncwarp();  // all lanes have read their fragments
    if (stage > 0) release(&s.ring, last);
    last = at;
    at.advance();
    return ++stage < p.k_stages;
  };
#pragma unroll 1
  while (multiply(a[0]) && multiply(a[1])) {
  }
  ptx::wgmma_wait_group<0>(sums[0]);
  release(&s.ring, last);
}

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

// ---- Products of fp8 ----------------------------------------------------------------------------

// Of sums of such products the tensor cores keep about 13 bits: those of a stage, 128 of K, are
// added to the others in fp32, by FADDs that run while the tensor cores have other work. Two groups
// have that in flight themselves, in a second set of registers; three have one another.
template <class Cfg>
inline constexpr int kPartials = ShapeSm90<Cfg>::kGroups < 3 ? 2 : 1;

template <class Cfg>
LK_DEVICE void multiply_tile_promoted(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s,
                                      int group, bool leads, typename ShapeSm90<Cfg>::Position& at,
                                      typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  static_assert(T::kM64 == 1);
  const int last_lead = leads && group == 0 ? (p.k_stages < kLead ? p.k_stages : kLead) - 1 : -1;
  if (leads && group == 1) ptx::bar_sync(kLeadBarrier, 2 * kGroupThreads);
  typename T::Sums partial[kPartials<Cfg>];
  const auto start = [&](typename T::Sums& to, int stage) {
    consumer_wait(&s.ring, at);
    multiply_stage<Cfg>(s.a[at.stage] + T::group_m(group) * kStageBytes,
                        s.b[at.stage] + T::group_n(group) * kStageBytes, to, false);
    if (stage == last_lead) ptx::bar_arrive(kLeadBarrier, 2 * kGroupThreads);
  };
  // Adds those of the stage at `of`, while so many younger ones may run.
  const auto finish = [&](const typename T::Position& of, typename T::Sums& from, auto younger) {
    ptx::wgmma_wait_group<decltype(younger)::value>(from[0]);
    release(&s.ring, of);
#pragma unroll
    for (int i = 0; i < T::kGroupN / 2; ++i) sums[0][i] += from[0][i];
  };
  constexpr std::integral_constant<int, 0> kNone;
  constexpr std::integral_constant<int, 1> kOne;
#pragma unroll
  for (int i = 0; i < T::kGroupN / 2; ++i) sums[0][i] = 0;
  if constexpr (kPartials<Cfg> == 1) {
#pragma unroll 1
    for (int stage = 0; stage < p.k_stages; ++stage, at.advance()) {
      start(partial[0], stage);
      finish(at, partial[0], kNone);
    }
  } else {
    typename T::Position last = at;
    start(partial[0], 0);
    at.advance();
    int stage = 1;
#pragma unroll 1
    for (; stage + 1 < p.k_stages; stage += 2) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        start(partial[1 - i], stage + i);
        finish(last, partial[i], kOne);
        last = at;
        at.advance();
      }
    }
    if (stage < p.k_stages) {
      start(partial[1], stage);
      finish(last, partial[0], kOne);
      finish(at, partial[1], kNone);
      at.advance();
    } else {
      finish(last, partial[0], kNone);
    }
  }
}

// ---- A group's tiles ----------------------------------------------------------------------------

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
  bool first = T::kGroups == 2;
  const bool has_several = p.raster.tiles > gridDim.x;
#pragma unroll 1
  while (tile < p.raster.tiles) {
    typename T::Sums sums;  // what they were before, the first product ignores
    if constexpr (T::kSplits) {
      multiply_tile_split<Cfg>(p, s, group, first, at, sums);
    } else if constexpr (T::kPromotes) {
      multiply_tile_promoted<Cfg>(p, s, group, first && has_several, at, sums);
    } else if constexpr (T::kAFromRegisters) {
      multiply_tile_from_registers<Cfg>(p, s, group, first && has_several, at, sums);
    } else {
      multiply_tile<Cfg>(p, s, group, first && has_several, at, sums);
    }
    first = false;
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
  constexpr std::uint32_t kStarters =
      kWarpThreads + (T::kSplits ? kSplitThreads : 0) + T::kGroups * kGroupThreads;
  if (group == 0) {
    ptx::setmaxnreg_dec<kLoaderRegisters<T>>();
    if (threadIdx.x >= kWarpThreads) {
      if constexpr (T::kSplits) {
        ptx::bar_sync(kStartBarrier, kStarters);
        split_tiles<Cfg>(args.p, s);
      }
      return;
    }
    const bool elected = ptx::elect_sync();
    if (elected) {
      ptx::prefetch_tensormap(&args.a);
      ptx::prefetch_tensormap(&args.b);
      if constexpr (T::kSplits) {
        for (ptx::Mbarrier& split : s.split) ptx::mbarrier_init(&split, kSplitWarps);
      }
      init_pipeline(&s.ring, 1, T::kGroups * kGroupWarps);
    }
    __syncwarp();
    ptx::bar_arrive(kStartBarrier, kStarters);  // this warp need not wait: the ring is empty
    ptx::griddepcontrol_wait();  // what was copied to scratch is there; nobody else reads that
    if (elected) load_tiles<Cfg>(args, s);
  } else {
    ptx::bar_sync(kStartBarrier, kStarters);
    ptx::setmaxnreg_inc<kMultiplierRegisters<T>>();
    multiply_tiles<Cfg>(args, s, group - 1);
  }
}

// ---- The kernels of an arithmetic, a type and a layout of A ----------------------------------------------------

template <Arithmetic kArithmetic, DType kTypeA, Major kA>
struct WgmmaKernels {
  static constexpr std::size_t kCount =
      tiles_sm90(kArithmetic).size() * kernels_of_tile(kArithmetic);
  static constexpr ConfigSm90 config(std::size_t index) {
    return config_sm90_at(kArithmetic, kTypeA, kA, index);
  }
  template <std::size_t kIndex>
  static KernelPointerSm90 pointer() {
    return &matmul_sm90_wgmma<std::integral_constant<ConfigSm90, config(kIndex)>>;
  }
  static constexpr KernelSetSm90 set() { return kernel_set_sm90<WgmmaKernels>(); }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
