// Softmax: what is done to values while they are still packed in the words they were loaded as.
#pragma once

#include "kernels/common/row_vector.cuh"
#include "kernels/softmax/softmax_math.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// Of whole words: the larger, NaN if either is, and the smaller of each of their elements; and a
// word of -inf.
template <DType T>
struct WordOps;

template <>
struct WordOps<DType::f32> {
  static constexpr std::uint32_t kFiller = 0xff800000u;
  static LK_DEVICE std::uint32_t most(std::uint32_t a, std::uint32_t b) {
    return bit_cast<std::uint32_t>(ptx::max_NaN_f32(bit_cast<float>(a), bit_cast<float>(b)));
  }
  static LK_DEVICE std::uint32_t least(std::uint32_t a, std::uint32_t b) {
    return bit_cast<std::uint32_t>(ptx::min_f32(bit_cast<float>(a), bit_cast<float>(b)));
  }
};
template <>
struct WordOps<DType::f16> {
  static constexpr std::uint32_t kFiller = 0xfc00fc00u;
  static LK_DEVICE std::uint32_t most(std::uint32_t a, std::uint32_t b) {
    return ptx::max_NaN_f16x2(a, b);
  }
  static LK_DEVICE std::uint32_t least(std::uint32_t a, std::uint32_t b) {
    return ptx::min_f16x2(a, b);
  }
};
template <>
struct WordOps<DType::bf16> {
  static constexpr std::uint32_t kFiller = 0xff80ff80u;
  static LK_DEVICE std::uint32_t most(std::uint32_t a, std::uint32_t b) {
    return ptx::max_NaN_bf16x2(a, b);
  }
  static LK_DEVICE std::uint32_t least(std::uint32_t a, std::uint32_t b) {
    return ptx::min_bf16x2(a, b);
  }
};

// v = turn * x. Exact: turn is 1, -1 or 0.
template <DType T, int kWords>
LK_DEVICE void turn_words(float turn, Words<kWords>& words) {
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    float v[Storage<T>::kPerWord];
    Storage<T>::unpack(words.v[i], v);
#pragma unroll
    for (int j = 0; j < Storage<T>::kPerWord; ++j) v[j] *= turn;
    words.v[i] = Storage<T>::pack(v);
  }
}

template <DType T, int kWords>
LK_DEVICE Words<kWords> filler_words() {
  Words<kWords> words;
#pragma unroll
  for (int i = 0; i < kWords; ++i) words.v[i] = WordOps<T>::kFiller;
  return words;
}

template <int kWords>
LK_DEVICE void select_words(bool yes, const Words<kWords>& from, Words<kWords>& to) {
#pragma unroll
  for (int i = 0; i < kWords; ++i) to.v[i] = yes ? from.v[i] : to.v[i];
}

// Elements e without there(e) become -inf.
template <DType T, int kWords, class There>
LK_DEVICE void mask_words(Words<kWords>& words, There there) {
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    std::uint32_t mask = there(i * Storage<T>::kPerWord) ? ~0u : 0u;
    if constexpr (Storage<T>::kPerWord == 2) {
      mask = (mask & 0xffffu) | (there(2 * i + 1) ? 0xffff0000u : 0u);
    }
    words.v[i] = (words.v[i] & mask) | (WordOps<T>::kFiller & ~mask);
  }
}

// Of all words of an array of vectors, pairwise.
template <int kCount, int kWords, class Op>
LK_DEVICE std::uint32_t reduce_words(const Words<kWords> (&words)[kCount], Op op) {
  std::uint32_t of_vector[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    static_assert(kWords == 2 || kWords == 4);
    of_vector[i] = op(words[i].v[0], words[i].v[1]);
    if constexpr (kWords == 4) of_vector[i] = op(of_vector[i], op(words[i].v[2], words[i].v[3]));
  }
#pragma unroll
  for (int i = 1; i < kCount; ++i) of_vector[0] = op(of_vector[0], of_vector[i]);
  return of_vector[0];
}

template <DType T, int kCount, int kWords>
LK_DEVICE float most_of_words(const Words<kWords> (&words)[kCount]) {
  const std::uint32_t word =
      reduce_words(words, [](std::uint32_t a, std::uint32_t b) { return WordOps<T>::most(a, b); });
  float v[Storage<T>::kPerWord];
  Storage<T>::unpack(word, v);
  return reduce_array<MaxNaN>(v);
}
// Among NaN some number, or NaN.
template <DType T, int kCount, int kWords>
LK_DEVICE float least_of_words(const Words<kWords> (&words)[kCount]) {
  const std::uint32_t word =
      reduce_words(words, [](std::uint32_t a, std::uint32_t b) { return WordOps<T>::least(a, b); });
  float v[Storage<T>::kPerWord];
  Storage<T>::unpack(word, v);
  return Storage<T>::kPerWord == 1 ? v[0] : ptx::min_f32(v[0], v[Storage<T>::kPerWord - 1]);
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
