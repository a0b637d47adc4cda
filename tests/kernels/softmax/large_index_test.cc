// Softmax beyond 32 bits: strides and offsets past 2^31 elements in memory of which only the few
// pages that hold elements exist; rows beyond the limits of a grid's y dimension; and, on a GPU,
// one row of 2^31 - 1 columns.
// Cost: 1 s emulated, all cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tests/kernels/softmax/softmax_fixture.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

class SoftmaxLargeIndex : public SoftmaxTest {
 protected:
  static constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;

  static void check_sparse(const Layout& x_layout, const Layout& y_layout) {
    SCOPED_TRACE("x " + show(x_layout) + ", y " + show(y_layout));
    const std::size_t x_size = size_of(x_type()), y_size = size_of(y_type());
    SparseBuffer x(device(), emulated(), std::size_t(x_layout.extent()) * x_size);
    SparseBuffer y(device(), emulated(), std::size_t(y_layout.extent()) * y_size);
    if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough memory";
    const Bits bits = normal_row(x_layout.elements(), 1);
    const auto each = [&](const auto& f) {
      for (std::int64_t r = 0; r < x_layout.rows; ++r) {
        for (std::int64_t c = 0; c < x_layout.cols; ++c) {
          f(std::size_t(r * x_layout.cols + c), std::size_t(x_layout.index(r, c)) * x_size,
            std::size_t(y_layout.index(r, c)) * y_size);
        }
      }
    };
    each([&](std::size_t i, std::size_t at, std::size_t) { x.set(at, bits[i], x_type()); });
    const lk_cmatrix xv{x.data(),      std::int32_t(x_type()), x_layout.rows,
                        x_layout.cols, x_layout.row_stride,    x_layout.col_stride};
    const lk_matrix yv{y.data(),      std::int32_t(y_type()), y_layout.rows,
                       y_layout.cols, y_layout.row_stride,    y_layout.col_stride};
    if (!call(xv, yv)) return;
    Bits got(bits.size());
    each([&](std::size_t i, std::size_t, std::size_t at) { got[i] = y.get(at, y_type()); });
    EXPECT_TRUE(right(bits, got, x_layout.rows));
  }
};

// C1, reduced: offsets of rows past 2^31 elements.
TEST_P(SoftmaxLargeIndex, C1RowStridesPast2To31) {
  const Layout far{3, 17, kFar, 1}, near = row_major(3, 17);
  check_sparse(far, near);
  check_sparse(near, far);
}

TEST_P(SoftmaxLargeIndex, ColumnStridesPast2To31) {
  const Layout far{1, 3, 1, kFar}, near = row_major(1, 3);
  check_sparse(far, near);
  check_sparse(near, far);
}

// C3: a column counter near 2^31 wraps.
TEST_P(SoftmaxLargeIndex, C3OneRowOf2To31Columns) {
  if (emulated()) GTEST_SKIP() << "takes the emulator hours; softmax_plan_test.cc has its plan";
  if (x_type() != DType::f16 || y_type() != DType::f32) GTEST_SKIP() << "one type suffices";
  const std::int64_t n = (std::int64_t{1} << 31) - 1;
  const BigBuffer x(device(), std::size_t(n) * 2), y(device(), std::size_t(n) * 4);
  if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough memory";
  require(device(), device().fill(x.data(), 0, std::size_t(n) * 2, nullptr), "fill");
  const lk_cmatrix xv{x.data(), LK_F16, 1, n, n, 1};
  const lk_matrix yv{y.data(), LK_F32, 1, n, n, 1};
  for (const bool log : {false, true}) {
    if (!call(xv, yv, {.log = log})) return;
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 2, n - 1}) {
      std::uint32_t bits = 0;
      require(device(),
              device().copy_to_host(&bits, static_cast<const char*>(y.data()) + 4 * at, 4, nullptr),
              "copy_to_host");
      require(device(), device().stream_synchronize(nullptr), "stream_synchronize");
      const double literal = log ? -21.4875622 : 4.65661287e-10;
      EXPECT_LE(std::fabs(double(float_of(bits)) - literal), 4 * ulp_at(literal, kF32)) << at;
    }
  }
}

// C6: the limit of a grid's y and z dimensions.
TEST_P(SoftmaxLargeIndex, C6RowsAround65535) {
  if (y_type() != DType::bf16) GTEST_SKIP() << "one type suffices";
  for (const std::int64_t rows : {65535, 65536, 65537}) {
    for (const std::int64_t cols : {1, 2}) {
      StridedMatrix x(device(), x_type(), {rows, cols, 0, 1}, Bits(std::size_t(rows * cols), 0));
      StridedMatrix y(device(), y_type(), row_major(rows, cols));
      ASSERT_TRUE(call(x.cview(), y.view()));
      EXPECT_EQ(y.read(), Bits(std::size_t(rows * cols), encode(1.0 / double(cols), y_type())));
      EXPECT_TRUE(y.gaps_intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxLargeIndex, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
