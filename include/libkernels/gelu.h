// GeLU: y[r, c] = gelu(x[r, c]).
//
//   tanh:  gelu(x) = 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))
//   erf:   gelu(x) = 0.5 x (1 + erf(x / sqrt 2))
//
// The second is x times the normal distribution function; the first approximates it to about 5e-4
// (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016, arXiv:1606.08415; 0.79788456 is
// sqrt(2 / pi)).
//
// Example, on a stream:
//
//   float *px, *py;  // device memory, rows * cols elements each
//   libkernels::GeluOptions options;
//   options.form = libkernels::GeluForm::erf;
//   libkernels::gelu(libkernels::row_major(px, rows, cols),
//                    libkernels::row_major(py, rows, cols), options, stream);
//
// Shapes    x and y have the same rows and cols; vectors count as one row. No elements: success,
//           nothing is launched and the pointers may be null. All arithmetic on extents and strides
//           is 64-bit; a view has fewer than 2^56 elements and spans fewer than 2^56 bytes.
// Strides   any >= 0, in elements; one unit stride is the fast case and all others are correct. The
//           stride of an extent <= 1 is ignored. 0 (broadcast) is for x only, and the elements of y
//           must not overlap. Pointers need the alignment of one element, no more.
// Types     x -> y: f32 -> f32; f16 -> f16 or f32; bf16 -> bf16 or f32. Arithmetic is fp32 with one
//           rounding to nearest even at the store.
// Accuracy  fp32, against the exact value g: 4 ulp for x >= -1. Below, the relative error is at
//           most 2^-23 (4 + x^2) (erf) or 2^-23 (4 + 4 |u|) with u = 0.79788456 (x + 0.044715 x^3)
//           (tanh), plus 2^-149 absolute: the negative tail does not cancel. 16-bit outputs: that
//           bound plus half an ulp of their type. The 4 ulp are measured, not proven: all 2^32
//           inputs on an H200 stay below 3.27 (tanh) and 3.18 ulp (erf), and they hold wherever the
//           GPU's ex2 and rcp instructions round correctly. With these at the very edge of their
//           documented errors it can be 4.9 ulp; the tests then allow twice the bounds above.
// Values    NaN -> NaN, +inf -> +inf, -inf -> 0 of either sign, +-0 -> +-0. Subnormals are kept.
// Bits      an element's bits depend on its value, the types and the form alone: not on shape,
//           position, alignment, stride, stream or SM count, and, for one version of the library,
//           not on which generation's kernel runs.
// In place  y may be x itself: same pointer, strides and type. Any other overlap of their address
//           ranges is refused, interleaved views included.
// Traffic   x is read once and y written once. No scratch memory.
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

enum class GeluForm : std::int32_t {
  tanh = LK_GELU_TANH,
  erf = LK_GELU_ERF,
};

struct GeluOptions {
  GeluForm form = GeluForm::tanh;
  int max_sms = 0;                  // use at most this many SMs' worth of CTAs; 0: all
  bool pdl = false;                 // launch as a programmatic dependent of the previous kernel
  void* workspace = nullptr;        // device scratch; no GeLU needs any
  std::size_t workspace_bytes = 0;  // its size
};

namespace detail {

inline lk_gelu_options c_options(const GeluOptions& options) {
  lk_gelu_options c = with_call_options<lk_gelu_options>(options);
  c.form = static_cast<lk_gelu_form>(options.form);
  return c;
}

}  // namespace detail

// Enqueues y = gelu(x) on `stream` (null: the legacy default stream). X is a MatrixView<T>, a
// MatrixView<const T>, a VectorView of either, or an mdspan; Y likewise, with mutable elements.
template <class X, class Y>
void gelu(const X& x, const Y& y, const GeluOptions& options = {}, cudaStream_t stream = nullptr) {
  static_assert(detail::view_rank_v<X> == detail::view_rank_v<Y>,
                "gelu: x and y are both matrices or both vectors");
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_gelu_options c = detail::c_options(options);
  throw_if_failed(lk_gelu(&cx, &cy, &c, stream));
}

// Bytes of device scratch with which gelu(x, y, options) allocates nothing: 0.
template <class X, class Y>
std::size_t gelu_workspace_size(const X& x, const Y& y, const GeluOptions& options = {}) {
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_gelu_options c = detail::c_options(options);
  std::size_t bytes = 0;
  throw_if_failed(lk_gelu_workspace_size(&cx, &cy, &c, &bytes));
  return bytes;
}

// Which kernel gelu(x, y, options) would launch on the current device, and why (explain.h).
template <class X, class Y>
std::string gelu_explain(const X& x, const Y& y, const GeluOptions& options = {}) {
  const lk_cmatrix cx = detail::input(x);
  const lk_matrix cy = detail::output(y);
  const lk_gelu_options c = detail::c_options(options);
  return detail::read_explanation([&](char* buffer, std::size_t capacity, std::size_t* length) {
    return lk_gelu_explain(&cx, &cy, &c, buffer, capacity, length);
  });
}

}  // namespace libkernels
