// Softmax of a part of a row that a group of lanes holds in registers: kWindows vectors a lane.
#pragma once

#include "kernels/softmax/softmax_part.cuh"
#include "kernels/softmax/softmax_words.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

template <class Cfg>
LK_DEVICE typename Vectors<Cfg>::Stored packed(const float (&v)[Vectors<Cfg>::kItems]) {
  using Out = typename Vectors<Cfg>::Out;
  typename Vectors<Cfg>::Stored words;
#pragma unroll
  for (int i = 0; i < Vectors<Cfg>::kStoredWords; ++i) {
    words.v[i] = Out::pack(v + i * Out::kPerWord);
  }
  return words;
}

// What the values of a vector become.
template <class Cfg, bool kFast>
LK_DEVICE typename Vectors<Cfg>::Stored results(const typename Vectors<Cfg>::Loaded& words,
                                                const Base& base, const Params& p,
                                                const Norm& norm) {
  using V = Vectors<Cfg>;
  float v[V::kItems];
  unpack_columns<V::kX, V::kItems>(words, v);
#pragma unroll
  for (int i = 0; i < V::kItems; ++i) {
    if constexpr (kFast) {
      v[i] = term<V::kY, true>(v[i], base, p.exponent) * norm.factor;
    } else {
      const float d = difference(v[i], base.less, p.exponent);
      v[i] = norm(p.log ? d : exponential<V::kY>(d, p.exponent));
    }
  }
  return packed<Cfg>(v);
}

// A lane's vectors. Few values are kept as terms, 32 bits each; of more the words are, and each
// exponential is computed twice.
template <class Cfg>
class Held {
 public:
  using V = Vectors<Cfg>;

  LK_DEVICE void fetch(const Part<Cfg>& part) { part.fetch(0, batch_); }
  LK_DEVICE void arrive(Part<Cfg>& part, const Exponent& e) { part.arrive(0, batch_, e.turn); }

  LK_DEVICE float most() const { return most_of_words<V::kX>(batch_.words); }

  LK_DEVICE Base base(float less, const Exponent& e, bool log) const {
    if constexpr (V::kY != DType::f32) return make_base<V::kY, V::kWholeWarp>(less, e, log);
    // Without subnormal terms all are one instruction each, with the same result. No lane has any:
    // the lowest value tells.
    const float lowest = difference(least_of_words<V::kX>(batch_.words), less, e);
    const bool normal = !log && exponent_of(lowest, e) >= kLeastNormal;
    return {.less = less, .back = 0, .unit = 1, .fast = ptx::vote_sync_all(normal)};
  }

  // of_class[i]: the sum of the terms of element i of all vectors.
  LK_DEVICE void sum(const Base& base, const Exponent& e, float (&of_class)[V::kItems]) {
    if (base.fast) {
      sum_terms<true>(base, e, of_class);
    } else {
      sum_terms<false>(base, e, of_class);
    }
  }

  // Once the sum has been.
  LK_DEVICE void store(Part<Cfg>& part, const Base& base, const Params& p, Norm norm) {
    norm.factor *= base.unit;
    // 0, since all lanes have the same, but the compiler does not know: from the very words that
    // the sum was computed from it would hold values and terms, and spill them.
    const auto bits = bit_cast<std::uint32_t>(base.less);
    const std::uint32_t zero = bits ^ ptx::shfl_sync_idx(bits, 0);
    part.begin_store(int(zero));
    if constexpr (kKept) {
      if (!base.fast && !p.log) {
#pragma unroll
        for (int w = 0; w < V::kWindows; ++w) {
#pragma unroll
          for (int i = 0; i < V::kItems; ++i) {
            kept_[w][i] = exponential<V::kY>(kept_[w][i], p.exponent);
          }
        }
      }
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) {
#pragma unroll
        for (int i = 0; i < V::kItems; ++i) kept_[w][i] = norm(kept_[w][i]);
      }
      const int last = part.template tail_window<V::kWindows>(0);
      if (last >= 0) {
        float tail[V::kItems] = {};
#pragma unroll
        for (int w = 0; w < V::kWindows; ++w) {
#pragma unroll
          for (int i = 0; i < V::kItems; ++i) tail[i] = w == last ? kept_[w][i] : tail[i];
        }
        part.template put_tail<V::kWindows>(0, packed<Cfg>(tail));
      }
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) {
        part.template put<V::kWindows>(0, w, packed<Cfg>(kept_[w]));
      }
    } else if (base.fast) {
      recompute<true>(part, base, p, norm, zero);
    } else {
      recompute<false>(part, base, p, norm, zero);
    }
  }

 private:
  static constexpr bool kKept = V::kWindows * V::kItems <= kMostKept && !V::kInCluster;

  template <bool kFast>
  LK_DEVICE void sum_terms(const Base& base, const Exponent& e, float (&of_class)[V::kItems]) {
    if constexpr (kKept) {
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) {
        unpack_columns<V::kX, V::kItems>(batch_.words[w], kept_[w]);
#pragma unroll
        for (int i = 0; i < V::kItems; ++i) {
          kept_[w][i] = kFast ? term<V::kY, true>(kept_[w][i], base, e)
                              : difference(kept_[w][i], base.less, e);
        }
      }
#pragma unroll
      for (int i = 0; i < V::kItems; ++i) {
        float terms[V::kWindows];
#pragma unroll
        for (int w = 0; w < V::kWindows; ++w) {
          terms[w] = kFast ? kept_[w][i] : exponential<V::kY>(kept_[w][i], e);
        }
        of_class[i] = reduce_array<Sum>(terms);
      }
    } else {
      // Class by class, which takes few registers.
      constexpr int kPerWord = V::In::kPerWord;
#pragma unroll
      for (int j = 0; j < V::kLoadedWords; ++j) {
        float terms[kPerWord][V::kWindows];
#pragma unroll
        for (int w = 0; w < V::kWindows; ++w) {
          float v[kPerWord];
          V::In::unpack(batch_.words[w].v[j], v);
#pragma unroll
          for (int i = 0; i < kPerWord; ++i) terms[i][w] = term<V::kY, kFast>(v[i], base, e);
        }
#pragma unroll
        for (int i = 0; i < kPerWord; ++i) {
          of_class[j * kPerWord + i] = reduce_array<Sum>(terms[i]);
        }
      }
    }
  }

  template <bool kFast>
  LK_DEVICE void recompute(Part<Cfg>& part, const Base& base, const Params& p, const Norm& norm,
                           std::uint32_t zero) {
    const int last = part.template tail_window<V::kWindows>(0);
    if (last >= 0) {
      typename V::Loaded tail{};
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) {
        select_words(w == last, batch_.words[w], tail);
      }
      part.template put_tail<V::kWindows>(0, results<Cfg, kFast>(tail, base, p, norm));
    }
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      typename V::Loaded words = batch_.words[w];
#pragma unroll
      for (std::uint32_t& word : words.v) word ^= zero;
      part.template put<V::kWindows>(0, w, results<Cfg, kFast>(words, base, p, norm));
    }
  }

  typename Part<Cfg>::template Batch<V::kWindows> batch_;
  float kept_[kKept ? V::kWindows : 1][V::kItems];  // terms, or for the logarithm differences
};

LK_DEVICE int warp_of_cta() { return int(threadIdx.x) / kWarpThreads; }

// How many of `most` columns from `first` on lie before `end`.
LK_DEVICE int columns_within(std::int64_t first, std::int64_t end, int most) {
  const std::int64_t left = end - first;
  return left <= 0 ? 0 : left < most ? int(left) : most;
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
