// Softmax of views without unit column stride: what a thread holds of a tile of rows.
#pragma once

#include "kernels/softmax/softmax_split.cuh"
#include "kernels/softmax/softmax_strided_plan.h"
#include "kernels/softmax/softmax_words.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// This thread's place in a CTA's tile.
struct TilePlace {
  int lane, slot;    // along the rows, along the columns
  int lanes, slots;  // of the CTA

  LK_DEVICE explicit TilePlace(const Params& p)
      : lane(int(threadIdx.x) & ((1 << p.lanes_log2) - 1)),
        slot(int(threadIdx.x) >> p.lanes_log2),
        lanes(1 << p.lanes_log2),
        slots(int(blockDim.x) >> p.lanes_log2) {}
};

// A thread's vectors.
template <class Cfg>
class TileVectors {
 public:
  static constexpr DType kX = Cfg::value.x_type, kY = Cfg::value.y_type;
  using In = Storage<kX>;
  using Out = Storage<kY>;
  static constexpr int kItems = 4 * In::kPerWord;  // rows
  using Vector = Words<4>;

  // Of the columns from `begin` on, `end` excluded; `tile`: the first row of the CTA's.
  LK_DEVICE TileVectors(const Params& params, uint4* vectors, const TilePlace& at,
                        std::int64_t tile, std::int64_t begin, std::int64_t end)
      : p(&params), place_(vectors + threadIdx.x), at_(at) {
    const std::int64_t row = tile + at.lane * kItems, left = p->rows - row;
    rows_ = left < kItems ? int(left) : kItems;
    tile_full_ = p->rows - tile >= at.lanes * kItems;
    const std::int64_t first = begin + at.slot;
    count_ = rows_ > 0 && first < end ? int((end - first - 1) / at.slots) + 1 : 0;
    x_ = static_cast<const Element*>(p->x) + row * p->x_row_stride + first * p->x_col_stride;
    y_ = static_cast<Result*>(p->y) + row * p->y_row_stride + first * p->y_col_stride;
    x_step_ = at.slots * p->x_col_stride;
    y_step_ = at.slots * p->y_col_stride;
  }

  // Starts the loads.
  LK_DEVICE void fetch() const {
    const Element* x = x_;
    switch (p->x_access) {
      case Access::vectors: {
        const auto bytes = std::uint32_t(rows_ * kSize);
#pragma unroll 4
        for (int i = 0; i < count_; ++i, x += x_step_) {
          ptx::cp_async_cg_shared_global(place(i), x, bytes);
        }
        return ptx::cp_async_commit_group();
      }
      case Access::shifted: {
        int i = 0;
#pragma unroll 1
        for (; i + kAtOnce <= count_; i += kAtOnce, x += kAtOnce * x_step_) {
          shift_in<kAtOnce>(i, x);
        }
#pragma unroll 1
        for (; i < count_; ++i, x += x_step_) shift_in<1>(i, x);
        return;
      }
      case Access::elements:
#pragma unroll 1
        for (int i = 0; i < count_; ++i, x += x_step_) put(i, elements(x));
    }
  }
  LK_DEVICE void arrive() const { ptx::cp_async_wait_all(); }

  // The largest, and smallest, of each row, packed. Makes values of what was loaded.
  LK_DEVICE void extremes(Vector& most, Vector& least) const {
    constexpr std::uint32_t kFiller = WordOps<kX>::kFiller;
    most = {kFiller, kFiller, kFiller, kFiller};
    least = most;
    if (p->exponent.turn != 1.0f) {
#pragma unroll 1
      for (int i = 0; i < count_; ++i) {
        Vector v = get(i);
        turn_words<kX>(p->exponent.turn, v);
        put(i, v);
      }
    }
    if (count_ > 0) least = get(0);
#pragma unroll 4
    for (int i = 0; i < count_; ++i) {
      const Vector v = get(i);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        most.v[k] = WordOps<kX>::most(most.v[k], v.v[k]);
        if constexpr (kY != DType::f16) least.v[k] = WordOps<kX>::least(least.v[k], v.v[k]);
      }
    }
  }

  // Adds up each row's terms.
  template <bool kNormal>
  LK_DEVICE void sum(const float (&less)[kItems], float (&sums)[kItems]) const {
    LongSum all[kItems];
    int i = 0;
#pragma unroll 1
    while (i < count_) {
      const int end = i + kChain < count_ ? i + kChain : count_;
      float part[kItems] = {};
#pragma unroll 2
      for (; i < end; ++i) {
        float d[kItems];
        differences(i, less, d);
#pragma unroll
        for (int j = 0; j < kItems; ++j) part[j] += exponential<kY, kNormal>(d[j], p->exponent);
      }
#pragma unroll
      for (int j = 0; j < kItems; ++j) all[j].add(part[j]);
    }
#pragma unroll
    for (int j = 0; j < kItems; ++j) sums[j] = all[j].value();
  }

  template <bool kNormal>
  LK_DEVICE void store(const float (&less)[kItems], const float (&factor)[kItems],
                       const float (&offset)[kItems]) const {
    Result* y = y_;
    std::uint32_t words[kOutWords];
    if (p->y_access == Access::vectors && rows_ == kItems) {
#pragma unroll 2
      for (int i = 0; i < count_; ++i, y += y_step_) {
        results<kNormal>(i, less, factor, offset, words);
#pragma unroll
        for (int k = 0; k < kOutWords; k += 4) {
          const Vector out{words[k], words[k + 1], words[k + 2], words[k + 3]};
          store_vector<4>(y + k * Out::kPerWord, out);
        }
      }
      return;
    }
    const bool shift = kSameSize && p->y_access == Access::shifted && tile_full_;
#pragma unroll 1
    for (int i = 0; i < count_; ++i, y += y_step_) {
      results<kNormal>(i, less, factor, offset, words);
      if (shift) {
        put(i, {words[0], words[1], words[2], words[3]});
      } else {
        store_elements(y, words);
      }
    }
    if (shift) shift_out();
  }

 private:
  using Element = typename In::Element;
  using Result = typename Out::Element;
  static constexpr int kSize = int(sizeof(Element));
  static constexpr bool kSameSize = sizeof(Element) == sizeof(Result);
  static constexpr int kOutWords = kItems / Out::kPerWord;
  static constexpr int kAtOnce = 4;
  static constexpr int kChain = 8;  // terms

  LK_DEVICE uint4* place(int i) const { return place_ + i * int(blockDim.x); }
  LK_DEVICE Vector get(int i) const { return bit_cast<Vector>(ptx::ld_shared(place(i))); }
  LK_DEVICE void put(int i, const Vector& v) const { ptx::st_shared(place(i), bit_cast<uint4>(v)); }
  LK_DEVICE void differences(int i, const float (&less)[kItems], float (&d)[kItems]) const {
    unpack_columns<kX, kItems>(get(i), d);
#pragma unroll
    for (int j = 0; j < kItems; ++j) d[j] = difference(d[j], less[j], p->exponent);
  }

  LK_DEVICE Vector elements(const Element* x) const {
    std::uint32_t bits[kItems];
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      bits[j] = j < rows_ ? std::uint32_t(ptx::ld_global(x + j * p->x_row_stride)) : 0;
    }
    Vector v;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v.v[k] = kSize == 4 ? bits[k] : bits[2 * k % kItems] | bits[(2 * k + 1) % kItems] << 16;
    }
    return v;
  }
  // Through the two aligned vectors that hold them, where these lie within x, and nobody writes
  // what else is there.
  template <int kCount>
  LK_DEVICE void shift_in(int i, const Element* x) const {
    Vector lo[kCount], hi[kCount];
    bool whole[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const auto* from = reinterpret_cast<const unsigned char*>(x + k * x_step_);
      const std::uint32_t phase = phase_of(from, kVectorBytes);
      from -= phase;
      whole[k] = phase == 0
                     ? rows_ == kItems
                     : !p->in_place && from >= static_cast<const unsigned char*>(p->x) &&
                           from + 2 * kVectorBytes <= static_cast<const unsigned char*>(p->x_end);
      lo[k] = hi[k] = Vector{};
      if (whole[k]) lo[k] = load_vector<4>(from);
      if (whole[k] && phase != 0) hi[k] = load_vector<4>(from + kVectorBytes);
    }
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const Element* from = x + k * x_step_;
      lo[k] = funnel<4>(lo[k], hi[k], phase_of(from, kVectorBytes));
      put(i + k, lo[k]);
    }
#pragma unroll 1
    for (int k = 0; k < kCount; ++k) {
      bool done = true;
#pragma unroll
      for (int l = 0; l < kCount; ++l) done = l == k ? whole[l] : done;
      if (!done) put(i + k, elements(x + k * x_step_));
    }
  }

  template <bool kNormal>
  LK_DEVICE void results(int i, const float (&less)[kItems], const float (&factor)[kItems],
                         const float (&offset)[kItems], std::uint32_t (&words)[kOutWords]) const {
    float v[kItems];
    differences(i, less, v);
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      if constexpr (kNormal) {
        v[j] = exponential<kY, true>(v[j], p->exponent) * factor[j];
      } else {
        const float term = p->log ? v[j] : exponential<kY>(v[j], p->exponent);
        v[j] = fmaf(term, factor[j], offset[j]);
      }
    }
#pragma unroll
    for (int k = 0; k < kOutWords; ++k) words[k] = Out::pack(v + k * Out::kPerWord);
  }
  LK_DEVICE void store_elements(Result* y, const std::uint32_t (&words)[kOutWords]) const {
#pragma unroll
    for (int j = 0; j < kItems; ++j) {
      const std::uint32_t word = words[j / Out::kPerWord] >> (16 * (j % Out::kPerWord));
      if (j < rows_) ptx::st_global(y + j * p->y_row_stride, Result(word));
    }
  }
  // The packed results of a whole tile, by aligned vectors: that of a lane begins among the rows of
  // its left neighbour. What is left over at both ends, a vector in all, goes by elements.
  LK_DEVICE void shift_out() const {
    __syncwarp();
    Result* y = y_;
#pragma unroll 1
    for (int i = 0; i < count_; ++i, y += y_step_) {
      Result* const first = y - at_.lane * kItems;
      const std::uint32_t phase = phase_of(first, kVectorBytes);
      const Vector mine = get(i);
      if (phase == 0) {
        store_vector<4>(y, mine);
      } else if (at_.lane > 0) {
        const auto left = bit_cast<Vector>(ptx::ld_shared(place(i) - 1));
        const auto back = std::uint32_t(kVectorBytes) - phase;
        store_vector<4>(reinterpret_cast<unsigned char*>(y) - phase, funnel<4>(left, mine, back));
      }
      if (phase == 0) continue;
      const int head = kItems - int(phase) / kSize;  // rows of the first vector before a boundary
      for (int j = at_.lane; j < kItems; j += at_.lanes) {
        const int row = j < head ? j : (at_.lanes - 1) * kItems + j;
        const auto* results = reinterpret_cast<const Result*>(place(i) - at_.lane);
        ptx::st_global(first + row, ptx::ld_shared(results + row));
      }
    }
  }

  const Params* p;
  uint4* place_;
  TilePlace at_;
  const Element* x_;
  Result* y_;
  std::int64_t x_step_, y_step_;
  int rows_;        // of a vector, that there are; 0 or less: none
  int count_;       // vectors
  bool tile_full_;  // the tile has all its rows
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
