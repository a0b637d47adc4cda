// Views: factories, conversions, and what must not convert. Most of it is decided by the compiler.
#include <libkernels/matrix.h>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace libkernels {
namespace {

// What std::mdspan (C++23) offers, as far as views need it.
template <class T, std::size_t Rank, class Reference = T&>
struct FakeMdspan {
  using reference = Reference;
  using index_type = std::uint32_t;
  T* p = nullptr;
  std::array<index_type, Rank> extents{}, strides{};

  static constexpr std::size_t rank() { return Rank; }
  T* const& data_handle() const { return p; }  // a reference, as std's
  index_type extent(std::size_t i) const { return extents[i]; }
  index_type stride(std::size_t i) const { return strides[i]; }
};

struct ScaledReference {};  // what an accessor that computes its elements returns

template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To>;

using Matrix = MatrixView<float>;
using ConstMatrix = MatrixView<const float>;
using Vector = VectorView<float>;
using ConstVector = VectorView<const float>;

static_assert(converts<Matrix, ConstMatrix> && !converts<ConstMatrix, Matrix>);
static_assert(converts<Vector, ConstVector> && !converts<ConstVector, Vector>);
static_assert(!converts<Matrix, MatrixView<double>> && !converts<Vector, Matrix>);

static_assert(converts<FakeMdspan<float, 2>, Matrix>);
static_assert(converts<FakeMdspan<float, 2>, ConstMatrix>);
static_assert(converts<FakeMdspan<const float, 2>, ConstMatrix>);
static_assert(!converts<FakeMdspan<const float, 2>, Matrix>);
static_assert(converts<FakeMdspan<float, 1>, Vector> &&
              converts<FakeMdspan<float, 1>, ConstVector>);
static_assert(!converts<FakeMdspan<float, 1>, Matrix> && !converts<FakeMdspan<float, 2>, Vector>);
static_assert(!converts<FakeMdspan<float, 3>, Matrix>);
static_assert(!converts<FakeMdspan<float, 2, ScaledReference>, ConstMatrix>);
static_assert(!converts<float*, Matrix>);

static_assert(converts<Matrix, lk_cmatrix> && converts<Matrix, lk_matrix>);
static_assert(converts<ConstMatrix, lk_cmatrix> && !converts<ConstMatrix, lk_matrix>);
static_assert(converts<MatrixView<__half>, lk_matrix>);
static_assert(!converts<MatrixView<double>, lk_matrix> && !converts<MatrixView<int>, lk_cmatrix>);

static_assert(detail::view_rank_v<Matrix> == 2 && detail::view_rank_v<ConstVector> == 1);
static_assert(detail::view_rank_v<FakeMdspan<float, 2>> == 2);
static_assert(detail::view_rank_v<FakeMdspan<float, 3>> == 0 && detail::view_rank_v<float*> == 0);

template <class V>
std::array<std::int64_t, 4> numbers(const V& v) {
  return {v.rows, v.cols, v.row_stride, v.col_stride};
}
using Numbers = std::array<std::int64_t, 4>;

TEST(MatrixViewTest, Factories) {
  float p[1] = {};
  EXPECT_EQ(numbers(row_major(p, 3, 4)), (Numbers{3, 4, 4, 1}));
  EXPECT_EQ(numbers(row_major(p, 3, 4, 9)), (Numbers{3, 4, 9, 1}));
  EXPECT_EQ(numbers(col_major(p, 3, 4)), (Numbers{3, 4, 1, 3}));
  EXPECT_EQ(numbers(col_major(p, 3, 4, 9)), (Numbers{3, 4, 1, 9}));
  EXPECT_EQ(numbers(strided(p, 3, 4, 0, 7)), (Numbers{3, 4, 0, 7}));
  EXPECT_EQ(numbers(row_major(p, 3, 4).transposed()), (Numbers{4, 3, 1, 4}));
  EXPECT_EQ(row_major(p, 3, 4).data, p);
  const float* q = p;
  static_assert(std::is_same_v<decltype(row_major(q, 3, 4)), ConstMatrix>);
  const Matrix none;
  EXPECT_EQ(none.data, nullptr);
  EXPECT_EQ(numbers(none), (Numbers{0, 0, 0, 0}));
}

TEST(MatrixViewTest, FromMdspan) {
  float p[1] = {};
  const FakeMdspan<float, 2> m{p, {3, 4}, {10, 2}};
  const MatrixView v = m;  // deduced
  static_assert(std::is_same_v<decltype(v), const Matrix>);
  EXPECT_EQ(v.data, p);
  EXPECT_EQ(numbers(v), (Numbers{3, 4, 10, 2}));
  const FakeMdspan<const float, 1> w{p, {5}, {3}};
  const VectorView u = w;
  static_assert(std::is_same_v<decltype(u), const ConstVector>);
  EXPECT_EQ(u.size, 5);
  EXPECT_EQ(u.stride, 3);
}

TEST(MatrixViewTest, VectorsAreRowsOrColumns) {
  float p[1] = {};
  const VectorView v(p, 7, 2);
  EXPECT_EQ(numbers(v.as_row()), (Numbers{1, 7, 0, 2}));
  EXPECT_EQ(numbers(v.as_column()), (Numbers{7, 1, 2, 0}));
  EXPECT_EQ(VectorView(p, 7).stride, 1);
}

TEST(MatrixViewTest, ToTheCAbi) {
  __half* p = nullptr;
  const lk_matrix m = strided(p, 3, 4, 5, 6);
  EXPECT_EQ(m.dtype, LK_F16);
  EXPECT_EQ(numbers(m), (Numbers{3, 4, 5, 6}));
  const lk_cmatrix c = ConstMatrix(nullptr, 3, 4, 5, 6);
  EXPECT_EQ(c.dtype, LK_F32);
  EXPECT_EQ(numbers(c), (Numbers{3, 4, 5, 6}));
  const __nv_bfloat16* b = nullptr;
  EXPECT_EQ(lk_cmatrix(row_major(b, 1, 1)).dtype, LK_BF16);
  __nv_fp8_e5m2* f = nullptr;
  EXPECT_EQ(lk_cmatrix(row_major(f, 1, 1)).dtype, LK_F8_E5M2);
}

}  // namespace
}  // namespace libkernels
