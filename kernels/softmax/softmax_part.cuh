// Softmax: the columns of a row that a warp, or a group of its lanes, owns, and how they are loaded
// and stored. Every generation's kernels for unit column strides are made of this.
//
// WarpPart serves rows of several vectors a lane, however they are aligned. Of shorter rows, of one
// vector a lane, AlignedPart serves those of whole aligned vectors, RealignedPart all others; both
// give lane i of the group vector i, so that sums do not depend on which it is.
#pragma once

#include <type_traits>

#include "kernels/common/row_writer.cuh"
#include "kernels/softmax/softmax_words.cuh"

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
  static constexpr bool kWholeWarp = kWindows > 1;  // shares a row
  static constexpr int kLoadedWords = kWordsOf<kX, kItems>;
  static constexpr int kStoredWords = RowWriter<kY>::kWords;
  using Stored = Words<kStoredWords>;
};

// 0, which the compiler does not know: what is computed with it is computed for each row or chunk,
// instead of once and held in registers.
LK_DEVICE int zero_of(std::int64_t index) { return int(index >> 62); }

// How a row of vectors begins at p.
LK_DEVICE Access access_of(const void* p, std::uint32_t vector_bytes) {
  const std::uint32_t off = phase_of(p, vector_bytes);
  return off == 0 ? Access::vectors : off % 4 == 0 ? Access::shifted : Access::elements;
}

// A vector: aligned, of words, or beginning within a word.
template <class V>
LK_DEVICE typename V::Loaded load_words_of(const typename V::In::Element* x) {
  typename V::Loaded words;
#pragma unroll
  for (int i = 0; i < V::kLoadedWords; ++i) {
    words.v[i] = ptx::ld_global(reinterpret_cast<const std::uint32_t*>(x) + i);
  }
  return words;
}
template <class V>
LK_DEVICE typename V::Loaded load_halves_of(const typename V::In::Element* x) {
  if constexpr (V::In::kPerWord == 1) return load_words_of<V>(x);
  std::uint32_t w[V::kLoadedWords + 1];
  w[0] = std::uint32_t(ptx::ld_global(x)) << 16;
#pragma unroll
  for (int i = 1; i < V::kLoadedWords; ++i) {
    w[i] = ptx::ld_global(reinterpret_cast<const std::uint32_t*>(x + 1) + i - 1);
  }
  w[V::kLoadedWords] = ptx::ld_global(x + V::kItems - 1);
  typename V::Loaded words;
#pragma unroll
  for (int i = 0; i < V::kLoadedWords; ++i) words.v[i] = ptx::shf_r_wrap_b32(w[i], w[i + 1], 16);
  return words;
}
// The vector of which lane from + e has element e.
template <class V>
LK_DEVICE typename V::Loaded gathered(typename V::In::Element element, int from) {
  std::uint32_t word = element;
  if constexpr (V::In::kPerWord == 2) word |= ptx::shfl_sync_down(word, 1) << 16;
  typename V::Loaded words;
#pragma unroll
  for (int i = 0; i < V::kLoadedWords; ++i) {
    words.v[i] = ptx::shfl_sync_idx(word, unsigned(from + i * V::In::kPerWord));
  }
  return words;
}
// Element e of the vector of lane `from`; above it may be something else.
template <class V>
LK_DEVICE std::uint32_t scattered(const typename V::Stored& words, int from, int e) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < V::kStoredWords; ++i) {
    const std::uint32_t v = ptx::shfl_sync_idx(words.v[i], unsigned(from));
    word = e / V::Out::kPerWord == i ? v : word;
  }
  return V::Out::kPerWord == 2 && e % 2 != 0 ? word >> 16 : word;
}

// Of short rows: the columns that a group of lanes owns, a vector each.
template <class Cfg>
struct PartShape {
  using V = Vectors<Cfg>;
  int cols;

  // Lanes of the group, a power of two, and which of them this is.
  LK_DEVICE int lanes() const { return lanes_; }
  LK_DEVICE int lane() const { return int(threadIdx.x) & (lanes() - 1); }
  LK_DEVICE int column() const { return lane() * V::kItems; }

  // What only WarpPart needs.
  LK_DEVICE void begin_store(int) {}
  template <int>
  LK_DEVICE int tail_window(int) const {
    return -1;
  }
  template <int>
  LK_DEVICE void put_tail(int, const typename V::Stored&) const {}

 protected:
  LK_DEVICE void shape(int columns, int group) {
    cols = columns;
    lanes_ = group;
  }
  // Loaded columns become values, still packed; beyond the last one -inf.
  LK_DEVICE void make_values(typename V::Loaded& words, float turn) const {
    if (turn != 1.0f) turn_words<V::kX>(turn, words);
    if (lanes() * V::kItems <= cols) return;
    mask_words<V::kX>(words, [&](int e) { return column() + e < cols; });
  }

 private:
  int lanes_;
};

template <class Cfg>
class AlignedPart : public PartShape<Cfg> {
 public:
  using V = Vectors<Cfg>;
  template <int>
  struct Batch {
    typename V::Loaded words[1];
  };

  // The columns [first, first + columns) of row r.
  LK_DEVICE void locate(const Params& p, std::int64_t r, std::int64_t first, int columns,
                        int group) {
    this->shape(columns, group);
    x_ = static_cast<const typename V::In::Element*>(p.x) + r * p.x_row_stride + first;
    y_ = static_cast<typename V::Out::Element*>(p.y) + r * p.y_row_stride + first;
  }

  // Waits for nothing.
  LK_DEVICE void fetch(int, Batch<1>& batch) const {
    batch.words[0] = {};
    if (this->column() < this->cols) {
      batch.words[0] = load_vector<V::kLoadedWords>(x_ + this->column());
    }
  }
  LK_DEVICE void arrive(int, Batch<1>& batch, float turn) {
    this->make_values(batch.words[0], turn);
  }
  template <int kCount>
  LK_DEVICE void put(int, int, const typename V::Stored& words) {
    if (this->column() < this->cols) store_vector<V::kStoredWords>(y_ + this->column(), words);
  }

 private:
  const typename V::In::Element* x_;
  typename V::Out::Element* y_;
};

template <class Cfg>
class RealignedPart : public PartShape<Cfg> {
 public:
  using V = Vectors<Cfg>;
  template <int>
  struct Batch {
    typename V::Loaded words[1];
  };

  LK_DEVICE void locate(const Params& p, std::int64_t r, std::int64_t first, int columns,
                        int group) {
    this->shape(columns, group);
    y_ = static_cast<typename V::Out::Element*>(p.y) + r * p.y_row_stride + first;
    const auto* x = static_cast<const typename V::In::Element*>(p.x) + r * p.x_row_stride + first;
    // In place, others may be writing what lies beside the row.
    in_ = Reader(p.in_place ? make_segment<V::kX>(x, columns, x, x + columns)
                            : make_segment<V::kX>(x, columns, p.x, p.x_end),
                 this->lane(), group);
  }

  LK_DEVICE void fetch(int, Batch<1>& batch) const { batch.words[0] = in_.fetch(0); }
  LK_DEVICE void arrive(int, Batch<1>& batch, float turn) {
    in_.begin(this->lanes() * V::kItems);
    batch.words[0] = in_.realign(0, batch.words[0]);
    this->make_values(batch.words[0], turn);
  }
  template <int kCount>
  LK_DEVICE void put(int, int, const typename V::Stored& words) {
    RowWriter<V::kY> out(y_, this->cols, this->lane(), this->lanes());
    out.put(0, words);
    out.finish(this->lanes() * V::kItems);
  }

 private:
  using Reader = RowReader<V::kX, V::kItems>;
  typename V::Out::Element* y_;
  Reader in_;
};

// Of rows of several vectors a lane: the columns that a whole warp owns, in pieces of kCount
// vectors a lane. One piece is in registers; of those beyond, each is a piece of its own.
//
// The vectors of a piece are y's aligned ones, from the one in which the piece begins: column c is
// element c + phase_ of them. What would be beyond the last of them, where the piece ends within a
// vector, comes first, before the piece begins. So the elements are the columns in a circle, turned
// by the phase: sums that do not depend on that (reduce_cyclic) have the same bits however the row
// is aligned, and nothing is realigned where x and y have the same phase. No lane reads or writes
// what is not the piece's: the vectors in which it begins and ends go by element, a lane each.
template <class Cfg>
class WarpPart {
 public:
  using V = Vectors<Cfg>;
  using In = typename V::In::Element;
  using Out = typename V::Out::Element;

  // What is under way.
  template <int kCount>
  struct Batch {
    typename V::Loaded words[kCount];
    In edge;
  };

  LK_DEVICE void locate(const Params& p, std::int64_t r, std::int64_t first, int columns, int) {
    lane_ = int(threadIdx.x) % kWarpThreads + zero_of(r | first);
    cols_ = columns;
    x_ = static_cast<const In*>(p.x) + r * p.x_row_stride + first;
    y_ = static_cast<Out*>(p.y) + r * p.y_row_stride + first;
    phase_ = int(phase_of(y_, kVectorBytes) / sizeof(Out));
    access_ = access_of(x_ - phase_, sizeof(typename V::Loaded));
  }

  // What the L2 shall do with the piece: where kHinted, before anything else.
  LK_DEVICE void hint(ptx::CachePolicy load, ptx::CachePolicy store) {
    load_policy_ = load;
    store_policy_ = store;
  }

  // Vectors w, w + 1, ... of each lane. Waits for nothing where the phases are the same.
  template <int kCount>
  LK_DEVICE void fetch(int w, Batch<kCount>& batch) const {
    const Piece<kCount> piece(*this, w);
    const In* x = x_ + w * kSlots;
    if (access_ == Access::vectors) {
      load(piece, x, batch, [this](const In* from) { return load_whole(from); });
    } else if (V::In::kPerWord == 1 || access_ == Access::shifted) {
      load(piece, x, batch, load_words_of<V>);
    } else {
      load(piece, x, batch, load_halves_of<V>);
    }
    batch.edge = In(WordOps<V::kX>::kFiller);
    if (phase_ != 0 || piece.tail != 0) {
      const int c = piece.column_of_edge(phase_);
      if (c >= 0 && c < piece.cols) batch.edge = ptx::ld_global(x + c);
    }
  }

  // What was fetched becomes values, still packed; beyond the columns -inf.
  template <int kCount>
  LK_DEVICE void arrive(int w, Batch<kCount>& batch, float turn) const {
    const Piece<kCount> piece(*this, w);
    if (phase_ != 0) select_words(lane() == 0, gathered<V>(batch.edge, 0), batch.words[0]);
    if (piece.tail != 0) {
      const typename V::Loaded tail = gathered<V>(batch.edge, V::kItems);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {  // a register array must not be indexed at run time
        select_words(i == piece.tail_window() && lane() == piece.tail_lane(), tail, batch.words[i]);
      }
    }
    if (turn == 1.0f) return;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      turn_words<V::kX>(turn, batch.words[i]);
      mask_words<V::kX>(batch.words[i], [&](int e) {
        const int c = first_column() + i * kSlots + e;
        return c + (c < 0 ? kCount * kSlots : 0) < piece.cols;
      });
    }
  }

  // `zero` is 0, which the compiler does not know: what follows from these is computed again.
  LK_DEVICE void begin_store(int zero) {
    cols_ += zero;
    lane_ = int(threadIdx.x) % kWarpThreads + zero;
    phase_ = int(phase_of(y_, kVectorBytes) / sizeof(Out)) + zero;
  }
  // Vector i of the piece that begins with vector w. All lanes of the warp execute it.
  template <int kCount>
  LK_DEVICE void put(int w, int i, const typename V::Stored& words) const {
    const Piece<kCount> piece(*this, w);
    Out* y = y_ + w * kSlots;
    const int c = first_column();
    if ((i > 0 || c >= 0) && piece.cols - c >= i * kSlots + V::kItems) {
      if constexpr (V::kHinted) {
        store_vector<V::kStoredWords>(y + c + i * kSlots, words, store_policy_);
      } else {
        store_vector<V::kStoredWords>(y + c + i * kSlots, words);
      }
    }
    if (i == 0 && phase_ != 0) scatter(words, 0, y, piece.column_of_head(phase_), piece.cols);
  }
  // Which vector of the piece ends it and is no whole one, so that put_tail must follow; -1: none.
  template <int kCount>
  LK_DEVICE int tail_window(int w) const {
    return Piece<kCount>(*this, w).tail_window();
  }
  template <int kCount>
  LK_DEVICE void put_tail(int w, const typename V::Stored& words) const {
    const Piece<kCount> piece(*this, w);
    scatter(words, piece.tail_lane(), y_ + w * kSlots, piece.column_of_tail(lane()), piece.cols);
  }

 private:
  static constexpr int kSlots = kWarpThreads * V::kItems;  // of a vector a lane

  LK_DEVICE typename V::Loaded load_whole(const In* x) const {
    if constexpr (V::kHinted) return load_vector<V::kLoadedWords>(x, load_policy_);
    return load_vector<V::kLoadedWords>(x);
  }
  LK_DEVICE int lane() const { return lane_; }
  // Of the first vector; before 0 where the piece begins, or ends, within it.
  LK_DEVICE int first_column() const { return lane() * V::kItems - phase_; }

  template <int kCount>
  struct Piece {
    int cols;  // 0 or less: none
    int tail;  // elements of the last vector, which is no whole one and not the first
    int end;   // element that follows the last column
    int lane_;

    LK_DEVICE Piece(const WarpPart& part, int w) {
      lane_ = part.lane_;
      const int left = part.cols_ - w * kSlots;
      cols = left < kCount * kSlots ? left : kCount * kSlots;
      end = cols + part.phase_;
      tail = cols > 0 && end < kCount * kSlots ? end % V::kItems : 0;
    }
    LK_DEVICE bool whole() const { return cols == kCount * kSlots; }
    LK_DEVICE int tail_window() const { return tail != 0 ? end / kSlots : -1; }
    LK_DEVICE int tail_lane() const { return end / V::kItems % kWarpThreads; }
    // Lane e has element e of the first vector, lane kItems + e element e of the last one.
    LK_DEVICE int column_of_head(int phase) const {
      return lane_ < V::kItems ? lane_ - phase + (lane_ < phase ? kCount * kSlots : 0) : -1;
    }
    LK_DEVICE int column_of_tail(int e) const { return e < tail ? cols - tail + e : -1; }
    LK_DEVICE int column_of_edge(int phase) const {
      if (lane_ >= V::kItems) return column_of_tail(lane_ - V::kItems);
      return phase != 0 ? column_of_head(phase) : -1;
    }
  };

  template <int kCount, class Load>
  LK_DEVICE void load(const Piece<kCount>& piece, const In* x, Batch<kCount>& batch,
                      Load load) const {
    const int c = first_column();
    x += c;
    if (piece.whole()) {
      batch.words[0] = filler_words<V::kX, V::kLoadedWords>();
      if (c >= 0) batch.words[0] = load(x);
#pragma unroll
      for (int i = 1; i < kCount; ++i) batch.words[i] = load(x + i * kSlots);
      return;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      batch.words[i] = filler_words<V::kX, V::kLoadedWords>();
      if ((i > 0 || c >= 0) && piece.cols - c >= i * kSlots + V::kItems) {
        batch.words[i] = load(x + i * kSlots);
      }
    }
  }
  // Element e of lane `from` by lane e, to column c.
  LK_DEVICE void scatter(const typename V::Stored& words, int from, Out* y, int c, int cols) const {
    const std::uint32_t word = scattered<V>(words, from, lane());
    if (c >= 0 && c < cols) ptx::st_global(y + c, Out(word));
  }

  const In* x_;  // [cols_]
  Out* y_;       // [cols_]
  int lane_, cols_;
  int phase_;      // elements of y between the last vector's begin and its first column
  Access access_;  // of x, where y has its vectors
  ptx::CachePolicy load_policy_, store_policy_;  // kHinted
};

template <class Cfg>
using Part = std::conditional_t<
    Vectors<Cfg>::kWholeWarp, WarpPart<Cfg>,
    std::conditional_t<Cfg::value.aligned, AlignedPart<Cfg>, RealignedPart<Cfg>>>;

}  // namespace libkernels::inline LK_BACKEND::op::softmax
