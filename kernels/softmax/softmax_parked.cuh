// Softmax: what a CTA holds of a row beyond the registers of its threads.
#pragma once

#include <cstddef>

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
  // Adds to the sums of Held.
  LK_DEVICE void sum(const Base& base, float (&of_class)[V::kItems]) const {
    if (fast(base)) {
      sum_terms<true>(base, of_class);
    } else {
      sum_terms<false>(base, of_class);
    }
  }
  LK_DEVICE void store(Part<Cfg>& part, const Base& base, Norm norm) const {
    norm.factor *= base.unit;
    if (fast(base)) {
      put_results<true>(part, base, norm);
    } else {
      put_results<false>(part, base, norm);
    }
  }

 private:
  static constexpr int kAtOnce = 3;

  // Whether terms are subnormal is only known of those in registers.
  static LK_DEVICE bool fast(const Base& base) { return V::kY != DType::f32 && base.fast; }

  template <bool kFast>
  LK_DEVICE void sum_terms(const Base& base, float (&of_class)[V::kItems]) const {
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {  // a dozen vectors: no long chain
      float v[V::kItems];
      unpack_columns<V::kX, V::kItems>(parked(i), v);
#pragma unroll
      for (int j = 0; j < V::kItems; ++j) of_class[j] += term<V::kY, kFast>(v[j], base, p.exponent);
    }
  }
  template <bool kFast>
  LK_DEVICE void put_results(Part<Cfg>& part, const Base& base, const Norm& norm) const {
#pragma unroll 1
    for (int i = 0; i < p.parked; ++i) {
      const auto words = results<Cfg, kFast>(parked(i), base, p, norm);
      part.template put<1>(V::kWindows + i, 0, words);
      if (part.template tail_window<1>(V::kWindows + i) == 0) {
        part.template put_tail<1>(V::kWindows + i, words);
      }
    }
  }
  LK_DEVICE typename V::Loaded parked(int i) const {
    return bit_cast<typename V::Loaded>(ptx::ld_shared(place(i)));
  }
  // Vectors i, i + 1, ...
  template <int kCount>
  LK_DEVICE float load(Part<Cfg>& part, int i) const {
    typename Part<Cfg>::template Batch<1> batch[kCount];
    float most = kMinusInfinity;
#pragma unroll
    for (int j = 0; j < kCount; ++j) part.fetch(V::kWindows + i + j, batch[j]);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      part.arrive(V::kWindows + i + j, batch[j], p.exponent.turn);
      ptx::st_shared(place(i + j), bit_cast<uint4>(batch[j].words[0]));
      most = MaxNaN::combine(most, most_of_words<V::kX>(batch[j].words));
    }
    return most;
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
