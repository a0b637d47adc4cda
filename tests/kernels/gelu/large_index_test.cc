// GeLU beyond 32 bits: strides and offsets past 2^31 elements in memory of which only the few
// pages that hold elements exist; rows beyond the limits of a grid's y dimension.
// Cost: 1.3 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/kernels/gelu/layout_fixture.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

class GeluLargeIndex : public GeluLayoutTest {
 protected:
  static constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;

  static void check_sparse(const Layout& x_layout, const Layout& y_layout) {
    SCOPED_TRACE("x " + show(x_layout) + ", y " + show(y_layout));
    const std::size_t x_size = size_of(param().x_type), y_size = size_of(param().y_type);
    SparseBuffer x(device(), emulated(), std::size_t(x_layout.extent()) * x_size);
    SparseBuffer y(device(), emulated(), std::size_t(y_layout.extent()) * y_size);
    if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough memory";
    for (std::int64_t r = 0; r < x_layout.rows; ++r) {
      for (std::int64_t c = 0; c < x_layout.cols; ++c) {
        const std::size_t i = std::size_t(r * x_layout.cols + c);
        x.set(std::size_t(x_layout.index(r, c)) * x_size, pool().x[i], param().x_type);
        y.set(std::size_t(y_layout.index(r, c)) * y_size, 0x1234u, param().y_type);
      }
    }
    const lk_cmatrix xv{x.data(),      std::int32_t(param().x_type), x_layout.rows,
                        x_layout.cols, x_layout.row_stride,          x_layout.col_stride};
    const lk_matrix yv{y.data(),      std::int32_t(param().y_type), y_layout.rows,
                       y_layout.cols, y_layout.row_stride,          y_layout.col_stride};
    if (!try_call(xv, yv)) return;
    for (std::int64_t r = 0; r < x_layout.rows; ++r) {
      for (std::int64_t c = 0; c < x_layout.cols; ++c) {
        const std::size_t i = std::size_t(r * x_layout.cols + c);
        EXPECT_EQ(y.get(std::size_t(y_layout.index(r, c)) * y_size, param().y_type), pool().y[i])
            << r << "," << c;
      }
    }
  }
};

TEST_P(GeluLargeIndex, RowStridesPast2To31) {
  const Layout far{3, 17, kFar, 1}, near = row_major(3, 17);
  check_sparse(far, near);
  check_sparse(near, far);
  check_sparse(far, far);
}

TEST_P(GeluLargeIndex, ColumnStridesPast2To31) {
  const Layout far{1, 3, 1, kFar}, near = row_major(1, 3);
  check_sparse(far, near);
  check_sparse(near, far);
  const Layout far_columns{5, 3, 1, kFar}, far_rows{5, 3, kFar, 1};
  check_sparse(far_columns, far_rows);
}

INSTANTIATE_TEST_SUITE_P(, GeluLargeIndex, testing::ValuesIn(gelu_params()), gelu_name);

// C6: the limit of a grid's y and z dimensions.
class GeluManyRows : public GeluLayoutTest {};

TEST_P(GeluManyRows, C6RowsAround65535) {
  for (const std::int64_t rows : {65535, 65536, 65537}) {
    EXPECT_TRUE(check({rows, 2, 0, 1}, row_major(rows, 2, 3)));
    EXPECT_GE(check({rows, 1, 0, 1}, row_major(rows, 1, 2)), portable());
  }
  EXPECT_TRUE(check({65537, 3, 0, 1}, row_major(65537, 3)));
}

INSTANTIATE_TEST_SUITE_P(, GeluManyRows, testing::ValuesIn(gelu_params_one_type()), gelu_name);

}  // namespace
}  // namespace libkernels::test
