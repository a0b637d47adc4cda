// Softmax of a part of a row that a group of lanes holds in registers: kWindows vectors a lane.
#pragma once

#include "kernels/softmax/softmax_part.cuh"
#include "kernels/softmax/softmax_words.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// Loaded vectors become values, still packed: in two steps, of which few rows need any.
template <class Cfg>
LK_DEVICE void prepare(const Part<Cfg>& part, int w, const Exponent& e,
                       typename Vectors<Cfg>::Loaded& words) {
  using V = Vectors<Cfg>;
  if (e.turn != 1.0f) turn_words<V::kX>(e.turn, words);
  if (part.group_column(w + 1) > part.cols) mask_words<V::kX>(words, part.column(w), part.cols);
}

// The differences of a vector.
template <class Cfg>
LK_DEVICE void differences(const typename Vectors<Cfg>::Loaded& words, float less,
                           const Exponent& e, float (&d)[Vectors<Cfg>::kItems]) {
  using V = Vectors<Cfg>;
  unpack_columns<V::kX, V::kItems>(words, d);
#pragma unroll
  for (int i = 0; i < V::kItems; ++i) d[i] = difference(d[i], less, e);
}

template <class Cfg>
LK_DEVICE typename Vectors<Cfg>::Stored packed(const float (&v)[Vectors<Cfg>::kItems]) {
  using Out = typename Vectors<Cfg>::Out;
  typename Vectors<Cfg>::Stored words;
#pragma unroll
  for (int i = 0; i < RowWriter<Cfg::value.y_type>::kWords; ++i) {
    words.v[i] = Out::pack(v + i * Out::kPerWord);
  }
  return words;
}

// A lane's vectors. Few values are kept as terms, 32 bits each; of more the words are, and each
// exponential is computed twice.
template <class Cfg>
class Held {
 public:
  using V = Vectors<Cfg>;

  // The part has begun.
  LK_DEVICE void fetch(const Part<Cfg>& part) { part.fetch(0, words_); }
  LK_DEVICE void arrive(Part<Cfg>& part, const Exponent& e) {
    part.realign(0, words_);
    if (e.turn != 1.0f) {
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) turn_words<V::kX>(e.turn, words_[w]);
    }
    if (part.group_column(V::kWindows) <= part.cols) return;
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      mask_words<V::kX>(words_[w], part.column(w), part.cols);
    }
  }

  LK_DEVICE float most() const { return most_of_words<V::kX>(words_); }

  // The sum of exp(scale (x - m)). Without subnormal terms all are one instruction each, with the
  // same result. No lane has any: the lowest value tells.
  LK_DEVICE float sum(float less, const Exponent& e, bool log) {
    normal_ = false;
    if constexpr (V::kY != DType::f16) {
      normal_ = normal(less, e, log);
      if (normal_) return terms<true>(less, e, false);
    }
    return terms<false>(less, e, log);
  }

  // After the sum, where the row has a larger maximum than the part that it was computed from.
  LK_DEVICE void rebase(float less, const Exponent& e) {
    static_assert(!kKept);
    if (normal_) normal_ = normal(less, e, false);
  }

  // Once the sum has been.
  LK_DEVICE void store(Part<Cfg>& part, float less, const Params& p, const Norm& norm) {
    part.begin_store();
    if constexpr (kKept) {
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) {
#pragma unroll
        for (int i = 0; i < V::kItems; ++i) kept_[w][i] = norm(kept_[w][i]);
        part.put(w, packed<Cfg>(kept_[w]));
      }
    } else if (normal_) {
      recompute<true>(part, less, p, norm);
    } else {
      recompute<false>(part, less, p, norm);
    }
  }

 private:
  static constexpr bool kKept = V::kWindows * V::kItems <= kMostKept && !V::kInCluster;

  LK_DEVICE bool normal(float less, const Exponent& e, bool log) const {
    const float lowest = difference(least_of_words<V::kX>(words_), less, e);
    return ptx::vote_sync_all(!log && exponent_of(lowest, e) >= kLeastNormal);
  }

  template <bool kNormal>
  LK_DEVICE float terms(float less, const Exponent& e, bool log) {
    float of_window[V::kWindows];
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      float d[V::kItems], term[V::kItems];
      differences<Cfg>(words_[w], less, e, d);
#pragma unroll
      for (int i = 0; i < V::kItems; ++i) {
        term[i] = exponential<V::kY, kNormal>(d[i], e);
        if constexpr (kKept) kept_[w][i] = log ? d[i] : term[i];
      }
      of_window[w] = reduce_array<Sum>(term);
    }
    return reduce_array<Sum>(of_window);
  }

  template <bool kNormal>
  LK_DEVICE void recompute(Part<Cfg>& part, float less, const Params& p, const Norm& norm) {
    // 0, since all lanes have the same, but the compiler does not know: from the very words that
    // the sum was computed from it would hold values and terms, and spill them.
    const auto bits = bit_cast<std::uint32_t>(less);
    const std::uint32_t zero = bits ^ ptx::shfl_sync_idx(bits, 0);
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      float d[V::kItems];
      typename V::Loaded words = words_[w];
#pragma unroll
      for (std::uint32_t& word : words.v) word ^= zero;
      differences<Cfg>(words, less, p.exponent, d);
#pragma unroll
      for (int i = 0; i < V::kItems; ++i) {
        const float term = exponential<V::kY, kNormal>(d[i], p.exponent);
        d[i] = kNormal ? term * norm.factor : norm(p.log ? d[i] : term);
      }
      part.put(w, packed<Cfg>(d));
    }
  }

  typename V::Loaded words_[V::kWindows];
  float kept_[kKept ? V::kWindows : 1][V::kItems];  // terms, or for the logarithm differences
  bool normal_;
};

LK_DEVICE int warp_of_cta() { return int(threadIdx.x) / kWarpThreads; }

// How many of `most` columns from `first` on lie before `end`.
LK_DEVICE int columns_within(std::int64_t first, std::int64_t end, int most) {
  const std::int64_t left = end - first;
  return left <= 0 ? 0 : left < most ? int(left) : most;
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
