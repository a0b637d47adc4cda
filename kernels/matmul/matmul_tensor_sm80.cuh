// Matmul on sm80's tensor cores: the kernel of every Arithmetic but fp32 (matmul_sm80_fp32.cu).
//
// A CTA computes tiles of C, one after the other. Its warps share the stages of A and B and each
// keep a part of C in registers. From aligned operands (Load::async) a ring of stages is filled by
// cp.async several tiles of K ahead, and a step's fragments are loaded while the step before is
// multiplied (tf32x3, short of registers: before their own step). From others (Load::staged) the
// next tile of K travels through registers.
//
// C goes out through the shared memory that the stages leave: sixteen rows of each warp at a time.
#pragma once

#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_fragment.cuh"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_sm80.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Sums of tf32x3 leave the tensor core's accumulators, which truncate, after so many of K: it shall
// be nearly as good as fp32. The bounds of the others allow for a truncation at every step.
inline constexpr int kPromotedK = 128;

template <class Cfg>
struct Shape {
  static constexpr Tile kTile = Cfg::value.tile();
  static constexpr Arithmetic kArithmetic = Cfg::value.arithmetic;
  static constexpr int kElement = stage_element(kArithmetic);
  static constexpr int kSource = kArithmetic == Arithmetic::f8 ? 1 : kElement;
  static constexpr int kThreads = kTile.threads();
  static constexpr int kK = kTile.k_bytes / kElement;
  static constexpr int kSteps = kTile.k_bytes / kStepBytes;
  static constexpr int kWarpM = kTile.m / kTile.warps_m;
  static constexpr int kWarpN = kTile.n / kTile.warps_n;
  static constexpr int kM16 = kWarpM / 16;
  static constexpr int kN8 = kWarpN / 8;
  using A = Side<kTile.m, kTile.k_bytes, kElement, Cfg::value.a, kThreads>;
  using B = Side<kTile.n, kTile.k_bytes, kElement, Cfg::value.b, kThreads>;
  using Fragment = Fragments<kM16, kN8>;
  using Sums = float[kM16][kN8][4];

  struct Stage {
    alignas(128) unsigned char a[A::kBytes];
    alignas(128) unsigned char b[B::kBytes];
  };
  union Smem {
    Stage stages[kTile.stages];
    float blocks[kTile.warps_m * kTile.warps_n][kBlockRows * kBlockPitch<kWarpN>];
  };
  static_assert(sizeof(Smem) == smem_bytes(kArithmetic, kTile));
};

// The operands of one product of the batch, and where the tile is in it.
struct TileOperands {
  const unsigned char* a;
  const unsigned char* b;
  std::int64_t m0, n0;
};

template <class Cfg>
LK_DEVICE void clear(typename Shape<Cfg>::Sums& sums) {
  using T = Shape<Cfg>;
#pragma unroll
  for (int i = 0; i < T::kM16; ++i) {
#pragma unroll
    for (int j = 0; j < T::kN8; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) sums[i][j][r] = 0.0f;
    }
  }
}

// total += acc, acc = 0.
template <class Cfg>
LK_DEVICE void promote(typename Shape<Cfg>::Sums& total, typename Shape<Cfg>::Sums& acc) {
  using T = Shape<Cfg>;
#pragma unroll
  for (int i = 0; i < T::kM16; ++i) {
#pragma unroll
    for (int j = 0; j < T::kN8; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        total[i][j][r] += acc[i][j][r];
        acc[i][j][r] = 0.0f;
      }
    }
  }
}

// acc += A B over one stage, a step's fragments at a time.
template <class Cfg>
LK_DEVICE void multiply_stage(const typename Shape<Cfg>::Stage& stage,
                              const FragmentA<typename Shape<Cfg>::A>& read_a,
                              const FragmentB<typename Shape<Cfg>::B>& read_b,
                              typename Shape<Cfg>::Sums& acc) {
  using T = Shape<Cfg>;
  // Unrolled, tf32x3 would be scheduled into more registers than there are.
  [[maybe_unused]] constexpr int kUnroll = T::kArithmetic == Arithmetic::tf32x3 ? 1 : T::kSteps;
#pragma unroll kUnroll
  for (int step = 0; step < T::kSteps; ++step) {
    typename T::Fragment f;
    read_a.load(stage.a, step, f.a);
    read_b.load(stage.b, step, f.b);
    multiply<T::kArithmetic>(acc, f);
  }
}

// acc += A B of the tile, k_tiles >= 1, with kStages - 1 stages in flight. `after_k_tile` is called
// when the products of a tile of K are in acc; tf32x3's promotes, so that acc keeps only the sums
// since. With three stages, and but for tf32x3, tile t of K is:
//
//              step 0                          steps between   last step
//   copies     tile t + 2, into the stage      -               tile t + 1 has come, and all warps
//              of tile t - 1                                   have read the stage of tile t
//   fragments  step 1 of tile t                the next step   step 0 of tile t + 1
//   products   step 0                          their own       last step
template <class Cfg, class AfterKTile>
LK_DEVICE void multiply_async(const Params& p, typename Shape<Cfg>::Smem& smem,
                              const TileOperands& at, std::int64_t k_tiles,
                              typename Shape<Cfg>::Sums& acc, AfterKTile after_k_tile) {
  using T = Shape<Cfg>;
  constexpr int kStages = T::kTile.stages;
  constexpr int kAhead = kStages - 1;
  static_assert(T::kSteps >= 2 && T::kSteps % 2 == 0);
  const int warp = int(threadIdx.x) / kWarpThreads;
  const FragmentA<typename T::A> read_a(warp / T::kTile.warps_n * T::kWarpM);
  const FragmentB<typename T::B> read_b(warp % T::kTile.warps_n * T::kWarpN);
  AsyncCopy<typename T::A> copy_a;
  AsyncCopy<typename T::B> copy_b;
  copy_a.start(p.a, at.a, at.m0, p.m);
  copy_b.start(p.b, at.b, at.n0, p.n);

  std::int64_t k_left = p.k;  // of the stages not yet asked for
  int write = 0;
  const auto fill = [&](auto whole) {  // kWhole: all of the stage exists
    constexpr bool kWhole = decltype(whole)::value;
    if (kWhole || k_left > 0) {
      const int k = kWhole ? T::kK : clipped(k_left, T::kK);
      copy_a.template copy<kWhole>(smem.stages[write].a, k);
      copy_b.template copy<kWhole>(smem.stages[write].b, k);
      k_left -= T::kK;
    }
    ptx::cp_async_commit_group();  // empty at the end: the wait counts groups
    write = write + 1 == kStages ? 0 : write + 1;
  };
#pragma unroll
  for (int s = 0; s < kAhead; ++s) fill(std::false_type{});
  ptx::cp_async_wait_group<kAhead - 1>();
  __syncthreads();

  int read = 0;
  if constexpr (T::kArithmetic == Arithmetic::tf32x3) {
    // No registers are left for the fragments of the next step, and the splits take longer.
#pragma unroll 1
    for (; k_tiles > 0; --k_tiles) {
      fill(std::false_type{});
      multiply_stage<Cfg>(smem.stages[read], read_a, read_b, acc);
      after_k_tile();
      ptx::cp_async_wait_group<kAhead - 1>();
      __syncthreads();
      read = read + 1 == kStages ? 0 : read + 1;
    }
    return;
  }
  typename T::Fragment f[2];
  read_a.load(smem.stages[read].a, 0, f[0].a);
  read_b.load(smem.stages[read].b, 0, f[0].b);
  const auto iterate = [&](std::int64_t tiles, auto whole) {
    constexpr bool kWhole = decltype(whole)::value;
#pragma unroll 1
    for (; tiles > 0; --tiles) {
#pragma unroll
      for (int step = 0; step < T::kSteps; ++step) {
        if (step == T::kSteps - 1) {  // its fragments are loaded: this stage is read
          ptx::cp_async_wait_group<kAhead - 1>();
          __syncthreads();
          read = read + 1 == kStages ? 0 : read + 1;
        }
        const int next = (step + 1) % T::kSteps;
        if (!kWhole && step == 0) fill(whole);  // the stage of the tile before
        if (kWhole || next != 0 || tiles > 1) {
          read_a.load(smem.stages[read].a, next, f[next % 2].a);
          read_b.load(smem.stages[read].b, next, f[next % 2].b);
        }
        if (kWhole && step == 0) fill(whole);
        multiply<T::kArithmetic>(acc, f[step % 2]);
      }
      after_k_tile();
    }
  };
  const bool inside = at.m0 + T::kTile.m <= p.m && at.n0 + T::kTile.n <= p.n;
  const std::int64_t whole = inside ? p.k / T::kK - kAhead : 0;
  if (whole > 0) iterate(whole, std::true_type{});
  iterate(whole > 0 ? k_tiles - whole : k_tiles, std::false_type{});
}

// The same (acc +=, after_k_tile) through registers, two stages.
template <class Cfg, class AfterKTile>
LK_DEVICE void multiply_staged(const Params& p, typename Shape<Cfg>::Smem& smem,
                               const TileOperands& at, std::int64_t k_tiles,
                               typename Shape<Cfg>::Sums& acc, AfterKTile after_k_tile) {
  using T = Shape<Cfg>;
  static_assert(T::kTile.stages == 2);
  const int warp = int(threadIdx.x) / kWarpThreads;
  const FragmentA<typename T::A> read_a(warp / T::kTile.warps_n * T::kWarpM);
  const FragmentB<typename T::B> read_b(warp % T::kTile.warps_n * T::kWarpN);
  StagedCopy<typename T::A, T::kSource> copy_a;
  StagedCopy<typename T::B, T::kSource> copy_b;
  copy_a.load(p.a, at.a, at.m0, p.m, 0, p.k);
  copy_b.load(p.b, at.b, at.n0, p.n, 0, p.k);
  copy_a.store(smem.stages[0].a, p.a.type);
  copy_b.store(smem.stages[0].b, p.b.type);
  __syncthreads();
#pragma unroll 1
  for (std::int64_t t = 0; t < k_tiles; ++t) {
    const int read = int(t % 2);
    const bool more = t + 1 < k_tiles;
    if (more) {
      copy_a.load(p.a, at.a, at.m0, p.m, (t + 1) * T::kK, p.k);
      copy_b.load(p.b, at.b, at.n0, p.n, (t + 1) * T::kK, p.k);
    }
    multiply_stage<Cfg>(smem.stages[read], read_a, read_b, acc);
    if (more) {
      copy_a.store(smem.stages[1 - read].a, p.a.type);
      copy_b.store(smem.stages[1 - read].b, p.b.type);
    }
    __syncthreads();
    after_k_tile();
  }
}

template <class Cfg, class AfterKTile>
LK_DEVICE void multiply_tile(const Params& p, typename Shape<Cfg>::Smem& smem,
                             const TileOperands& at, std::int64_t k_tiles,
                             typename Shape<Cfg>::Sums& acc, AfterKTile after_k_tile) {
  if constexpr (Cfg::value.load == Load::async) {
    multiply_async<Cfg>(p, smem, at, k_tiles, acc, after_k_tile);
  } else {
    multiply_staged<Cfg>(p, smem, at, k_tiles, acc, after_k_tile);
  }
}

// Sixteen rows of each warp at a time, through a block of its own: no warp waits for another.
template <class Cfg>
LK_DEVICE void store_tile(const Params& p, typename Shape<Cfg>::Smem& smem, float scale,
                          std::int64_t batch, const TileOperands& at,
                          typename Shape<Cfg>::Sums& sums) {
  using T = Shape<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  float* block = smem.blocks[warp];  // [kBlockRows][kBlockPitch]
  const std::int64_t row0 = at.m0 + warp / T::kTile.warps_n * T::kWarpM;
  const std::int64_t col0 = at.n0 + warp % T::kTile.warps_n * T::kWarpN;
#pragma unroll 1
  for (int part = 0; part < T::kM16; ++part) {
#pragma unroll
    for (int i = 0; i < T::kM16; ++i) {  // registers have no index at run time
      if (i != part) continue;
#pragma unroll
      for (int j = 0; j < T::kN8; ++j) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          float* to = block + (lane / 4 + 8 * half) * kBlockPitch<T::kWarpN> + j * 8 + lane % 4 * 2;
          ptx::st_shared(reinterpret_cast<uint2*>(to),
                         make_uint2(bit_cast<std::uint32_t>(sums[i][j][2 * half]),
                                    bit_cast<std::uint32_t>(sums[i][j][2 * half + 1])));
        }
      }
    }
    __syncwarp();
    store_block<kBlockRows, T::kWarpN>(p.epilogue, scale, block, batch, row0 + part * kBlockRows,
                                       col0);
    __syncwarp();
  }
}

template <class Cfg>
__global__ void __launch_bounds__(Shape<Cfg>::kThreads, Cfg::value.ctas_per_sm)
    matmul_sm80_tensor(const Params p) {
  using T = Shape<Cfg>;
  auto& smem = ptx::dynamic_smem<typename T::Smem>();
  const std::int64_t k_tiles = (p.k + T::kK - 1) / T::kK;
  for (std::int64_t tile = blockIdx.x; tile < p.raster.tiles; tile += gridDim.x) {
    const TileIndex index = tile_at(tile, p.raster);
    const TileOperands at{
        static_cast<const unsigned char*>(p.a.data) + index.batch * p.a.batch_stride * T::kSource,
        static_cast<const unsigned char*>(p.b.data) + index.batch * p.b.batch_stride * T::kSource,
        index.m * T::kTile.m, index.n * T::kTile.n};
    typename T::Sums acc;
    clear<Cfg>(acc);
    if constexpr (T::kArithmetic == Arithmetic::tf32x3) {
      typename T::Sums total;
      clear<Cfg>(total);
      constexpr int kEvery = kPromotedK / T::kK;
      if (k_tiles > 0) {
        int since = 0;
        multiply_tile<Cfg>(p, smem, at, k_tiles, acc, [&] {
          if (++since % kEvery == 0) promote<Cfg>(total, acc);
        });
      }
      promote<Cfg>(total, acc);
      __syncthreads();  // the stages are read
      store_tile<Cfg>(p, smem, product_scale(p.epilogue), index.batch, at, total);
    } else {
      if (k_tiles > 0) multiply_tile<Cfg>(p, smem, at, k_tiles, acc, [] {});
      __syncthreads();
      store_tile<Cfg>(p, smem, product_scale(p.epilogue), index.batch, at, acc);
    }
    __syncthreads();  // the blocks are read: the next tile fills stages
  }
}

// ---- The kernels of an arithmetic and a load ----------------------------------------------------

template <Arithmetic kArithmetic, Load kLoad>
struct TensorKernels {
  static constexpr std::size_t kCount = tiles_of(kArithmetic, kLoad).size() * 4;
  static constexpr Config config(std::size_t index) { return config_at(kArithmetic, kLoad, index); }
  template <std::size_t kIndex>
  static KernelPointer pointer() {
    return &matmul_sm80_tensor<std::integral_constant<Config, config(kIndex)>>;
  }
  static constexpr KernelSet set() { return kernel_set<TensorKernels>(); }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
