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

// The aligned vectors that hold kItems columns, as far as they may be read.
template <DType T, int kItems>
struct Fetched {
  Words<kWordsOf<T, kItems>> lo, hi;  // hi only where the columns are misaligned
  bool complete;                      // nothing is missing
};

// Loads the columns [c, c + kItems); c is a multiple of kItems and may lie beyond the end. Nothing
// here waits for the memory: fetch all vectors that fit into registers, then realign them.
template <DType T, int kItems>
LK_DEVICE Fetched<T, kItems> fetch_columns(const Segment<T>& s, int c) {
  constexpr int kWords = kWordsOf<T, kItems>;
  constexpr int kBytes = 4 * kWords;
  constexpr int kSize = int(sizeof(typename Storage<T>::Element));
  const int phase = int(phase_of(s.data, kBytes));  // the same for each vector
  const int from = c * kSize - phase;               // in bytes from the start of the segment
  const int to = s.cols * kSize + s.after;
  const bool any = c < s.cols;
  const bool lo = any && from + s.before >= 0 && from + kBytes <= to;
  const bool hi = any && phase != 0 && from + 2 * kBytes <= to;
  const auto* p = reinterpret_cast<const unsigned char*>(s.data) + from;
  Fetched<T, kItems> f{};
  if (lo) f.lo = load_vector<kWords>(p);
  if (hi) f.hi = load_vector<kWords>(p + kBytes);
  f.complete = !any || (lo && (hi || phase == 0));
  return f;
}

// The fetched columns as words. Those at and beyond s.cols are unspecified: select something else
// for them (mask_columns). Where a vector sticks out of what may be read, which happens at the ends
// of a view only (in place: of a segment), the elements are loaded one by one.
template <DType T, int kItems>
LK_DEVICE Words<kWordsOf<T, kItems>> realign_columns(const Segment<T>& s, int c,
                                                     const Fetched<T, kItems>& f) {
  using S = Storage<T>;
  constexpr int kBytes = 4 * kWordsOf<T, kItems>;
  const std::uint32_t phase = phase_of(s.data, kBytes);
  Words<kWordsOf<T, kItems>> words = f.lo;
  if (phase != 0) words = funnel(f.lo, f.hi, phase);
  if (f.complete) return words;
  words = {};
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (c + i >= s.cols) continue;
    const std::uint32_t bits = ptx::ld_global(s.data + c + i);
    words.v[i / S::kPerWord] |= bits << (32 / S::kPerWord * (i % S::kPerWord));
  }
  return words;
}

template <DType T, int kItems>
LK_DEVICE Words<kWordsOf<T, kItems>> load_columns(const Segment<T>& s, int c) {
  return realign_columns<T, kItems>(s, c, fetch_columns<T, kItems>(s, c));
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
