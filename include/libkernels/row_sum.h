// Row-sum: y[r] = sum over c of x[r, c].
//
// Example, on a stream:
//
//   float *px, *py;  // device memory, rows * cols and rows elements
//   libkernels::row_sum(libkernels::row_major(px, rows, cols),
//                       libkernels::VectorView<float>(py, rows), {}, stream);
//
// The sums of columns are those of the rows of the transpose: x.transposed().
//
// Shapes    x is a matrix; y is a vector with an element a row of x, or a matrix with one column.
//           Without rows: success, nothing is launched and the pointers may be null. Without
//           columns: y becomes 0, and x may be null. All arithmetic on extents and strides is
//           64-bit; a view has fewer than 2^56 elements and spans fewer than 2^56 bytes.
// Strides   any >= 0, in elements. Adjacent columns are the fast case; adjacent rows (a transpose)
//           are read in whole lines, too; all others are correct. The stride of an extent <= 1 is
//           ignored. 0 (broadcast) is for x only, and the elements of y must not overlap. Pointers
//           need the alignment of one element, no more. Memory between the elements of x may be
//           read, never that before its first or after its last; it does not influence the result.
// Types     x -> y: f32 -> f32; f16 -> f16 or f32; bf16 -> bf16 or f32. Arithmetic is fp32 with one
//           rounding to nearest even at the store.
// Accuracy  fp32, against the exact sum of N columns: |error| <= 2^-24 (32 + 4 ceil(log2 N)) times
//           the sum of |x|. No serial chain is longer than 32 additions. 16-bit outputs: that bound
//           plus half an ulp of their type. Integers are exact while all partial sums are below
//           2^24.
// Values    as IEEE additions: NaN -> NaN, +inf with -inf -> NaN, an infinity else -> itself; an
//           f16 output of 65520 or more is +inf. Subnormals are kept. A sum begins at +0, so that
//           a row of only -0 sums to +0.
// Bits      a row's bits depend on its values, N, the types and whether columns are adjacent
//           (column stride 1): not on the number of rows, the row's position, alignment, strides,
//           stream, max_sms or SM count, for one kernel and version of the library. The same call
//           gives the same bits always: nothing is added in the order in which it happens to
//           finish.
// In place  never: y and x are disjoint. Overlaps are judged on address ranges, interleaved views
//           included.
// Traffic   x is read once and y written once, and of long rows (more than 128 KB; more than 4096
//           columns that are not adjacent) 4 bytes per chunk of 8 KB or more are written and read.
// Scratch   those 4 bytes per chunk: row_sum_workspace_size tells. Without a workspace they are
//           allocated on the stream. Two calls that may run at once need two workspaces.
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

struct RowSumOptions {
  int max_sms = 0;                  // use at most this many SMs' worth of CTAs; 0: all
  bool pdl = false;                 // as in gelu.h: overlaps with the kernel before it (9.0 on)
  void* workspace = nullptr;        // device scratch, 256-byte aligned; null: allocated if needed
  std::size_t workspace_bytes = 0;  // its size
};

namespace detail {

inline lk_row_sum_options c_options(const RowSumOptions& options) {
  return with_call_options<lk_row_sum_options>(options);
}

template <class X>
lk_cmatrix row_sum_input(const X& x) {
  static_assert(view_rank_v<X> == 0 || view_rank_v<X> == 2,
                "row_sum: x is a matrix; of a vector say which way it lies: as_row(), as_column()");
  return input(x);
}

// An element a row: a vector is a column here.
template <class Y>
lk_matrix row_sum_output(const Y& y) {
  if constexpr (view_rank_v<Y> == 1) {
    return output(as_view(y).as_column());
  } else {
    return output(y);
  }
}

}  // namespace detail

// Enqueues y = the sums of the rows of x on `stream` (null: the legacy default stream). X is a
// MatrixView<T>, a MatrixView<const T> or an mdspan of rank 2; Y is a VectorView<T> or an mdspan of
// rank 1, or a matrix with one column, with mutable elements.
template <class X, class Y>
void row_sum(const X& x, const Y& y, const RowSumOptions& options = {},
             cudaStream_t stream = nullptr) {
  const lk_cmatrix cx = detail::row_sum_input(x);
  const lk_matrix cy = detail::row_sum_output(y);
  const lk_row_sum_options c = detail::c_options(options);
  throw_if_failed(lk_row_sum(&cx, &cy, &c, stream));
}

// Bytes of device scratch with which row_sum(x, y, options) allocates nothing.
template <class X, class Y>
std::size_t row_sum_workspace_size(const X& x, const Y& y, const RowSumOptions& options = {}) {
  const lk_cmatrix cx = detail::row_sum_input(x);
  const lk_matrix cy = detail::row_sum_output(y);
  const lk_row_sum_options c = detail::c_options(options);
  std::size_t bytes = 0;
  throw_if_failed(lk_row_sum_workspace_size(&cx, &cy, &c, &bytes));
  return bytes;
}

// Which kernels row_sum(x, y, options) would launch on the current device, and why (explain.h).
template <class X, class Y>
std::string row_sum_explain(const X& x, const Y& y, const RowSumOptions& options = {}) {
  const lk_cmatrix cx = detail::row_sum_input(x);
  const lk_matrix cy = detail::row_sum_output(y);
  const lk_row_sum_options c = detail::c_options(options);
  return detail::read_explanation([&](char* buffer, std::size_t capacity, std::size_t* length) {
    return lk_row_sum_explain(&cx, &cy, &c, buffer, capacity, length);
  });
}

}  // namespace libkernels
