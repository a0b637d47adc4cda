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

// How the lanes of a group load a segment: lane i of `lanes` (a power of two) the vectors i, i +
// lanes, ... Each lane loads the aligned vector in which its columns begin; where the segment is
// misaligned, a shuffle brings the rest of them from the right neighbour. So everything is loaded
// once. All groups of a warp load at once, and all 32 lanes execute every member.
//
//   RowReader<T, kItems> reader(segment, lane, lanes);
//   a = reader.fetch(first); b = reader.fetch(first + step); ...     in any order
//   reader.begin(first + 2 * step);
//   b = reader.realign(first + step, b); a = reader.realign(first, a);   the last one first
template <DType T, int kItems>
class RowReader {
 public:
  static constexpr int kWords = kWordsOf<T, kItems>;

  RowReader() = default;
  LK_DEVICE RowReader(const Segment<T>& segment, int lane, int lanes)
      : segment_(segment), lane_(lane), lanes_(lanes) {
    phase_ = int(phase_of(segment.data, kBytes));
    realign_ = ptx::vote_sync_any(phase_ != 0);
  }

  // The aligned vector in which the columns [c, c + kItems) begin, c = first + lane * kItems, as
  // far as it may be read; `first` is a multiple of kItems and may lie beyond the end. Waits for
  // nothing.
  LK_DEVICE Words<kWords> fetch(int first) const {
    const int from = at(first + lane_ * kItems);
    Words<kWords> words{};
    if (readable(from)) {
      words = load_vector<kWords>(reinterpret_cast<const unsigned char*>(segment_.data) + from);
    }
    return words;
  }

  // Before the first realign: `end` is where the columns to realign end.
  LK_DEVICE void begin(int end) {
    if (!realign_) return;
    right_ = {};
    const int from = at(end);
    if (lane_ == lanes_ - 1 && readable(from)) {
      right_ = load_vector<kWords>(reinterpret_cast<const unsigned char*>(segment_.data) + from);
    }
  }

  // The columns [c, c + kItems) out of what fetch(first) returned. In the next call `first` is
  // lanes * kItems smaller. Columns at and beyond the end are unspecified: select something else
  // for them.
  LK_DEVICE Words<kWords> realign(int first, const Words<kWords>& fetched) {
    const int c = first + lane_ * kItems;
    Words<kWords> words = fetched;
    if (realign_) {
      const int warp_lane = int(threadIdx.x) % 32;
      const unsigned right =
          unsigned((warp_lane & ~(lanes_ - 1)) | ((warp_lane + 1) & (lanes_ - 1)));
      Words<kWords> from_right;
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        from_right.v[i] = ptx::shfl_sync_idx(fetched.v[i], right);
      }
      // The last lane's neighbour is the first lane, one call ago.
      const Words<kWords> next = lane_ == lanes_ - 1 ? right_ : from_right;
      right_ = from_right;
      words = funnel(fetched, next, std::uint32_t(phase_));
    }
    return complete(c) ? words : elements(c);
  }

 private:
  static constexpr int kSize = int(sizeof(typename Storage<T>::Element));
  static constexpr int kBytes = 4 * kWords;

  // Offset of the aligned vector in which column c lies, in bytes from the segment's start.
  LK_DEVICE int at(int c) const { return c * kSize - phase_; }
  // Does the aligned vector there hold columns, and nothing that may not be read?
  LK_DEVICE bool readable(int from) const {
    const int to = segment_.cols * kSize;
    return from < to && from + segment_.before >= 0 && from + kBytes <= to + segment_.after;
  }
  // Were the columns from c on, as far as there are any, in readable vectors?
  LK_DEVICE bool complete(int c) const {
    const int from = at(c), to = segment_.cols * kSize;
    return c >= segment_.cols ||
           (readable(from) && (phase_ == 0 || from + kBytes >= to || readable(from + kBytes)));
  }
  // One by one: next to an end of what may be read.
  LK_DEVICE Words<kWords> elements(int c) const {
    constexpr int kTop = 32 - 8 * kSize;  // where an element enters the vector
    Words<kWords> words{};
#pragma unroll 1
    for (int i = c; i < c + kItems; ++i) {
      const std::uint32_t bits = i < segment_.cols ? ptx::ld_global(segment_.data + i) : 0;
#pragma unroll
      for (int w = 0; w + 1 < kWords; ++w) {
        words.v[w] = kSize == 4 ? words.v[w + 1]
                                : ptx::shf_r_wrap_b32(words.v[w], words.v[w + 1], 8 * kSize);
      }
      words.v[kWords - 1] =
          (kSize == 4 ? 0 : words.v[kWords - 1] >> (8 * kSize % 32)) | bits << kTop;
    }
    return words;
  }

  Segment<T> segment_;
  int lane_, lanes_;
  int phase_;            // of the segment's start, in bytes
  bool realign_;         // some segment of the warp is misaligned
  Words<kWords> right_;  // the right neighbour's vector, one call ago
};

// The values of loaded columns.
template <DType T, int kItems>
LK_DEVICE void unpack_columns(const Words<kWordsOf<T, kItems>>& words, float (&v)[kItems]) {
#pragma unroll
  for (int i = 0; i < kWordsOf<T, kItems>; ++i) {
    Storage<T>::unpack(words.v[i], v + i * Storage<T>::kPerWord);
  }
}

}  // namespace libkernels::inline LK_BACKEND
