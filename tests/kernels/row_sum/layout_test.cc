// Row-sum on every kind of view. Memory around and between the elements is NaN before the call and
// must be the same afterwards; every row has the bits that it has in a call of its own.
// Cost: 2 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

class RowSumLayout : public RowSumTest {
 protected:
  static void check(const Layout& layout, std::int64_t y_stride = 1, std::int64_t y_offset = 0) {
    const Bits bits = normal(layout.rows, layout.cols, 1);
    const bool adjacent = layout.col_stride == 1 || layout.cols <= 1;
    EXPECT_TRUE(bits_equal(sums(layout, bits, {}, y_stride, y_offset),
                           alone(layout.rows, layout.cols, bits, adjacent), param().y_type))
        << show(layout) << " y stride " << y_stride;
  }
  // Elements that share a place agree: x(r, c) is drawn by the place it has in memory.
  static void check_broadcast(const Layout& layout) {
    Bits bits;
    for (std::int64_t r = 0; r < layout.rows; ++r) {
      for (std::int64_t c = 0; c < layout.cols; ++c) {
        bits.push_back(x_of(random_normal(2, std::uint64_t(layout.index(r, c)))));
      }
    }
    const bool adjacent = layout.col_stride == 1 || layout.cols <= 1;
    EXPECT_TRUE(bits_equal(sums(layout, bits), alone(layout.rows, layout.cols, bits, adjacent),
                           param().y_type))
        << show(layout);
  }
};

// E2, and rows without columns, which sum to 0.
TEST_P(RowSumLayout, WithoutElements) {
  const SettingsScope restore;
  emulator::settings().count = true;
  emulator::reset_counters();
  for (const std::int64_t stride : {0, 1, 7}) {
    for (const std::int64_t cols : {0, 7}) {
      const lk_cmatrix x{nullptr, std::int32_t(param().x_type), 0, cols, stride, 1};
      const lk_matrix y{nullptr, std::int32_t(param().y_type), 0, 1, stride, 1};
      EXPECT_NO_THROW(call(x, y)) << cols << " stride " << stride;
    }
  }
  EXPECT_EQ(emulator::counters().launches, 0u);
  for (const std::int64_t rows : {1, 3, 1000}) {
    const lk_cmatrix x{nullptr, std::int32_t(param().x_type), rows, 0, 0, 1};
    StridedMatrix y(device(), param().y_type, column(rows, 2));
    call(x, y.view());
    EXPECT_EQ(y.read(), Bits(std::size_t(rows), 0u));
    EXPECT_TRUE(y.gaps_intact());
  }
}

TEST_P(RowSumLayout, PitchesAndOffsets) {
  for (const std::int64_t cols : {1, 3, 8, 17, 31, 64, 65, 129, 300, 1025, 3000}) {
    for (const std::int64_t gap : {0, 1, 3, 8}) check(row_major(4, cols, cols + gap, gap));
  }
  // The end of a view at every place in a vector, for the first, a middle and the last row.
  for (std::int64_t offset = 0; offset < 8; ++offset) {
    for (const std::int64_t cols : {2, 9, 23, 67}) check(row_major(3, cols, cols, offset));
  }
}

TEST_P(RowSumLayout, ColumnDirection) {
  for (const std::int64_t cols : {2, 5, 33, 128, 129, 300, 1000, 4097}) {
    const std::int64_t rows = cols < 200 ? 70 : 5;
    check(col_major(rows, cols));
    check(col_major(rows, cols, rows + 3, 1));
  }
  check(col_major(300, 9, 301, 3));
  // Two 16-bit rows a load, and a last one alone.
  for (const std::int64_t rows : {2, 63, 64, 65, 129}) check(col_major(rows, 40, rows + rows % 2));
}

TEST_P(RowSumLayout, BothStridesAboveOne) {
  for (const std::int64_t cols : {2, 33, 130, 700}) {
    for (const std::int64_t step : {2, 5}) {
      check({5, cols, step * cols + 1, step});
      check({5, cols, step, 5 * step + 1});  // rows closer to each other than columns
    }
  }
}

TEST_P(RowSumLayout, BroadcastInput) {
  for (const std::int64_t cols : {1, 2, 40, 300, 5000}) {
    check_broadcast({5, cols, 0, 1});
    check_broadcast({5, cols, 0, 1, 3});
    check_broadcast({5, cols, 1, 0});
    check_broadcast({5, cols, 0, 0});
    check_broadcast({5, cols, 0, 2, 1});
    check_broadcast({5, cols, 1, 1});  // each row begins one element later
  }
}

TEST_P(RowSumLayout, AnyStrideOfTheOutput) {
  for (const std::int64_t stride : {1, 2, 3, 100}) {
    check(row_major(70, 5), stride, 1);
    check(row_major(9, 700), stride, 3);
    check(col_major(40, 7), stride, 1);
  }
}

TEST_P(RowSumLayout, StridesOfExtentsOfOneAreIgnored) {
  for (const std::int64_t stride : {0, 1, 5, 1 << 30}) {
    check({1, 40, stride, 1});
    check({40, 1, 1, stride});
    check({1, 1, stride, stride});
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumLayout, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
