// Reductions across lanes and across the warps of a CTA, in an order that depends on nothing but
// the number of lanes and warps.
#pragma once

#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND {

inline constexpr int kWarpThreads = 32;

// What a reduction does with two values. Both are commutative, so a butterfly gives every lane the
// same bits.
struct Sum {
  static constexpr float kNeutral = 0;
  static LK_DEVICE float combine(float a, float b) { return a + b; }
};
struct MaxNaN {  // NaN if either is
  static constexpr float kNeutral = -__builtin_huge_valf();
  static LK_DEVICE float combine(float a, float b) { return ptx::max_NaN_f32(a, b); }
};

// Over aligned groups of kLanes lanes, a power of two. All 32 lanes of the warp execute it; every
// lane gets its group's value.
template <class Op, int kLanes = kWarpThreads>
LK_DEVICE float reduce_lanes(float v) {
  static_assert(kLanes >= 1 && kLanes <= kWarpThreads && (kLanes & (kLanes - 1)) == 0);
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    v = Op::combine(v, ptx::shfl_sync_bfly(v, unsigned(mask)));
  }
  return v;
}

// The same, of several values at once, for a number of lanes that is known at run time only.
template <class Op, int kCount>
LK_DEVICE void reduce_lanes(float (&v)[kCount], int lanes) {
#pragma unroll 1
  for (int mask = lanes / 2; mask > 0; mask /= 2) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      v[i] = Op::combine(v[i], ptx::shfl_sync_bfly(v[i], unsigned(mask)));
    }
  }
}

// Over a CTA of kWarps warps, a power of two. `slots` is shared memory of kWarps floats which no
// thread touches between the call before last and this one: two sets, used in turn, do. All threads
// execute it and all get the value.
template <class Op, int kWarps>
LK_DEVICE float reduce_cta(float v, float* slots) {
  static_assert(kWarps >= 1 && kWarps <= kWarpThreads && (kWarps & (kWarps - 1)) == 0);
  v = reduce_lanes<Op>(v);
  if constexpr (kWarps > 1) {
    const int lane = int(threadIdx.x) % kWarpThreads;
    if (lane == 0) slots[int(threadIdx.x) / kWarpThreads] = v;
    __syncthreads();
    v = reduce_lanes<Op, kWarps>(slots[lane % kWarps]);
  }
  return v;
}

// Over the warps of a CTA, of which each has a value in all of its lanes.
template <class Op>
LK_DEVICE float reduce_warps(float v, float* slots, int warps) {
  if (warps == 1) return v;
  const int lane = int(threadIdx.x) % kWarpThreads;
  if (lane == 0) slots[int(threadIdx.x) / kWarpThreads] = v;
  __syncthreads();
  return reduce_lanes<Op>(lane < warps ? slots[lane] : Op::kNeutral);
}

// The same of a value of each thread, for any number of warps that is known at run time only.
template <class Op>
LK_DEVICE float reduce_cta(float v, float* slots, int warps) {
  return reduce_warps<Op>(reduce_lanes<Op>(v), slots, warps);
}

// The sum of v[e] of lane l over all of them, those first whose numbers l * kCount + e are furthest
// from each other in a circle: it has the same bits wherever in the circle the numbers begin. All
// lanes of the warp execute it and get it.
template <int kCount>
LK_DEVICE float reduce_cyclic(float (&v)[kCount]) {
  constexpr int kHalf = kWarpThreads / 2;
  static_assert(kCount >= 2 && kCount <= kWarpThreads && (kCount & (kCount - 1)) == 0);
  const unsigned lane = threadIdx.x % kWarpThreads;
  unsigned mask = kHalf;
#pragma unroll
  for (int half = kCount / 2; half > 0; half /= 2, mask /= 2) {  // each lane goes on with a half
    const bool upper = (lane & mask) != 0;
#pragma unroll
    for (int e = 0; e < half; ++e) {
      const float given = upper ? v[e] : v[e + half];
      v[e] = (upper ? v[e + half] : v[e]) + ptx::shfl_sync_bfly(given, mask);
    }
  }
#pragma unroll
  for (; mask > 0; mask /= 2) v[0] += ptx::shfl_sync_bfly(v[0], mask);
  mask = kHalf;
#pragma unroll
  for (int half = kCount / 2; half > 0; half /= 2, mask /= 2) {
    v[0] += ptx::shfl_sync_bfly(v[0], mask);
  }
  return v[0];
}

// Of an array in registers, pairwise.
template <class Op, int kCount>
LK_DEVICE float reduce_array(const float (&v)[kCount]) {
  static_assert(kCount >= 1 && (kCount & (kCount - 1)) == 0);
  float w[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) w[i] = v[i];
#pragma unroll
  for (int half = kCount / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) w[i] = Op::combine(w[i], w[i + half]);
  }
  return w[0];
}

}  // namespace libkernels::inline LK_BACKEND
