// Softmax: what a CTA holds of a row beyond the registers of its threads.
#pragma once

#include <cstddef>
#include <type_traits>

#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// The block path's shared memory. Behind it stand the parked vectors, [Params::parked][threads].
struct alignas(16) BlockSmem {
  float slots[2][kWarpThreads];

  LK_DEVICE uint4* parked() { return reinterpret_cast<uint4*>(this + 1); }

  static std::size_t bytes(int parked, int threads) {
    return sizeof(BlockSmem) + std::size_t(parked) * std::size_t(threads) * kVectorBytes;
  }
};

// The vectors of a lane beyond those in registers, in shared memory as values. Each thread has its
// own, so none waits for another.
template <class Cfg>
struct Parked {
  using V = Vectors<Cfg>;
  uint4* vectors;  // [Params::parked][threads]
  const Params& p;

  LK_DEVICE uint4* place(int i) const { return vectors + i * int(blockDim.x) + int(threadIdx.x); }

  // All of them, before the registers' vectors: their loads are under way together, too.
  LK_DEVICE float load_and_find_most(Part<Cfg>& part) const {
    float most = kMinusInfinity;
#pragma unroll 1
    for (int i = p.parked; i > 0;) {
      if (i >= kAtOnce) {
        i -= kAtOnce;
        most = MaxNaN::combine(most, load<kAtOnce>(part, i));
      } else {
        i -= 1;
        most = MaxNaN::combine(most, load<1>(part, i));
      }
    }
    return most;
  }
  LK_DEVICE float sum(float less) const {
    float sum = 0;  // of a dozen vectors: no long chain
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {
      float d[V::kItems];
      differences<Cfg>(parked(i), less, p.exponent, d);
#pragma unroll
      for (int j = 0; j < V::kItems; ++j) d[j] = exponential<V::kY, false>(d[j], p.exponent);
      sum += reduce_array<Sum>(d);
    }
    return sum;
  }
  LK_DEVICE void store(Part<Cfg>& part, float less, const Norm& norm) const {
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {
      float d[V::kItems];
      differences<Cfg>(parked(i), less, p.exponent, d);
#pragma unroll
      for (int j = 0; j < V::kItems; ++j) {
        d[j] = norm(p.log ? d[j] : exponential<V::kY, false>(d[j], p.exponent));
      }
      part.put(V::kWindows + i, packed<Cfg>(d));
    }
  }

 private:
  static constexpr int kAtOnce = 3;

  LK_DEVICE typename V::Loaded parked(int i) const {
    return bit_cast<typename V::Loaded>(ptx::ld_shared(place(i)));
  }
  // Vectors i, i + 1, ...
  template <int kCount>
  LK_DEVICE float load(Part<Cfg>& part, int i) const {
    typename V::Loaded words[kCount];
    part.fetch(V::kWindows + i, words);
    part.realign(V::kWindows + i, words);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      prepare<Cfg>(part, V::kWindows + i + j, p.exponent, words[j]);
      ptx::st_shared(place(i + j), bit_cast<uint4>(words[j]));
    }
    return most_of_words<V::kX>(words);
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
