// Softmax of rows that many CTAs share: what a CTA knows of its chunk, and how the chunks' partial
// results become the row's.
#pragma once

#include "kernels/common/divide.cuh"
#include "kernels/softmax/softmax_math.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// Item number i of a launch: a chunk of a row, or of a tile of rows.
struct Chunk {
  std::int64_t row;         // or tile
  std::int64_t number;      // within the row
  std::int64_t begin, end;  // columns

  LK_DEVICE Chunk(const Params& p, std::int64_t i) {
    row = quotient(i, p.chunks);
    number = i - row * p.chunks.divisor;
    begin = number * p.chunk_cols;
    end = begin + p.chunk_cols < p.cols ? begin + p.chunk_cols : p.cols;
  }
};

LK_DEVICE Partial load_partial(const Partial* p) {
  const uint2 bits = ptx::ld_global(reinterpret_cast<const uint2*>(p));
  return {.most = bit_cast<float>(bits.x), .sum = bit_cast<float>(bits.y)};
}
LK_DEVICE void store_partial(Partial* p, const Partial& v) {
  ptx::st_global(reinterpret_cast<uint2*>(p), bit_cast<uint2>(v));
}

// A partial's sum, relative to `subtrahend` instead of its own maximum.
LK_DEVICE float rebased(const Partial& v, float subtrahend, const Exponent& e) {
  return v.sum * exponential<DType::f32>(difference(v.most, subtrahend, e), e);
}

// Over aligned groups of kLanes lanes; nothing is subtracted from a part of only -inf.
template <int kLanes>
LK_DEVICE Partial combined_lanes(const Partial& v, const Exponent& e) {
  const float most = reduce_lanes<MaxNaN, kLanes>(v.most);
  const float sum = rebased(v, subtrahend(most, e, true), e);
  return {.most = most, .sum = reduce_lanes<Sum, kLanes>(sum)};
}

// What a CTA of kWarps warps makes of `count` partial results, get(i) each: thread t takes t, t +
// the CTA's threads, ... Of slots there are two sets, as reduce_cta asks.
template <int kWarps, class Get>
LK_DEVICE Partial combined(int count, bool zero_neg_inf, const Exponent& e, float (*slots)[kWarps],
                           Get get) {
  constexpr int kThreads = 32 * kWarps;
  float most = kMinusInfinity;
  for (int i = int(threadIdx.x); i < count; i += kThreads) {
    most = MaxNaN::combine(most, get(i).most);
  }
  most = reduce_cta<MaxNaN, kWarps>(most, slots[0]);
  const float less = subtrahend(most, e, zero_neg_inf);
  float sum = 0;
  for (int i = int(threadIdx.x); i < count; i += kThreads) sum += rebased(get(i), less, e);
  return {.most = most, .sum = reduce_cta<Sum, kWarps>(sum, slots[1])};
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
