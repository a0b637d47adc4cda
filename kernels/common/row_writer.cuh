// Stores of a row by logical column, as aligned 16-byte vectors however the row is aligned.
//
// The lanes of a group hold neighbouring vectors of kItems columns. Where the row is misaligned,
// each lane stores the aligned vector that begins within its left neighbour's columns: a shuffle
// brings these. Only the two ends of the group's columns are stored element by element.
#pragma once

#include "kernels/common/row_vector.cuh"

namespace libkernels::inline LK_BACKEND {

template <DType T>
class RowWriter {
 public:
  using Element = typename Storage<T>::Element;
  static constexpr int kWords = 4;
  static constexpr int kItems = kWords * Storage<T>::kPerWord;

  RowWriter() = default;
  // `data` is the columns [0, cols) of the group, which is `lanes` (a power of two) neighbouring
  // lanes of a warp, this one its lane number `lane`. All groups of a warp write at once.
  LK_DEVICE RowWriter(Element* data, int cols, int lane, int lanes)
      : data_(data), cols_(cols), lane_(lane), lanes_(lanes) {
    back_ = int(phase_of(data, 4 * kWords) / sizeof(Element));
    realign_ = ptx::vote_sync_any(back_ != 0);
    last_ = {};
  }

  // Puts the columns [c, c + kItems), c = first + lane * kItems. In the next call first is lanes *
  // kItems larger. Columns at and beyond `cols` are not stored. All lanes of the warp execute it.
  LK_DEVICE void put(int first, const Words<kWords>& words) {
    const int c = first + lane() * kItems;
    if (!realign_) return store(c, 0, cols_, words);
    const int warp_lane = int(threadIdx.x) % 32;
    const unsigned left =
        unsigned((warp_lane & ~(lanes() - 1)) | ((warp_lane - 1) & (lanes() - 1)));
    Words<kWords> from_left;
#pragma unroll
    for (int i = 0; i < kWords; ++i) from_left.v[i] = ptx::shfl_sync_idx(words.v[i], left);
    // The first lane's neighbour is the last lane, one call ago.
    const Words<kWords> before = lane() == 0 ? last_ : from_left;
    last_ = from_left;
    const bool starts = first == 0 && lane() == 0;
    store(c - back_, starts ? 0 : c - back_, cols_, shifted(before, words));
  }

  // After the last put, whose columns end at `end`: stores what has no right neighbour.
  LK_DEVICE void finish(int end) {
    if (!realign_ || lane() != 0) return;
    store(end - back_, end - back_, end < cols_ ? end : cols_, shifted(last_, {}));
  }

 private:
  LK_DEVICE int lane() const { return lane_; }
  LK_DEVICE int lanes() const { return lanes_; }
  // Where in its left neighbour's vector, in bytes, a lane's aligned vector begins.
  LK_DEVICE std::uint32_t shift() const {
    return (4 * kWords - std::uint32_t(back_ * int(sizeof(Element)))) % 16;
  }
  // The aligned vector that ends kItems - back columns into `words`.
  LK_DEVICE Words<kWords> shifted(const Words<kWords>& before, const Words<kWords>& words) const {
    const Words<kWords> both = funnel(before, words, shift());
    return back_ == 0 ? words : both;
  }

  // Columns [c, c + kItems), those within [from, to).
  LK_DEVICE void store(int c, int from, int to, const Words<kWords>& words) const {
    if (c >= from && c + kItems <= to) return store_vector<kWords>(data_ + c, words);
    constexpr int kPerWord = Storage<T>::kPerWord;
    Words<kWords> rest = words;
#pragma unroll 1
    for (int i = c; i < c + kItems && i < to; i += kPerWord) {
      if (kPerWord == 2 && i >= from && i + 2 <= to) {
        ptx::st_global(reinterpret_cast<std::uint32_t*>(data_ + i), rest.v[0]);
      } else {
        if (i >= from) ptx::st_global(data_ + i, Element(rest.v[0]));
        if (kPerWord == 2 && i + 1 >= from && i + 1 < to) {
          ptx::st_global(data_ + i + 1, Element(rest.v[0] >> 16));
        }
      }
#pragma unroll
      for (int w = 0; w + 1 < kWords; ++w) rest.v[w] = rest.v[w + 1];
    }
  }

  Element* data_;
  int cols_, lane_, lanes_;
  int back_;            // elements between the last 16-byte boundary and data
  bool realign_;        // some row of the warp is misaligned
  Words<kWords> last_;  // the left neighbour's, one call ago
};

}  // namespace libkernels::inline LK_BACKEND
