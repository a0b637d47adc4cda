// Views of memory on the device: what every operation takes.
//
//   auto x = libkernels::row_major(px, rows, cols);         // MatrixView<float> for a float* px
//   auto t = libkernels::strided(px, cols, rows, 1, cols);  // its transpose, in place
//
// A view owns nothing and copies freely. Extents and strides count elements; element (r, c) is at
// data + r * row_stride + c * col_stride. Strides are >= 0, and 0 (broadcast) for inputs only.
// Checks happen in the operations, not here: any view can be constructed.
//
// Anything of rank 2 (or 1) that has data_handle(), extent(i), stride(i) and a static rank(), as
// std::mdspan and cuda::std::mdspan do, converts to MatrixView (or VectorView), and operations
// accept it as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "c_api.h"
#include "dtype.h"

namespace libkernels {

namespace detail {

// An mdspan whose accessor computes its elements (scaled, conjugated, atomic) has a pointer for a
// handle too, but its memory is not its values. Such accessors do not return a plain reference.
template <class M, class = void>
struct has_plain_elements : std::true_type {};
template <class M>
struct has_plain_elements<M, std::void_t<typename M::reference>>
    : std::is_lvalue_reference<typename M::reference> {};

// What M's data_handle() returns, which for std::mdspan is a reference to a pointer.
template <class M>
using handle_t = std::decay_t<decltype(std::declval<const M&>().data_handle())>;

template <class M, std::size_t Rank, class = void>
struct is_mdspan_like : std::false_type {};
template <class M, std::size_t Rank>
struct is_mdspan_like<
    M, Rank,
    std::void_t<decltype(M::rank()), handle_t<M>,
                decltype(static_cast<std::int64_t>(std::declval<const M&>().extent(0))),
                decltype(static_cast<std::int64_t>(std::declval<const M&>().stride(0)))>>
    : std::bool_constant<M::rank() == Rank && has_plain_elements<M>::value &&
                         std::is_pointer_v<handle_t<M>>> {};
template <class M, std::size_t Rank>
inline constexpr bool is_mdspan_like_v = is_mdspan_like<M, Rank>::value;

// The element type of an mdspan-like M, const included.
template <class M>
using element_t = std::remove_pointer_t<handle_t<M>>;

// From -> To adds const or changes nothing.
template <class From, class To>
inline constexpr bool only_adds_const_v =
    std::is_same_v<From, To> || std::is_same_v<const From, To>;

}  // namespace detail

template <class T>
struct MatrixView {
  using element_type = T;
  static constexpr int kRank = 2;

  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;

  constexpr MatrixView() = default;
  constexpr MatrixView(T* p, std::int64_t r, std::int64_t c, std::int64_t rs, std::int64_t cs)
      : data(p), rows(r), cols(c), row_stride(rs), col_stride(cs) {}

  // MatrixView<float> -> MatrixView<const float>, never back.
  template <class U, std::enable_if_t<std::is_same_v<const U, T>, int> = 0>
  constexpr MatrixView(const MatrixView<U>& v)
      : data(v.data),
        rows(v.rows),
        cols(v.cols),
        row_stride(v.row_stride),
        col_stride(v.col_stride) {}

  template <class M, std::enable_if_t<detail::is_mdspan_like_v<M, 2>, int> = 0,
            std::enable_if_t<detail::only_adds_const_v<detail::element_t<M>, T>, int> = 0>
  constexpr MatrixView(const M& m)
      : data(m.data_handle()),
        rows(static_cast<std::int64_t>(m.extent(0))),
        cols(static_cast<std::int64_t>(m.extent(1))),
        row_stride(static_cast<std::int64_t>(m.stride(0))),
        col_stride(static_cast<std::int64_t>(m.stride(1))) {}

  constexpr MatrixView transposed() const { return {data, cols, rows, col_stride, row_stride}; }

  // For the C ABI. Only views of storage types (dtype.h) convert, and only views of mutable
  // elements to lk_matrix.
  template <class U = T, DType Type = dtype_of<std::remove_const_t<U>>::value>
  constexpr operator lk_cmatrix() const {
    return {data, static_cast<lk_dtype>(Type), rows, cols, row_stride, col_stride};
  }
  template <class U = T, std::enable_if_t<!std::is_const_v<U>, int> = 0,
            DType Type = dtype_of<std::remove_const_t<U>>::value>
  constexpr operator lk_matrix() const {
    return {data, static_cast<lk_dtype>(Type), rows, cols, row_stride, col_stride};
  }
};

template <class M, std::enable_if_t<detail::is_mdspan_like_v<M, 2>, int> = 0>
MatrixView(const M&) -> MatrixView<detail::element_t<M>>;

template <class T>
struct VectorView {
  using element_type = T;
  static constexpr int kRank = 1;

  T* data = nullptr;
  std::int64_t size = 0;
  std::int64_t stride = 1;

  constexpr VectorView() = default;
  constexpr VectorView(T* p, std::int64_t n, std::int64_t s = 1) : data(p), size(n), stride(s) {}

  template <class U, std::enable_if_t<std::is_same_v<const U, T>, int> = 0>
  constexpr VectorView(const VectorView<U>& v) : data(v.data), size(v.size), stride(v.stride) {}

  template <class M, std::enable_if_t<detail::is_mdspan_like_v<M, 1>, int> = 0,
            std::enable_if_t<detail::only_adds_const_v<detail::element_t<M>, T>, int> = 0>
  constexpr VectorView(const M& m)
      : data(m.data_handle()),
        size(static_cast<std::int64_t>(m.extent(0))),
        stride(static_cast<std::int64_t>(m.stride(0))) {}

  constexpr MatrixView<T> as_row() const { return {data, 1, size, 0, stride}; }     // 1 x size
  constexpr MatrixView<T> as_column() const { return {data, size, 1, stride, 0}; }  // size x 1
};

template <class M, std::enable_if_t<detail::is_mdspan_like_v<M, 1>, int> = 0>
VectorView(const M&) -> VectorView<detail::element_t<M>>;

// ---- Factories --------------------------------------------------------------------------------

// Rows one after the other; the second form with `row_stride` elements from row to row.
template <class T>
constexpr MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, cols, 1};
}
template <class T>
constexpr MatrixView<T> row_major(T* data, std::int64_t rows, std::int64_t cols,
                                  std::int64_t row_stride) {
  return {data, rows, cols, row_stride, 1};
}

// Columns one after the other; the second form with `col_stride` elements from column to column.
template <class T>
constexpr MatrixView<T> col_major(T* data, std::int64_t rows, std::int64_t cols) {
  return {data, rows, cols, 1, rows};
}
template <class T>
constexpr MatrixView<T> col_major(T* data, std::int64_t rows, std::int64_t cols,
                                  std::int64_t col_stride) {
  return {data, rows, cols, 1, col_stride};
}

template <class T>
constexpr MatrixView<T> strided(T* data, std::int64_t rows, std::int64_t cols,
                                std::int64_t row_stride, std::int64_t col_stride) {
  return {data, rows, cols, row_stride, col_stride};
}

namespace detail {

// as_view(v): the MatrixView or VectorView of anything an operation accepts.
template <class T>
constexpr MatrixView<T> as_view(const MatrixView<T>& v) {
  return v;
}
template <class T>
constexpr VectorView<T> as_view(const VectorView<T>& v) {
  return v;
}
template <class M, std::enable_if_t<is_mdspan_like_v<M, 2>, int> = 0>
constexpr MatrixView<element_t<M>> as_view(const M& m) {
  return m;
}
template <class M, std::enable_if_t<is_mdspan_like_v<M, 1>, int> = 0>
constexpr VectorView<element_t<M>> as_view(const M& m) {
  return m;
}

// How elementwise operations see a view: a vector is a matrix of one row.
template <class T>
constexpr MatrixView<T> as_rows(const MatrixView<T>& v) {
  return v;
}
template <class T>
constexpr MatrixView<T> as_rows(const VectorView<T>& v) {
  return v.as_row();
}

template <class V, class = void>
struct view_rank : std::integral_constant<int, 0> {};
template <class V>
struct view_rank<V, std::void_t<decltype(as_view(std::declval<const V&>()))>>
    : std::integral_constant<int, decltype(as_view(std::declval<const V&>()))::kRank> {};
template <class V>
inline constexpr int view_rank_v = view_rank<V>::value;  // 0: not a view

template <class V>
using view_element_t = typename decltype(as_view(std::declval<const V&>()))::element_type;

template <class T, class = void>
struct is_storage_type : std::false_type {};
template <class T>
struct is_storage_type<T, std::void_t<decltype(dtype_of<std::remove_const_t<T>>::value)>>
    : std::true_type {};

// The compile-time half of an operand's checks, with texts that say what is wrong; the branches
// keep further errors from burying them. What depends on values, a mix of types included, is
// checked by the library.
template <class V>
constexpr lk_cmatrix input(const V& v) {
  static_assert(view_rank_v<V> != 0,
                "an input is a MatrixView, a VectorView, or has rank(), data_handle(), extent(i), "
                "stride(i) and plain elements like std::mdspan");
  if constexpr (view_rank_v<V> != 0) {
    constexpr bool kStored = is_storage_type<view_element_t<V>>::value;
    static_assert(kStored,
                  "the elements of an input are float, __half, __nv_bfloat16, __nv_fp8_e4m3 or "
                  "__nv_fp8_e5m2, or const forms of them");
    if constexpr (kStored) return as_rows(as_view(v));
  }
  return {};
}
template <class V>
constexpr lk_matrix output(const V& v) {
  static_assert(view_rank_v<V> != 0,
                "an output is a MatrixView, a VectorView, or has rank(), data_handle(), extent(i), "
                "stride(i) and plain elements like std::mdspan");
  if constexpr (view_rank_v<V> != 0) {
    constexpr bool kStored = is_storage_type<view_element_t<V>>::value;
    constexpr bool kMutable = !std::is_const_v<view_element_t<V>>;
    static_assert(kMutable, "the elements of an output are not const");
    static_assert(kStored,
                  "the elements of an output are float, __half, __nv_bfloat16, __nv_fp8_e4m3 or "
                  "__nv_fp8_e5m2");
    if constexpr (kMutable && kStored) return as_rows(as_view(v));
  }
  return {};
}

}  // namespace detail

}  // namespace libkernels
