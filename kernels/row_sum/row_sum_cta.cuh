// Row-sum over rows that are beyond a warp: a CTA sums one, or a chunk of one.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

inline constexpr int kMostThreads = 256;
inline constexpr int kMostWarps = kMostThreads / kWarpThreads;

struct CtaSmem {
  float sums[2][kMostWarps];
};

// Of values that all lanes of a warp hold, over the CTA, in one order for any number of warps:
// those that are not there count as 0. All threads execute it, the first gets the sum.
LK_DEVICE float sum_cta(float v, float (&sums)[kMostWarps]) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int warps = int(blockDim.x) / kWarpThreads;
  if (lane == 0) sums[threadIdx.x / kWarpThreads] = v;
  __syncthreads();
  return reduce_lanes<Sum, kMostWarps>(lane < warps ? sums[lane] : 0.0f);
}

// `bytes` bytes from x on, by a warp: the vectors that lie within them in rounds, lane 0 the first.
// Of those at their ends, which they fill in part, each element is loaded by a lane of its own and
// handed to the lane whose vector it is in.
template <class In, int kVectors>
LK_DEVICE float sum_piece(const unsigned char* x, int bytes) {
  constexpr int kSize = int(sizeof(typename In::Element));
  const auto load = [&](bool there, int at) {
    std::uint32_t bits = 0;
    if (there) bits = ptx::ld_global(reinterpret_cast<const typename In::Element*>(x + at));
    return In::decode(typename In::Element(bits));
  };
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int phase = int(phase_of(x, kVectorBytes));
  const int skipped = phase == 0 ? 0 : kVectorBytes - phase;
  const int count = bytes > skipped ? (bytes - skipped) / kVectorBytes : 0;
  const int tail_at = skipped + count * kVectorBytes + lane * kSize;
  const int head_at = skipped - kVectorBytes + lane * kSize;
  const float tail = load(tail_at < bytes && lane < kItems<In>, tail_at);
  const float head = load(head_at >= 0 && head_at < bytes && lane < kItems<In>, head_at);

  float sums[kItems<In>];
  const auto* at = x + skipped + lane * kVectorBytes;
  int left = count;
  bool first = true;
  do {
    Vector w[kVectors];
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      constexpr int kStep = kWarpThreads * kVectorBytes;
      w[u] = Vector{};
      if (u * kWarpThreads + lane < left) w[u] = load_once<true>(at + u * kStep);
    }
    if (first) {  // here, lest the loads wait for the first vector
#pragma unroll
      for (int e = 0; e < kItems<In>; ++e) {
        const float v = ptx::shfl_sync_idx(head, unsigned(e));
        sums[e] = lane == kWarpThreads - 1 ? v : 0.0f;
      }
    }
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      float items[kItems<In>];
      unpack<In>(w[u], items);
#pragma unroll
      for (int e = 0; e < kItems<In>; ++e) sums[e] = sums[e] + items[e];
    }
    first = false;
    at += kVectors * kWarpThreads * kVectorBytes;
    left -= kVectors * kWarpThreads;
  } while (left > 0);
#pragma unroll
  for (int e = 0; e < kItems<In>; ++e) {
    const float v = ptx::shfl_sync_idx(tail, unsigned(e));
    sums[e] = sums[e] + (lane == count % kWarpThreads ? v : 0.0f);
  }
  reduce_rows<kWarpThreads, 1>(sums, lane);
  return sums[0];
}

// A CTA a row, or a chunk of one: each warp sums a piece of it.
template <class Cfg>
__global__ void __launch_bounds__(kMostThreads, Cfg::value.ctas_per_sm) row_sum_cta(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kBytes = int(sizeof(typename In::Element));
  auto& smem = ptx::dynamic_smem<CtaSmem>();
  const std::int64_t piece = int(threadIdx.x) / kWarpThreads * p.piece_cols;

  int turn = 0;
  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const std::int64_t r = quotient(item, p.chunks);
    const std::int64_t c = (item - r * p.chunks.divisor) * p.chunk_cols;
    std::int64_t cols = (p.cols - c < p.chunk_cols ? p.cols - c : p.chunk_cols) - piece;
    cols = cols < p.piece_cols ? cols : p.piece_cols;
    const auto* x = static_cast<const unsigned char*>(p.x) +
                    (r * p.x_row_stride + c + piece) * kBytes;  // [cols]
    const float sum = cols > 0 ? sum_piece<In, Cfg::value.vectors>(x, int(cols) * kBytes) : 0.0f;
    const float total = sum_cta(sum, smem.sums[turn]);
    if (threadIdx.x == 0) store_sum(p, item, total);
    turn ^= 1;
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
