// GeLU over one window of the output, the work of one thread, on every generation.
//
// A window is Cfg::value.window_bytes of the output at an address that is a multiple of as many.
#pragma once

#include "kernels/common/divide.cuh"
#include "kernels/common/gelu_math.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/gelu/gelu_math_16bit.cuh"
#include "kernels/gelu/gelu_plan.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

// What an instantiation fixes. Each generation has its own kConfigs[] of these.
struct Config {
  DType x_type, y_type;
  Form form;
  int threads;       // of a CTA
  int ctas_per_sm;   // that must fit: bounds the registers
  int window_bytes;  // of the output, one window a thread
};

// The element types and counts of a window.
template <class Cfg>
struct Window {
  using In = Storage<Cfg::value.x_type>;
  using Out = Storage<Cfg::value.y_type>;
  static constexpr int kItems = Cfg::value.window_bytes / int(sizeof(typename Out::Element));
  static constexpr int kInWords = kItems / In::kPerWord;
  static constexpr int kOutWords = kItems / Out::kPerWord;
};

// The form of the configuration's types. It depends on nothing else: an element's bits are the same
// on every path and generation.
template <class Cfg>
LK_DEVICE float evaluate(float x) {
  constexpr DType kIn = Cfg::value.x_type;
  constexpr DType kOut = Cfg::value.y_type;
  constexpr bool kTanh = Cfg::value.form == Form::tanh;
  if constexpr (kIn == DType::f16 && kOut == DType::f16) {
    return kTanh ? gelu_tanh_f16(x) : gelu_erf_f16(x);
  } else if constexpr (kIn == DType::bf16 && kOut == DType::bf16) {
    return kTanh ? gelu_tanh_bf16(x) : gelu_erf_bf16(x);
  } else {
    return kTanh ? gelu_tanh(x) : gelu_erf(x);
  }
}

// All kItems inputs, which lie inside [row, row_end).
template <class Cfg>
LK_DEVICE void load_window(const typename Window<Cfg>::In::Element* x,
                           const typename Window<Cfg>::In::Element* row,
                           const typename Window<Cfg>::In::Element* row_end,
                           float (&v)[Window<Cfg>::kItems]) {
  using W = Window<Cfg>;
  constexpr int kBytes = 4 * W::kInWords;
  const auto* p = reinterpret_cast<const unsigned char*>(x);
  const auto* aligned = p - phase_of(p, kBytes);  // start of the aligned vector that holds *p
  Words<W::kInWords> words;
  if (aligned == p) {
    words = load_vector<W::kInWords>(p);
  } else if (aligned >= reinterpret_cast<const unsigned char*>(row) &&
             aligned + 2 * kBytes <= reinterpret_cast<const unsigned char*>(row_end)) {
    words = load_realigned<W::kInWords>(p);
  } else {  // next to an end of the row: the second vector may not be ours to read
#pragma unroll
    for (int i = 0; i < W::kItems; ++i) v[i] = W::In::decode(ptx::ld_global(x + i));
    return;
  }
#pragma unroll
  for (int i = 0; i < W::kInWords; ++i) W::In::unpack(words.v[i], v + i * W::In::kPerWord);
}

// Window number `item`, counted along the rows.
template <class Cfg, Path kPath>
LK_DEVICE void gelu_window(const Params& p, std::int64_t item) {
  static_assert(kPath == Path::one_row || kPath == Path::rows);
  using W = Window<Cfg>;
  using InElement = typename W::In::Element;
  using OutElement = typename W::Out::Element;

  // One row needs no division (and its per_row is not set).
  const std::int64_t r = kPath == Path::rows ? quotient(item, p.per_row) : 0;
  const std::int64_t w = kPath == Path::rows ? item - r * p.per_row.divisor : item;
  const auto* x_row = static_cast<const InElement*>(p.x) + r * p.x_row_stride;  // [cols]
  auto* y_row = static_cast<OutElement*>(p.y) + r * p.y_row_stride;             // [cols]
  const int phase = int(phase_of(y_row, Cfg::value.window_bytes) / sizeof(OutElement));
  const std::int64_t first = w * W::kItems - phase;  // column of the window's first element

  if (first >= 0 && first + W::kItems <= p.cols) {
    float v[W::kItems];
    load_window<Cfg>(x_row + first, x_row, x_row + p.cols, v);
#pragma unroll
    for (int i = 0; i < W::kItems; ++i) v[i] = evaluate<Cfg>(v[i]);
    Words<W::kOutWords> words;
#pragma unroll
    for (int i = 0; i < W::kOutWords; ++i) words.v[i] = W::Out::pack(v + i * W::Out::kPerWord);
    store_vector<W::kOutWords>(y_row + first, words);
    return;
  }
  // The row begins or ends inside this window (or ended before it). Rolled: it is rare, except for
  // rows of a few elements, and unrolled it would be most of the kernel's code.
#pragma unroll 1
  for (std::int64_t c = first < 0 ? 0 : first; c < first + W::kItems && c < p.cols; ++c) {
    ptx::st_global(y_row + c,
                   W::Out::encode(evaluate<Cfg>(W::In::decode(ptx::ld_global(x_row + c)))));
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
