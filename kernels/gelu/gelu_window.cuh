// GeLU over one window of the output, or one element, the work of one thread, on every generation.
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
  int window_bytes;  // of the output
  Pairs pairs;
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

// Inputs where the form needs them: at or above the least input of a 16-bit tanh form, two at a
// time; as they are for the others. The upper half of a word may be unused.
template <class Cfg>
LK_DEVICE std::uint32_t raise(std::uint32_t word) {
  constexpr DType kIn = Cfg::value.x_type;
  constexpr bool kSame = kIn == Cfg::value.y_type && Cfg::value.form == Form::tanh;
  if constexpr (kSame && kIn == DType::f16) return ptx::max_NaN_f16x2(word, kTanhLeastF16);
  if constexpr (kSame && kIn == DType::bf16) return ptx::max_NaN_bf16x2(word, kTanhLeastBf16);
  return word;
}

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

// One element, in memory at x and y.
template <class Cfg>
LK_DEVICE void gelu_element(const typename Window<Cfg>::In::Element* x,
                            typename Window<Cfg>::Out::Element* y) {
  using W = Window<Cfg>;
  const std::uint32_t word = raise<Cfg>(ptx::ld_global(x));
  const float v = W::In::decode(typename W::In::Element(word));
  ptx::st_global(y, W::Out::encode(evaluate<Cfg>(v)));
}

// A whole window, in registers.
template <class Cfg>
LK_DEVICE Words<Window<Cfg>::kOutWords> gelu_words(const Words<Window<Cfg>::kInWords>& in) {
  using W = Window<Cfg>;
  float v[W::kItems];
#pragma unroll
  for (int i = 0; i < W::kInWords; ++i) W::In::unpack(raise<Cfg>(in.v[i]), v + i * W::In::kPerWord);
#pragma unroll
  for (int i = 0; i < W::kItems; ++i) v[i] = evaluate<Cfg>(v[i]);
  Words<W::kOutWords> out;
#pragma unroll
  for (int i = 0; i < W::kOutWords; ++i) out.v[i] = W::Out::pack(v + i * W::Out::kPerWord);
  return out;
}

// A row of one CTA for its ends and a window a thread of the others.
template <class Cfg>
LK_DEVICE void gelu_row(const Params& p) {
  using W = Window<Cfg>;
  constexpr int kInBytes = 4 * W::kInWords;
  if (blockIdx.x == 0) {
    const auto* x = static_cast<const typename W::In::Element*>(p.x);  // of window 0
    auto* y = static_cast<typename W::Out::Element*>(p.y);             // likewise
#pragma unroll 1
    for (std::int64_t e = threadIdx.x; e < p.ends; e += Cfg::value.threads) {
      const std::int64_t c = e - p.before + (e < p.before ? 0 : p.windows * W::kItems);
      gelu_element<Cfg>(x + c, y + c);
    }
    return;
  }
  const std::int64_t i = std::int64_t(blockIdx.x - 1) * Cfg::value.threads + threadIdx.x;
  if (i >= p.windows) return;
  const auto* x = static_cast<const unsigned char*>(p.x) + i * kInBytes - p.x_phase;
  auto words = load_vector<W::kInWords>(x);
  if (p.x_phase != 0) {
    words = funnel_uniform<W::kInWords>(words, load_vector<W::kInWords>(x + kInBytes), p.x_phase);
  }
  store_vector<W::kOutWords>(static_cast<unsigned char*>(p.y) + i * Cfg::value.window_bytes,
                             gelu_words<Cfg>(words));
}

// Window i of a row of nothing else whose x has the phase of y. A small grid waits for its
// instructions as well as for its data: these are in one piece, some twenty besides the elements'.
template <class Cfg>
LK_DEVICE void gelu_single(const Params& p, std::int64_t i) {
  using W = Window<Cfg>;
  if (i >= p.windows) return;
  const auto* x = static_cast<const unsigned char*>(p.x) + i * (4 * W::kInWords);
  store_vector<W::kOutWords>(static_cast<unsigned char*>(p.y) + i * Cfg::value.window_bytes,
                             gelu_words<Cfg>(load_vector<W::kInWords>(x)));
}

// Windows i and i + threads of such a row. Both loads go out before a result is needed.
template <class Cfg>
LK_DEVICE void gelu_pair(const Params& p, std::int64_t i) {
  using W = Window<Cfg>;
  constexpr std::int64_t kInBytes = 4 * W::kInWords, kOutBytes = Cfg::value.window_bytes;
  const auto* x = static_cast<const unsigned char*>(p.x) + i * kInBytes;
  auto* y = static_cast<unsigned char*>(p.y) + i * kOutBytes;
  if (i + Cfg::value.threads < p.windows) [[likely]] {
    const auto first = load_vector<W::kInWords>(x);
    const auto second = load_vector<W::kInWords>(x + Cfg::value.threads * kInBytes);
    store_vector<W::kOutWords>(y, gelu_words<Cfg>(first));
    store_vector<W::kOutWords>(y + Cfg::value.threads * kOutBytes, gelu_words<Cfg>(second));
  } else if (i < p.windows) {
    store_vector<W::kOutWords>(y, gelu_words<Cfg>(load_vector<W::kInWords>(x)));
  }
}

// The kInWords words at x, all inside [row, row_end).
template <class Cfg>
LK_DEVICE Words<Window<Cfg>::kInWords> load_window(
    const typename Window<Cfg>::In::Element* x, const typename Window<Cfg>::In::Element* row,
    const typename Window<Cfg>::In::Element* row_end) {
  using W = Window<Cfg>;
  constexpr int kBytes = 4 * W::kInWords;
  const auto* p = reinterpret_cast<const unsigned char*>(x);
  const auto* aligned = p - phase_of(p, kBytes);  // start of the aligned vector that holds *p
  if (aligned == p) return load_vector<W::kInWords>(p);
  if (aligned >= reinterpret_cast<const unsigned char*>(row) &&
      aligned + 2 * kBytes <= reinterpret_cast<const unsigned char*>(row_end)) {
    return load_realigned<W::kInWords>(p);
  }
  // Next to an end of the row: the second vector may not be ours to read.
  Words<W::kInWords> words;
#pragma unroll
  for (int i = 0; i < W::kInWords; ++i) {
    words.v[i] = ptx::ld_global(x + i * W::In::kPerWord);
    if constexpr (W::In::kPerWord == 2) {
      words.v[i] |= std::uint32_t(ptx::ld_global(x + 2 * i + 1)) << 16;
    }
  }
  return words;
}

// Window number `item` of Path::rows, counted along the rows.
template <class Cfg>
LK_DEVICE void gelu_window(const Params& p, std::int64_t item) {
  using W = Window<Cfg>;
  const std::int64_t r = quotient(item, p.per_row);
  const std::int64_t w = item - r * p.per_row.divisor;
  const auto* x_row =
      static_cast<const typename W::In::Element*>(p.x) + r * p.x_row_stride;       // [cols]
  auto* y_row = static_cast<typename W::Out::Element*>(p.y) + r * p.y_row_stride;  // [cols]
  const int phase = int(phase_of(y_row, Cfg::value.window_bytes) / (4 / W::Out::kPerWord));
  const std::int64_t first = w * W::kItems - phase;  // column of the window's first element

  if (first >= 0 && first + W::kItems <= p.cols) {
    const auto words = load_window<Cfg>(x_row + first, x_row, x_row + p.cols);
    store_vector<W::kOutWords>(y_row + first, gelu_words<Cfg>(words));
    return;
  }
  // The row begins or ends inside this window (or ended before it). Rolled: it is rare, except for
  // rows of a few elements, and unrolled it would be most of the kernel's code.
#pragma unroll 1
  for (std::int64_t c = first < 0 ? 0 : first; c < first + W::kItems && c < p.cols; ++c) {
    gelu_element<Cfg>(x_row + c, y_row + c);
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
