// A row, or a piece of one, in vectors of kItems logical columns, however it is aligned.
//
// Vector i of a segment holds the columns i * kItems and up: alignment decides how they are loaded,
// never which of them go together, so a reduction over vectors does not depend on it.
#pragma once

#include "kernels/common/storage.cuh"
#include "kernels/common/vector.cuh"

namespace libkernels::inline LK_BACKEND {

// Columns that lie side by side in memory.
template <DType T>
struct Segment {
  const typename Storage<T>::Element* data;  // [cols]
  int cols;                                  // below 2^28
  int before, after;  // bytes beside the columns that may be read, too: at least so many
};

// What of [begin, end), memory that may be read, lies beside the columns. With no such memory (it
// may be written meanwhile, as in place) before and after are 0.
template <DType T>
LK_DEVICE Segment<T> make_segment(const typename Storage<T>::Element* data, int cols,
                                  const void* begin, const void* end) {
  constexpr std::int64_t kEnough = 64;  // two of the widest vectors
  const auto* first = reinterpret_cast<const unsigned char*>(data);
  const auto* last = reinterpret_cast<const unsigned char*>(data + cols);
  const std::int64_t before = first - static_cast<const unsigned char*>(begin);
  const std::int64_t after = static_cast<const unsigned char*>(end) - last;
  return {data, cols, int(before < kEnough ? before : kEnough),
          int(after < kEnough ? after : kEnough)};
}

template <DType T, int kItems>
inline constexpr int kWordsOf = kItems / Storage<T>::kPerWord;

// Columns [c, c + kItems) as words; c is a multiple of kItems and may lie beyond the end. Columns
// at and beyond s.cols are unspecified: select something else for them (mask_columns).
//
// Misaligned columns take the two aligned vectors that hold them. Where one of these sticks out of
// what may be read, which happens at the ends of a view only, the elements are loaded one by one.
template <DType T, int kItems>
LK_DEVICE Words<kWordsOf<T, kItems>> load_columns(const Segment<T>& s, int c) {
  using S = Storage<T>;
  constexpr int kWords = kWordsOf<T, kItems>;
  constexpr int kBytes = 4 * kWords;
  constexpr int kSize = int(sizeof(typename S::Element));
  Words<kWords> words{};
  if (c >= s.cols) return words;
  const auto* p = reinterpret_cast<const unsigned char*>(s.data) + c * kSize;
  const int phase = int(phase_of(s.data, kBytes));        // the same for each vector
  const int room = s.cols * kSize + s.after - c * kSize;  // from p
  if (phase == 0 && room >= kBytes) {
    words = load_vector<kWords>(p);
  } else if (phase != 0 && c * kSize + s.before >= phase && room >= 2 * kBytes - phase) {
    words = funnel<kWords>(load_vector<kWords>(p - phase), load_vector<kWords>(p - phase + kBytes),
                           std::uint32_t(phase));
  } else {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (c + i >= s.cols) continue;
      const std::uint32_t bits = ptx::ld_global(s.data + c + i);
      words.v[i / S::kPerWord] |= bits << (32 / S::kPerWord * (i % S::kPerWord));
    }
  }
  return words;
}

// The values of loaded columns.
template <DType T, int kItems>
LK_DEVICE void unpack_columns(const Words<kWordsOf<T, kItems>>& words, float (&v)[kItems]) {
#pragma unroll
  for (int i = 0; i < kWordsOf<T, kItems>; ++i) {
    Storage<T>::unpack(words.v[i], v + i * Storage<T>::kPerWord);
  }
}

// v holds the columns [c, c + kItems) of `cols`: those beyond the end become `filler`.
template <int kItems>
LK_DEVICE void mask_columns(float (&v)[kItems], int c, int cols, float filler) {
  if (c + kItems <= cols) return;  // all but the last vector
#pragma unroll
  for (int i = 0; i < kItems; ++i) v[i] = c + i < cols ? v[i] : filler;
}

}  // namespace libkernels::inline LK_BACKEND
