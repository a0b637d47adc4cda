// Matmul on sm90 as tf32x3 (matmul_split.cuh). The copy engine brings fp32. Three warps beside the
// one that asks for copies split B in shared memory: hi where it was, lo into a second buffer.
// Those that multiply split A in registers, each its own rows, and add three products for each step
// of K, the small ones first. After every stage the sums leave the tensor core, which truncates.
#pragma once

#include "kernels/matmul/matmul_fragment_sm90.cuh"
#include "kernels/matmul/matmul_sm90.h"
#include "kernels/matmul/matmul_split.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// ---- B ------------------------------------------------------------------------------------------

// kCount vectors of four, all of which the copy engine has brought.
template <int kCount>
LK_DEVICE void split_vectors(unsigned char* b, unsigned char* b_lo, int at, int step) {
  uint4 v[kCount];
  bool ordinary = true;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    v[i] = ptx::ld_shared(reinterpret_cast<const uint4*>(b + at + i * step));
    ordinary &=
        is_ordinary(v[i].x) && is_ordinary(v[i].y) && is_ordinary(v[i].z) && is_ordinary(v[i].w);
  }
  const auto store = [&](auto split) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Split x = split(v[i].x), y = split(v[i].y), z = split(v[i].z), w = split(v[i].w);
      ptx::st_shared(reinterpret_cast<uint4*>(b + at + i * step),
                     make_uint4(x.hi, y.hi, z.hi, w.hi));
      ptx::st_shared(reinterpret_cast<uint4*>(b_lo + at + i * step),
                     make_uint4(x.lo, y.lo, z.lo, w.lo));
    }
  };
  if (ordinary) {
    store([](std::uint32_t bits) { return split_ordinary(bits); });
  } else {
    store([](std::uint32_t bits) { return split_any(bits); });
  }
}

// All of B that this CTA reads. The warps of the first group but for the first.
template <class Cfg>
LK_DEVICE void split_tiles(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s) {
  using T = ShapeSm90<Cfg>;
  constexpr int kVector = 16, kStep = kSplitThreads * kVector, kUnroll = 4;
  constexpr int kBytes = T::kRowsB * kStageBytes, kWhole = kBytes / (kStep * kUnroll);
  const int thread = int(threadIdx.x) - kWarpThreads;
  PipelinePosition<T::kTile.stages> at;
#pragma unroll 1
  for (std::int64_t tile = blockIdx.x; tile < p.raster.tiles; tile += gridDim.x) {
#pragma unroll 1
    for (int stage = 0; stage < p.k_stages; ++stage, at.advance()) {
      consumer_wait(&s.ring, at);
      unsigned char *b = s.b[at.stage], *b_lo = s.b_lo[at.stage];
      int byte = thread * kVector;
#pragma unroll 1
      for (int i = 0; i < kWhole; ++i, byte += kStep * kUnroll) {
        split_vectors<kUnroll>(b, b_lo, byte, kStep);
      }
#pragma unroll 1
      for (; byte < kBytes; byte += kStep) split_vectors<1>(b, b_lo, byte, kStep);
      ptx::fence_proxy_async_shared_cta();  // wgmma reads it
      __syncwarp();
      if (threadIdx.x % kWarpThreads == 0) ptx::mbarrier_arrive(&s.split[at.stage]);
    }
  }
}

// ---- A, and products ----------------------------------------------------------------------------

// All lanes of the warp alike, since products follow.
LK_DEVICE void split_fragment(const std::uint32_t (&x)[4], std::uint32_t (&hi)[4],
                              std::uint32_t (&lo)[4]) {
  const bool ordinary =
      is_ordinary(x[0]) && is_ordinary(x[1]) && is_ordinary(x[2]) && is_ordinary(x[3]);
  const auto store = [&](auto split) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Split part = split(x[i]);
      hi[i] = part.hi;
      lo[i] = part.lo;
    }
  };
  if (ptx::vote_sync_all(ordinary)) {
    store([](std::uint32_t bits) { return split_ordinary(bits); });
  } else {
    store([](std::uint32_t bits) { return split_any(bits); });
  }
}

// One step of A, split; registers that products in flight read.
struct SplitFragment {
  std::uint32_t hi[4], lo[4];
};

// acc (+)= A B of one step: a group of products, in flight.
template <class Cfg>
LK_DEVICE void multiply_split(float (&acc)[ShapeSm90<Cfg>::kGroupN / 2], SplitFragment& a,
                              ptx::MatrixDescriptor b_hi, ptx::MatrixDescriptor b_lo, bool add) {
  using T = ShapeSm90<Cfg>;
  const auto multiply = [&](const std::uint32_t(&x)[4], ptx::MatrixDescriptor b, bool add_to) {
    ptx::wgmma_mma_async<kWgmmaM, T::kGroupN, T::kMmaK, T::kTypeA>(acc, x, b, add_to);
  };
  ptx::wgmma_fence(acc, a.hi, a.lo);
  multiply(a.lo, b_hi, add);
  multiply(a.hi, b_lo, true);
  multiply(a.hi, b_hi, true);
  ptx::wgmma_commit_group();
}

// multiply_tile of matmul_wgmma_sm90.cuh. Fragments are split a step ahead of their products. The
// second of two groups starts amid a stage of the first, so that one has products running while the
// other adds up.
template <class Cfg>
LK_DEVICE void multiply_tile_split(const ParamsSm90& p, typename ShapeSm90<Cfg>::Smem& s, int group,
                                   bool leads, PipelinePosition<Cfg::value.stages>& at,
                                   typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  static_assert(T::kM64 == 1 && T::kSteps % 2 == 0);
  constexpr ptx::DescriptorFields kFields = ptx::k_major_tile(ptx::Swizzle::b128);
  const FragmentsA<Cfg> fragments(T::group_m(group));
  const int b_at = T::group_n(group) * kStageBytes;
  const bool starts_late = leads && group == 1, starts_other = leads && group == 0;
  SplitFragment a[2];
  const auto wait = [&] {
    consumer_wait(&s.ring, at);
    while (!ptx::mbarrier_try_wait_parity(&s.split[at.stage], at.parity)) {
    }
  };
  const auto load = [&](int step) {
    typename FragmentsA<Cfg>::Step x;
    fragments.load(s.a[at.stage], step, x);
    SplitFragment& to = a[step % 2];
    ptx::wgmma_wait_group<1>(to.hi, to.lo);
    split_fragment(x, to.hi, to.lo);
  };
#pragma unroll
  for (int i = 0; i < T::kGroupN / 2; ++i) sums[0][i] = 0;
  if (starts_late) ptx::bar_sync(kLeadBarrier, 2 * kGroupThreads);
  wait();
  load(0);
#pragma unroll 1
  for (int stage = 0; stage < p.k_stages; ++stage) {
    float acc[T::kGroupN / 2];
    const ptx::MatrixDescriptor b = ptx::matrix_descriptor_at(s.b[at.stage] + b_at, kFields);
    const ptx::MatrixDescriptor b_lo = ptx::matrix_descriptor_at(s.b_lo[at.stage] + b_at, kFields);
    const PipelinePosition<T::kTile.stages> here = at;
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
      multiply_split<Cfg>(acc, a[step % 2], b.advanced(std::uint32_t(step * kStepBytesSm90)),
                          b_lo.advanced(std::uint32_t(step * kStepBytesSm90)), step > 0);
      if (step == T::kSteps / 2 && stage == 0 && starts_other) {
        ptx::bar_arrive(kLeadBarrier, 2 * kGroupThreads);
      }
      if (step + 1 < T::kSteps) {
        load(step + 1);
      } else if (stage + 1 < p.k_stages) {
        at.advance();
        wait();
        load(0);
      }
    }
    ptx::wgmma_wait_group<0>(acc);
    if (threadIdx.x % kWarpThreads == 0) consumer_release(&s.ring, here);
#pragma unroll
    for (int i = 0; i < T::kGroupN / 2; ++i) sums[0][i] += acc[i];
  }
  at.advance();
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
