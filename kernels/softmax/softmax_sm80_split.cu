// Softmax, generation sm80: rows with unit column stride that are too long for one CTA.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], unit column strides, any cols, any row strides, any element-aligned
//           address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The chunks, and the order in which they are combined, follow from
//           cols alone.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write. This reads twice:
//           between two launches nothing but a scratch of 8 bytes a chunk survives.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_row.cuh"
#include "kernels/softmax/softmax_split.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// As many values a thread as on chip. H200, 2026-11-30, 2^27 elements, counted as one read and one
// write: fp32 2.76 TB/s with 3 CTAs an SM, 2.79 with 4, which spilled; bf16 2.23 and 2.38.
constexpr Config kSm80SplitConfigs[] = {
    // x type, y type, path, windows, threads, CTAs an SM, aligned
    {DType::f32, DType::f32, Path::split, 8, 256, 3},
    {DType::f16, DType::f16, Path::split, 4, 256, 4},
    {DType::f16, DType::f32, Path::split, 8, 256, 3},
    {DType::bf16, DType::bf16, Path::split, 4, 256, 4},
    {DType::bf16, DType::f32, Path::split, 8, 256, 3},
};

inline constexpr int kSplitWarps = kSplitThreads / kWarpThreads;
struct SplitSmem {
  float slots[2][kSplitWarps];
  Partial blocks[kMostBlocks];
};

// The part of this warp in the kSplitBlock columns from `first` on.
template <class Cfg>
LK_DEVICE Part<Cfg> split_part(const Params& p, const Chunk& chunk, std::int64_t first) {
  constexpr int kWarpCols = kSplitBlock / kSplitWarps;
  static_assert(kWarpCols == Vectors<Cfg>::kWindows * kWarpThreads * Vectors<Cfg>::kItems);
  const std::int64_t mine = first + warp_of_cta() * kWarpCols;
  Part<Cfg> part;
  part.locate(p, chunk.row, mine, columns_within(mine, chunk.end, kWarpCols), kWarpThreads);
  return part;
}

// A chunk a CTA: its maximum, and its sum relative to that.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_partials(Params p) {
  auto& smem = ptx::dynamic_smem<SplitSmem>();
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const Chunk chunk(p, item);
    int blocks = 0;
    for (std::int64_t c = chunk.begin; c < chunk.end; c += kSplitBlock, ++blocks) {
      Part<Cfg> part = split_part<Cfg>(p, chunk, c);
      Held<Cfg> held;
      held.fetch(part);
      held.arrive(part, p.exponent);
      const float most = reduce_cta<MaxNaN, kSplitWarps>(held.most(), smem.slots[0]);
      const Base own = held.base(subtrahend(most, p.exponent, true), p.exponent, false);
      float of_class[Vectors<Cfg>::kItems];
      held.sum(own, p.exponent, of_class);
      const float of_warp = own.unit * reduce_cyclic(of_class);
      const float sum = reduce_warps<Sum>(of_warp, smem.slots[1], kSplitWarps);
      if (threadIdx.x == 0) smem.blocks[blocks] = {.most = most, .sum = sum};
    }
    __syncthreads();
    const Partial all = combined<kSplitWarps>(blocks, true, p.exponent, smem.slots,
                                              [&](int i) { return smem.blocks[i]; });
    if (threadIdx.x == 0) store_partial(p.partials + item, all);
  }
}

// A chunk a CTA: the row's maximum and sum from all its chunks, then the results.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_finish(Params p) {
  auto& smem = ptx::dynamic_smem<SplitSmem>();
  // Backwards: what was read last may still be in the L2.
  for (std::int64_t item = p.items - 1 - blockIdx.x; item >= 0; item -= gridDim.x) {
    const Chunk chunk(p, item);
    const Partial* partials = p.partials + chunk.row * p.chunks.divisor;  // [chunks]
    const Partial all =
        combined<kSplitWarps>(int(p.chunks.divisor), p.zero_neg_inf_row, p.exponent, smem.slots,
                              [&](int i) { return load_partial(partials + i); });
    const float less = subtrahend(all.most, p.exponent, p.zero_neg_inf_row);
    const Norm norm(p, all.sum);
    for (std::int64_t c = chunk.begin; c < chunk.end; c += kSplitBlock) {
      Part<Cfg> part = split_part<Cfg>(p, chunk, c);
      Held<Cfg> held;
      held.fetch(part);
      held.arrive(part, p.exponent);
      const Base base = held.base(less, p.exponent, p.log);
      float unused[Vectors<Cfg>::kItems];
      held.sum(base, p.exponent, unused);  // for the terms
      held.store(part, base, p, norm);
    }
  }
}

struct Sm80Split {
  static constexpr const char* kTakes =
      "needs unit column strides and rows longer than a CTA can hold";
  static constexpr auto& kConfigs = kSm80SplitConfigs;
  static Plan plan(const Problem& problem) { return make_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage stage) {
    return stage == Stage::finish ? &softmax_sm80_finish<Cfg> : &softmax_sm80_partials<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan&) {
    return sizeof(SplitSmem);
  }
};

}  // namespace

const KernelRow<Problem> sm80_split = row_of<Row<Sm80Split>>("softmax_sm80_split", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
