// Softmax: the columns of a row that a warp, or a group of its lanes, owns, and how they are loaded
// and stored. Every generation's kernels for unit column strides are made of this.
//
// AlignedPart serves rows of whole aligned vectors, RealignedPart all others. Both give lane i of
// the group the vectors i, i + lanes, ... of the part, so that sums do not depend on which it is.
#pragma once

#include <type_traits>

#include "kernels/common/row_writer.cuh"
#include "kernels/softmax/softmax_math.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// What an instantiation fixes. Each generation has its own kConfigs[] of these.
struct Config {
  DType x_type, y_type;
  Path path;
  int windows;           // vectors that a thread holds in registers
  int threads;           // of a CTA, at most
  int ctas_per_sm;       // that must fit: bounds the registers
  bool aligned = false;  // rows of whole aligned vectors only
};

// The types of a configuration and its vectors.
template <class Cfg>
struct Vectors {
  static constexpr DType kX = Cfg::value.x_type, kY = Cfg::value.y_type;
  static constexpr int kItems = RowWriter<kY>::kItems;
  static constexpr int kWindows = Cfg::value.windows;
  using In = Storage<kX>;
  using Out = Storage<kY>;
  using Loaded = Words<kWordsOf<kX, kItems>>;
  static constexpr int kRowsAtOnce = rows_at_once(kWindows, Cfg::value.aligned);
  static constexpr bool kParks = Cfg::value.path == Path::parked;
  static constexpr bool kInCluster = Cfg::value.path == Path::cluster;
  static constexpr bool kHinted = Cfg::value.path == Path::split;
  using Stored = Words<RowWriter<kY>::kWords>;
};

// What both kinds know: `cols` columns, of which the group's vectors number w, and this lane's,
// begin where these say.
template <class Cfg>
struct PartShape {
  int cols;

  // Lanes of the group, a power of two, and which of them this is.
  LK_DEVICE int lanes() const { return kWholeWarp ? kWarpThreads : lanes_; }
  LK_DEVICE int lane() const { return int(threadIdx.x) & (lanes() - 1); }
  LK_DEVICE int group_column(int w) const { return w * lanes() * Vectors<Cfg>::kItems; }
  LK_DEVICE int column(int w) const { return group_column(w) + lane() * Vectors<Cfg>::kItems; }

 protected:
  static constexpr bool kWholeWarp = Cfg::value.windows > 1;
  LK_DEVICE void shape(int columns, int group) {
    cols = columns;
    lanes_ = group;
  }

 private:
  int lanes_;
};

template <class Cfg>
class AlignedPart : public PartShape<Cfg> {
 public:
  using V = Vectors<Cfg>;

  // The columns [first, first + columns) of row r.
  LK_DEVICE void locate(const Params& p, std::int64_t r, std::int64_t first, int columns,
                        int group) {
    this->shape(columns, group);
    x_ = static_cast<const typename V::In::Element*>(p.x) + r * p.x_row_stride + first;
    y_ = static_cast<typename V::Out::Element*>(p.y) + r * p.y_row_stride + first;
  }

  // What the L2 shall do with the row: where kHinted, before anything else.
  LK_DEVICE void hint(ptx::CachePolicy load, ptx::CachePolicy store) {
    load_policy_ = load;
    store_policy_ = store;
  }

  LK_DEVICE void begin(int) {}
  // Vectors w, w + 1, ... of this lane. Waits for nothing. Beyond the end they are unspecified.
  template <int kCount>
  LK_DEVICE void fetch(int w, typename V::Loaded (&words)[kCount]) const {
    const bool whole = this->group_column(w + kCount) <= this->cols;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      words[i] = {};
      const int c = this->column(w + i);
      if (whole || c < this->cols) words[i] = load(x_ + c);
    }
  }
  template <int kCount>
  LK_DEVICE void realign(int, typename V::Loaded (&)[kCount]) {}
  LK_DEVICE void begin_store() {}
  LK_DEVICE void put(int w, const typename V::Stored& words) {
    const int c = this->column(w);
    if (c >= this->cols) return;
    if constexpr (V::kHinted) {
      store_vector<RowWriter<V::kY>::kWords>(y_ + c, words, store_policy_);
    } else {
      store_vector<RowWriter<V::kY>::kWords>(y_ + c, words);
    }
  }
  LK_DEVICE void finish(int) {}

 private:
  LK_DEVICE typename V::Loaded load(const typename V::In::Element* x) const {
    if constexpr (V::kHinted) return load_vector<kWordsOf<V::kX, V::kItems>>(x, load_policy_);
    return load_vector<kWordsOf<V::kX, V::kItems>>(x);
  }

  ptx::CachePolicy load_policy_, store_policy_;
  const typename V::In::Element* x_;
  typename V::Out::Element* y_;
};

template <class Cfg>
class RealignedPart : public PartShape<Cfg> {
 public:
  using V = Vectors<Cfg>;

  LK_DEVICE void locate(const Params& p, std::int64_t r, std::int64_t first, int columns,
                        int group) {
    this->shape(columns, group);
    y_ = static_cast<typename V::Out::Element*>(p.y) + r * p.y_row_stride + first;
    in_ = Reader(segment(p, r, first, columns), this->lane(), group);
  }

  LK_DEVICE void hint(ptx::CachePolicy, ptx::CachePolicy) {}
  // Before the first realign: vectors [0, end) will be.
  LK_DEVICE void begin(int end) { in_.begin(this->group_column(end)); }
  template <int kCount>
  LK_DEVICE void fetch(int w, typename V::Loaded (&words)[kCount]) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) words[i] = in_.fetch(this->group_column(w + i));
  }
  // What was fetched becomes the vectors. The last ones of the part are the first to go.
  template <int kCount>
  LK_DEVICE void realign(int w, typename V::Loaded (&words)[kCount]) {
#pragma unroll
    for (int i = kCount - 1; i >= 0; --i) {
      words[i] = in_.realign(this->group_column(w + i), words[i]);
    }
  }
  LK_DEVICE void begin_store() { out_ = Writer(y_, this->cols, this->lane(), this->lanes()); }
  // The first vector is the first to go.
  LK_DEVICE void put(int w, const typename V::Stored& words) {
    out_.put(this->group_column(w), words);
  }
  LK_DEVICE void finish(int end) { out_.finish(this->group_column(end)); }

 private:
  static constexpr bool kWholeWarp = PartShape<Cfg>::kWholeWarp;

  // In place, others may be writing what lies beside the row, or beside the columns if CTAs share
  // it; nobody writes a row of a CTA before all of it is loaded.
  static LK_DEVICE Segment<V::kX> segment(const Params& p, std::int64_t r, std::int64_t first,
                                          int columns) {
    const auto* x = static_cast<const typename V::In::Element*>(p.x) + r * p.x_row_stride + first;
    if (!p.in_place) return make_segment<V::kX>(x, columns, p.x, p.x_end);
    if (Cfg::value.path == Path::block || Cfg::value.path == Path::parked) {
      return make_segment<V::kX>(x, columns, x - first, x - first + p.cols);
    }
    return make_segment<V::kX>(x, columns, x, x + columns);
  }

  using Reader =
      std::conditional_t<kWholeWarp, WordReader<V::kX, V::kItems>, RowReader<V::kX, V::kItems>>;
  using Writer = RowWriter<V::kY, kWholeWarp>;
  typename V::Out::Element* y_;
  Reader in_;
  Writer out_;
};

template <class Cfg>
using Part = std::conditional_t<Cfg::value.aligned, AlignedPart<Cfg>, RealignedPart<Cfg>>;

}  // namespace libkernels::inline LK_BACKEND::op::softmax
