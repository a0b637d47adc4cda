// Row-sum beyond 32 bits: strides and offsets past 2^31 elements in memory of which only the few
// pages that hold elements exist. Cost: below 0.1 s emulated.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/kernels/row_sum/row_sum_fixture.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

class RowSumLargeIndex : public RowSumTest {
 protected:
  static constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;

  static void check(const Layout& layout, std::int64_t y_stride) {
    SCOPED_TRACE("x " + show(layout) + ", y stride " + std::to_string(y_stride));
    const std::size_t x_size = size_of(param().x_type), y_size = size_of(param().y_type);
    const Layout y_layout = column(layout.rows, y_stride);
    SparseBuffer x(device(), emulated(), std::size_t(layout.extent()) * x_size);
    SparseBuffer y(device(), emulated(), std::size_t(y_layout.extent()) * y_size);
    if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough memory";
    const Bits bits = integers(layout.rows, layout.cols, 1);
    const Bits expected = exact(layout.rows, layout.cols, bits);
    for (std::int64_t r = 0; r < layout.rows; ++r) {
      for (std::int64_t c = 0; c < layout.cols; ++c) {
        x.set(std::size_t(layout.index(r, c)) * x_size, bits[std::size_t(r * layout.cols + c)],
              param().x_type);
      }
      y.set(std::size_t(y_layout.index(r, 0)) * y_size, 0x1234u, param().y_type);
    }
    const lk_cmatrix xv{x.data(),          std::int32_t(param().x_type),
                        layout.rows,       layout.cols,
                        layout.row_stride, layout.col_stride};
    const lk_matrix yv{y.data(), std::int32_t(param().y_type), layout.rows, 1, y_stride, 1};
    call(xv, yv);
    for (std::int64_t r = 0; r < layout.rows; ++r) {
      EXPECT_EQ(y.get(std::size_t(y_layout.index(r, 0)) * y_size, param().y_type),
                expected[std::size_t(r)])
          << r;
    }
  }
};

TEST_P(RowSumLargeIndex, RowStridesPast2To31) {
  check({3, 17, kFar, 1}, 1);
  check({3, 17, kFar + 1, 1}, 1);
  check({3, 17, 17, 1}, kFar);
  check({2, 300, kFar, 2}, 1);
}

TEST_P(RowSumLargeIndex, ColumnStridesPast2To31) {
  check({1, 3, 1, kFar}, 1);
  check({5, 3, 1, kFar}, 1);
}

INSTANTIATE_TEST_SUITE_P(, RowSumLargeIndex, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
