// Softmax of what a warp owns of a row with unit column strides: kWindows vectors a lane in
// registers. Every generation's kernels are made of this.
#pragma once

#include "kernels/common/row_writer.cuh"
#include "kernels/softmax/softmax_math.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// What an instantiation fixes. Each generation has its own kConfigs[] of these.
struct Config {
  DType x_type, y_type;
  Path path;
  int windows;      // vectors that a thread holds in registers
  int threads;      // of a CTA, at most
  int ctas_per_sm;  // that must fit: bounds the registers
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
};

// Columns of row r that a warp, or a group of its lanes, owns.
template <class Cfg>
struct Part {
  using V = Vectors<Cfg>;

  std::int64_t row, first;  // `cols` columns from `first` on
  int cols, lane, lanes;    // of `lanes` lanes, a power of two
  RowReader<V::kX, V::kItems> in;

  LK_DEVICE Part(const Params& p, std::int64_t r, std::int64_t first_column, int columns, int group)
      : row(r),
        first(first_column),
        cols(columns),
        lane(int(threadIdx.x) & (group - 1)),
        lanes(group),
        in(segment(p, r, first_column, columns), lane, lanes) {}

  LK_DEVICE RowWriter<V::kY> writer(const Params& p) const {
    auto* y = static_cast<typename V::Out::Element*>(p.y) + row * p.y_row_stride + first;
    return {y, cols, lane, lanes};
  }

  // In place, others may be writing what lies beside the columns.
  static LK_DEVICE Segment<V::kX> segment(const Params& p, std::int64_t r, std::int64_t first,
                                          int columns) {
    const auto* x = static_cast<const typename V::In::Element*>(p.x) + r * p.x_row_stride + first;
    return p.in_place ? make_segment<V::kX>(x, columns, x, x + columns)
                      : make_segment<V::kX>(x, columns, p.x, p.x_end);
  }

  // Where the group's vectors number w begin, and this lane's.
  LK_DEVICE int group_column(int w) const { return w * lanes * V::kItems; }
  LK_DEVICE int column(int w) const { return group_column(w) + lane * V::kItems; }
};

// Loaded columns become values: in two steps, since only few scales need the first.
template <class Cfg>
LK_DEVICE void turn_values(float turn, float (&v)[Vectors<Cfg>::kItems]) {
#pragma unroll
  for (int i = 0; i < Vectors<Cfg>::kItems; ++i) v[i] *= turn;
}
template <class Cfg>
LK_DEVICE void values_of(const typename Vectors<Cfg>::Loaded& words, int c, int cols,
                         const Exponent& e, float (&v)[Vectors<Cfg>::kItems]) {
  using V = Vectors<Cfg>;
  unpack_columns<V::kX, V::kItems>(words, v);
  if (e.turn != 1.0f) turn_values<Cfg>(e.turn, v);
  mask_columns(v, c, cols, kMinusInfinity);
}

template <class Cfg>
LK_DEVICE Words<RowWriter<Cfg::value.y_type>::kWords> packed(
    const float (&v)[Vectors<Cfg>::kItems]) {
  using Out = typename Vectors<Cfg>::Out;
  Words<RowWriter<Cfg::value.y_type>::kWords> words;
#pragma unroll
  for (int i = 0; i < RowWriter<Cfg::value.y_type>::kWords; ++i) {
    words.v[i] = Out::pack(v + i * Out::kPerWord);
  }
  return words;
}

// A lane's vectors in registers: values, then differences, then results.
template <class Cfg>
struct Held {
  using V = Vectors<Cfg>;
  float v[V::kWindows][V::kItems];

  // All loads are under way before the first is waited for. The part's `in` has begun behind them.
  LK_DEVICE void load(Part<Cfg>& part, const Exponent& e) {
    typename V::Loaded words[V::kWindows];
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) words[w] = part.in.fetch(part.group_column(w));
#pragma unroll
    for (int w = V::kWindows - 1; w >= 0; --w) {
      words[w] = part.in.realign(part.group_column(w), words[w]);
      unpack_columns<V::kX, V::kItems>(words[w], v[w]);
    }
    if (e.turn != 1.0f) {
#pragma unroll
      for (int w = 0; w < V::kWindows; ++w) turn_values<Cfg>(e.turn, v[w]);
    }
    if (part.group_column(V::kWindows) <= part.cols) return;
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      mask_columns(v[w], part.column(w), part.cols, kMinusInfinity);
    }
  }
  LK_DEVICE void load_alone(Part<Cfg>& part, const Exponent& e) {
    part.in.begin(part.group_column(V::kWindows));
    load(part, e);
  }

  LK_DEVICE float most() const {
    float of_window[V::kWindows];
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) of_window[w] = reduce_array<MaxNaN>(v[w]);
    return reduce_array<MaxNaN>(of_window);
  }

  // Returns the sum of exp(scale (x - m)) and keeps these, or for the logarithm the differences.
  LK_DEVICE float sum(float less, const Exponent& e, bool log) {
    // Code for each form saves a select a value. With fp32 results a CTA's path would spill for it.
    if constexpr (V::kY == DType::f32 && Cfg::value.path == Path::block) return terms(less, e, log);
    return log ? terms(less, e, true) : terms(less, e, false);
  }

  LK_DEVICE void store(const Part<Cfg>& part, RowWriter<V::kY>& out, const Norm& norm) {
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
#pragma unroll
      for (int i = 0; i < V::kItems; ++i) v[w][i] = norm(v[w][i]);
      out.put(part.group_column(w), packed<Cfg>(v[w]));
    }
  }

 private:
  LK_DEVICE float terms(float less, const Exponent& e, bool log) {
    float of_window[V::kWindows];
#pragma unroll
    for (int w = 0; w < V::kWindows; ++w) {
      float term[V::kItems];
#pragma unroll
      for (int i = 0; i < V::kItems; ++i) {
        const float d = difference(v[w][i], less, e);
        term[i] = exponential<V::kY>(d, e);
        v[w][i] = log ? d : term[i];
      }
      of_window[w] = reduce_array<Sum>(term);
    }
    return reduce_array<Sum>(of_window);
  }
};

LK_DEVICE int warp_of_cta() { return int(threadIdx.x) / kWarpThreads; }

// How many of `most` columns from `first` on lie before `end`.
LK_DEVICE int columns_within(std::int64_t first, std::int64_t end, int most) {
  const std::int64_t left = end - first;
  return left <= 0 ? 0 : left < most ? int(left) : most;
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
