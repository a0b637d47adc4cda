// Softmax: what a CTA holds of a row beyond the registers of its threads.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// The start of the block path's shared memory.
template <class Cfg>
struct alignas(16) BlockSmem {
  using Loaded = typename Vectors<Cfg>::Loaded;
  static constexpr int kThreads = Cfg::value.threads;  // of every CTA that parks anything

  float slots[2][kMostBlockWarps];

  // Behind it stand the parked vectors, [Params::parked][kThreads].
  using Bits = std::conditional_t<sizeof(Loaded) == sizeof(uint4), uint4, uint2>;
  LK_DEVICE Bits* place(int i) {
    return reinterpret_cast<Bits*>(this + 1) + i * kThreads + int(threadIdx.x);
  }
  LK_DEVICE void park(int i, const Loaded& words) {
    ptx::st_shared(place(i), bit_cast<Bits>(words));
  }
  LK_DEVICE Loaded parked(int i) { return bit_cast<Loaded>(ptx::ld_shared(place(i))); }
  static std::size_t bytes(int parked) {
    return sizeof(BlockSmem) + std::size_t(parked) * kThreads * sizeof(Loaded);
  }
};

// The vectors of a lane beyond those in registers, in shared memory as they were loaded. Each
// thread has its own, so none waits for another.
template <class Cfg>
struct Parked {
  using V = Vectors<Cfg>;
  static constexpr int kAtOnce = 2;
  BlockSmem<Cfg>& smem;
  const Params& p;

  // From the last one down to the registers' vectors, some loads at once.
  LK_DEVICE float load_and_find_most(Part<Cfg>& part) const {
    float most = kMinusInfinity;
#pragma unroll 1
    for (int end = p.parked; end > 0; end -= kAtOnce) {
      typename V::Loaded words[kAtOnce];
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (end > j) words[j] = part.in.fetch(part.group_column(V::kWindows + end - 1 - j));
      }
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        const int w = V::kWindows + end - 1 - j;
        if (end <= j) break;
        words[j] = part.in.realign(part.group_column(w), words[j]);
        smem.park(end - 1 - j, words[j]);
        float v[V::kItems];
        values_of<Cfg>(words[j], part.column(w), part.cols, p.exponent, v);
        most = MaxNaN::combine(most, reduce_array<MaxNaN>(v));
      }
    }
    return most;
  }
  // The differences of parked vector i.
  LK_DEVICE void read(const Part<Cfg>& part, int i, float less, float (&d)[V::kItems]) const {
    values_of<Cfg>(smem.parked(i), part.column(V::kWindows + i), part.cols, p.exponent, d);
#pragma unroll
    for (int j = 0; j < V::kItems; ++j) d[j] = difference(d[j], less, p.exponent);
  }
  LK_DEVICE float sum(const Part<Cfg>& part, float less) const {
    LongSum sum;
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {
      float d[V::kItems];
      read(part, i, less, d);
#pragma unroll
      for (int j = 0; j < V::kItems; ++j) d[j] = exponential<V::kY>(d[j], p.exponent);
      sum.add(reduce_array<Sum>(d));
    }
    return sum.value();
  }
  LK_DEVICE void store(const Part<Cfg>& part, RowWriter<V::kY>& out, float less,
                       const Norm& norm) const {
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {
      float d[V::kItems];
      read(part, i, less, d);
#pragma unroll
      for (int j = 0; j < V::kItems; ++j) {
        d[j] = norm(p.log ? d[j] : exponential<V::kY>(d[j], p.exponent));
      }
      out.put(part.group_column(V::kWindows + i), packed<Cfg>(d));
    }
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
