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
//           cols and the type of y alone.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write. A chunk is read
//           twice, but the second time soon enough to be in the L2 still, unless rows are too long
//           for that.
//
// The holder of a ticket reads a chunk, whose maximum and sum go to scratch, and then writes
// another one, a row or more behind, for which it waits for what all chunks of that row came to.
// Holders of earlier tickets have read them or are about to, and wait for nobody before, so that
// somebody can always go on, whatever else the GPU does and however CTAs are launched.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_row.cuh"
#include "kernels/softmax/softmax_split.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// H200, 2026-12-01, 2^27 elements, of the copy ceiling, counted as one read and one write: bf16
// 0.70 (2^20 columns), 0.66 (2^22), fp32 0.70 and 0.61; in two launches, a pass over x each, 0.67
// and 0.53, 0.65 and 0.60. With parts that realign instead of WarpPart it was 0.83 and 0.78, 0.86
// and 0.76, for aligned rows; with 3 CTAs an SM 0.76 (bf16, 2^20). In place, by release and
// acquire, 6% more time. By default hints of the L2 5% more, 256 threads of half the values 15%;
// CTAs that hold what they read in shared memory 6 to 100%. Mixed types and f16: unmeasured.
constexpr Config kSm80SplitConfigs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::split, 8, 256, 4},
    {DType::f16, DType::f16, Path::split, 8, 256, 3},
    {DType::f16, DType::f32, Path::split, 8, 256, 3},
    {DType::bf16, DType::bf16, Path::split, 8, 256, 4},
    {DType::bf16, DType::f32, Path::split, 8, 256, 3},
};

inline constexpr int kSplitWarps = kSplitThreads / kWarpThreads;
struct SplitSmem {
  std::uint32_t ticket;
  float slots[2][kSplitWarps];
  Partial of_warp[2][kSplitWarps];
  Partial of_block[kMostBlocks];
};

// ---- What CTAs tell each other ----------------------------------------------------------------

// A sum has no sign: what has one is not known yet. All scratch begins as kUnknown.
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
constexpr std::uint64_t kSignOfSum = std::uint64_t{1} << 63;

// Whoever knows a partial result knows that its chunk has been read, since it is made of that; but
// in place, where the chunk may be overwritten then, it must be said.
LK_DEVICE void publish(const Params& p, std::int64_t item, const Partial& v) {
  auto* to = reinterpret_cast<std::uint64_t*>(p.partials + item);
  const std::uint64_t bits = bit_cast<std::uint64_t>(v) & ~kSignOfSum;
  if (p.in_place) {
    ptx::st_release_gpu_global(to, bits);
  } else {
    ptx::st_relaxed_gpu_global(to, bits);
  }
}
LK_DEVICE Partial await(const Params& p, std::int64_t item) {
  const auto* from = reinterpret_cast<const std::uint64_t*>(p.partials + item);
  std::uint64_t bits = kUnknown;
  while ((bits & kSignOfSum) != 0) {
    bits = p.in_place ? ptx::ld_acquire_gpu_global(from) : ptx::ld_relaxed_gpu_global(from);
  }
  return bit_cast<Partial>(bits);
}

// 0, 1, 2, ... in this order. The count stands behind the partial results.
LK_DEVICE std::uint32_t take_ticket(const Params& p) {
  auto* count = reinterpret_cast<std::uint32_t*>(p.partials + p.items);
  return ptx::atom_add_relaxed_gpu_global(count, 1) + 1;
}

__global__ void __launch_bounds__(kSplitThreads) softmax_sm80_clear(Params p) {
  const std::int64_t step = std::int64_t(gridDim.x) * kSplitThreads;
  std::int64_t i = std::int64_t(blockIdx.x) * kSplitThreads + threadIdx.x;
  for (; i <= p.items; i += step) {
    ptx::st_global(reinterpret_cast<uint2*>(p.partials + i), bit_cast<uint2>(kUnknown));
  }
}

// ---- Reading and writing a chunk --------------------------------------------------------------

template <class Cfg>
inline constexpr int kBlock = split_block(Cfg::value.y_type);

// The columns of this warp in a block of a chunk. Of the last chunk blocks may be empty.
template <class Cfg>
LK_DEVICE Part<Cfg> split_part(const Params& p, const Chunk& chunk, int block) {
  constexpr int kWarpCols = Vectors<Cfg>::kWindows * kWarpThreads * Vectors<Cfg>::kItems;
  static_assert(kWarpCols * kSplitWarps == kBlock<Cfg>);
  const std::int64_t mine = chunk.begin + block * kBlock<Cfg> + warp_of_cta() * kWarpCols;
  Part<Cfg> part;
  part.locate(p, chunk.row, mine, columns_within(mine, chunk.end, kWarpCols), kWarpThreads);
  return part;
}

// A warp's share of a block: its maximum, and its sum relative to that.
template <class Cfg>
LK_DEVICE Partial read_block(const Params& p, const Chunk& chunk, int block) {
  Part<Cfg> part = split_part<Cfg>(p, chunk, block);
  part.hint(ptx::createpolicy_fractional_L2_evict_last(), {});
  Held<Cfg> held;
  held.fetch(part);
  held.arrive(part, p.exponent);
  const float most = reduce_lanes<MaxNaN>(held.most());
  const Base own = held.base(subtrahend(most, p.exponent, true), p.exponent, false);
  float of_class[Vectors<Cfg>::kItems];
  held.sum(own, p.exponent, of_class);
  return {.most = most, .sum = own.unit * reduce_cyclic(of_class)};
}

// The chunk's maximum, and its sum relative to that, to scratch.
template <class Cfg>
LK_DEVICE void read_chunk(const Params& p, std::uint32_t item, SplitSmem& smem) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  Partial all{};
#pragma unroll 1
  for (int block = 0; block < p.blocks; ++block) {
    const Partial mine = read_block<Cfg>(p, Chunk(p, item), block);
    Partial* of_warp = smem.of_warp[block % 2];
    if (lane == 0) of_warp[warp_of_cta()] = mine;
    __syncthreads();
    all = combined_lanes<kSplitWarps>(of_warp[lane % kSplitWarps], p.exponent);
    if (threadIdx.x == 0) smem.of_block[block] = all;
  }
  if (p.blocks > 1) {
    __syncthreads();
    all = combined<kSplitWarps>(p.blocks, true, p.exponent, smem.slots,
                                [&](int i) { return smem.of_block[i]; });
    __syncthreads();
  }
  if (threadIdx.x == 0) publish(p, item, all);
}

// The row's maximum and sum, once all of its chunks have been read. A thread keeps one or two of
// their results over both passes: 2^22 columns are 512 chunks in fp32, and 256 in 16 bits.
template <bool kTwo>
LK_DEVICE Partial await_row(const Params& p, std::int64_t row, SplitSmem& smem) {
  const int chunks = int(p.chunks.divisor), t = int(threadIdx.x);
  const std::int64_t first = row * chunks;
  Partial one{}, other{};
  if (t < chunks) one = await(p, first + t);
  if (kTwo && t + kSplitThreads < chunks) other = await(p, first + t + kSplitThreads);
  return combined<kSplitWarps>(chunks, p.zero_neg_inf_row, p.exponent, smem.slots, [&](int i) {
    return i < kSplitThreads ? one : kTwo && i < 2 * kSplitThreads ? other : await(p, first + i);
  });
}

template <class Cfg>
LK_DEVICE void write_chunk(const Params& p, std::uint32_t item, SplitSmem& smem) {
  Partial all{};
#pragma unroll 1
  for (int block = 0; block < p.blocks; ++block) {
    const Chunk chunk(p, item);
    Part<Cfg> part = split_part<Cfg>(p, chunk, block);
    const ptx::CachePolicy once = ptx::createpolicy_fractional_L2_evict_first();
    part.hint(once, once);
    Held<Cfg> held;
    held.fetch(part);
    if (block == 0) {  // meanwhile the values come
      all = await_row<Cfg::value.y_type == DType::f32>(p, chunk.row, smem);
    }
    held.arrive(part, p.exponent);
    const float less = subtrahend(all.most, p.exponent, p.zero_neg_inf_row);
    const Base base = held.base(less, p.exponent, p.log);
    float unused[Vectors<Cfg>::kItems];
    held.sum(base, p.exponent, unused);  // for the terms
    held.store(part, base, p, Norm(p, all.sum));
  }
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_split(Params p) {
  auto& smem = ptx::dynamic_smem<SplitSmem>();
  // 32 bits count chunks of 16 KB and more.
  for (std::uint32_t i = blockIdx.x; i < std::uint32_t(p.items + p.lag); i += gridDim.x) {
    if (threadIdx.x == 0) smem.ticket = take_ticket(p);
    __syncthreads();
    const std::uint32_t ticket = smem.ticket;
    if (ticket < p.items) read_chunk<Cfg>(p, ticket, smem);
    if (ticket >= p.lag) write_chunk<Cfg>(p, ticket - std::uint32_t(p.lag), smem);
  }
}

struct Sm80Split {
  static constexpr const char* kTakes =
      "needs unit column strides and rows longer than a CTA can hold";
  static constexpr auto& kConfigs = kSm80SplitConfigs;
  static Plan plan(const Problem& problem) { return make_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage stage) {
    return stage == Stage::clear ? &softmax_sm80_clear : &softmax_sm80_split<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan&) {
    return sizeof(SplitSmem);
  }
};

}  // namespace

const KernelRow<Problem> sm80_split = row_of<Row<Sm80Split>>("softmax_sm80_split", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
