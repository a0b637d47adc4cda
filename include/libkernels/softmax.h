// Softmax of each row: y[r, :] = softmax(scale * x[r, :]), or its logarithm.
//
//   s = scale * x,   m = the largest s of the row
//   softmax:      y[r, c] = exp(s[r, c] - m) / sum over k of exp(s[r, k] - m)
//   log-softmax:  y[r, c] = s[r, c] - m - log(the same sum)
//
// Example, attention scores of head dimension 128, on a stream:
//
//   float *px, *py;  // device memory, rows * cols elements each
//   libkernels::SoftmaxOptions options;
//   options.scale = 0.0883883476f;  // 1 / sqrt(128)
//   libkernels::softmax(libkernels::row_major(px, rows, cols),
//                       libkernels::row_major(py, rows, cols), options, stream);
//
// Shapes    x and y are matrices of the same rows and cols. No elements: success, nothing is
//           launched and the pointers may be null. All arithmetic on extents and strides is 64-bit;
//           a view has fewer than 2^56 elements and spans fewer than 2^56 bytes. To take the
//           softmax along columns, pass transposed views: strided(p, cols, rows, 1, pitch).
// Strides   any >= 0, in elements. Unit column strides are the fast case and all others are
//           correct; of these, unit row strides are the faster ones. The stride of an extent <= 1
//           is ignored. 0 (broadcast) is for x only, and the elements of y must not overlap.
//           Pointers need the alignment of one element, no more.
// Types     x -> y: f32 -> f32; f16 -> f16 or f32; bf16 -> bf16 or f32. Arithmetic is fp32 with one
//           rounding to nearest even at the store.
// Options   scale: any finite number, 0 and negative ones included. The difference x - m is taken
//           before it is scaled, so that large values of x cost no accuracy.
// Accuracy  fp32, softmax: |error| <= 2^-23 (6 + |s - m| + log2 cols) y + 2^-149, and a row sums to
//           1 within 1e-6 max(1, log2 cols). Log-softmax: |error| <= 1e-6 max(1, |y|). 16-bit
//           outputs: these bounds plus half an ulp of their type. With the GPU's ex2, lg2 and rcp
//           instructions at the very edge of their documented errors a result may be twice as far
//           off, a subnormal one by 3 * 2^-149. Subnormal results are kept.
// Values    judged on s: a row with a NaN or with +inf is all NaN; -inf becomes exactly 0 (log:
//           -inf). A row of only -inf is all NaN, or 0 (log: -inf) with neg_inf_row = zero. A
//           negative scale turns -inf into +inf and back, and scale 0 makes either of them NaN. A
//           finite x never counts as infinite, even where scale * x would overflow.
// Bits      on one GPU model a row's bits depend on its values, on cols, the types and the options,
//           and on whether both views have unit column stride: not on the number of rows, position,
//           alignment, pitch, stream or SM count.
// In place  y may be x itself: same pointer, strides and type. Any other overlap of their address
//           ranges is refused, interleaved views included.
// Traffic   x is read once and y written once, for rows with unit column stride of up to 57344
//           columns (16 bits to f32: 32768), and without one of up to 1024. On compute capability
//           9.0 these are 524288 (to f32: 262144) and 8192. Longer rows are read twice and need
//           scratch; adjacent columns soon enough for the L2, up to rows of some megabytes.
// Scratch   options.workspace, of softmax_workspace_size() bytes and 256-byte aligned, or else
//           memory that the call allocates and frees on the stream. Two calls that may run at once
//           need two workspaces: with one they may never end.
// Calls     asynchronous on the stream, on the current device, safe from any thread, and may be
//           captured into a graph from the first call on.
// Errors    invalid_argument for views and options that break the rules above, unsupported for
//           another mix of types or a device that no kernel runs on (compute capability below 8.0),
//           cuda_error for a launch that failed or an error that an earlier one left behind. The
//           first two launch nothing and leave y untouched; after a cuda_error y is undefined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "c_api.h"
#include "error.h"
#include "explain.h"
#include "matrix.h"

namespace libkernels {

// What a row of only -inf becomes.
enum class NegInfRow : std::int32_t {
  nan = LK_NEG_INF_ROW_NAN,
  zero = LK_NEG_INF_ROW_ZERO,  // of the logarithm: -inf
};

struct SoftmaxOptions {
  float scale = 1;   // finite
  bool log = false;  // the logarithm of the softmax
  NegInfRow neg_inf_row = NegInfRow::nan;
  int max_sms = 0;            // use at most this many SMs' worth of CTAs; 0: all
  bool pdl = false;           // ignored by the kernels of this version
  void* workspace = nullptr;  // device scratch, 256-byte aligned; null: allocated on the stream
  std::size_t workspace_bytes = 0;  // its size
};

namespace detail {

inline lk_softmax_options c_options(const SoftmaxOptions& options) {
  lk_softmax_options c = with_call_options<lk_softmax_options>(options);
  c.scale = options.scale;
  c.has_scale = 1;
  c.log = options.log ? 1 : 0;
  c.neg_inf_row = static_cast<lk_neg_inf_row>(options.neg_inf_row);
  return c;
}

}  // namespace detail

// Enqueues y = softmax(scale * x) on `stream` (null: the legacy default stream). X is a
// MatrixView<T>, a MatrixView<const T>, or an mdspan of rank 2; Y likewise, with mutable elements.
// A vector is one row: row_major(p, 1, n).
template <class X, class Y>
void softmax(const X& x, const Y& y, const SoftmaxOptions& options = {},
             cudaStream_t stream = nullptr) {
  static_assert(detail::view_rank_v<X> == 2 && detail::view_rank_v<Y> == 2,
                "softmax: x and y are matrices");
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_softmax_options c = detail::c_options(options);
  throw_if_failed(lk_softmax(&cx, &cy, &c, stream));
}

// Bytes of device scratch with which softmax(x, y, options) allocates nothing: 0 unless rows are
// split.
template <class X, class Y>
std::size_t softmax_workspace_size(const X& x, const Y& y, const SoftmaxOptions& options = {}) {
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_softmax_options c = detail::c_options(options);
  std::size_t bytes = 0;
  throw_if_failed(lk_softmax_workspace_size(&cx, &cy, &c, &bytes));
  return bytes;
}

// Which kernel softmax(x, y, options) would launch on the current device, and why (explain.h).
template <class X, class Y>
std::string softmax_explain(const X& x, const Y& y, const SoftmaxOptions& options = {}) {
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_softmax_options c = detail::c_options(options);
  return detail::read_explanation([&](char* buffer, std::size_t capacity, std::size_t* length) {
    return lk_softmax_explain(&cx, &cy, &c, buffer, capacity, length);
  });
}

}  // namespace libkernels
