// Softmax of every kind of view. Memory around and between the elements is NaN before the call and
// must be the same afterwards; no result may depend on it. Every view must give the bits of the
// dense, aligned one of the same values, strided ones those of another strided one.
// Cost: 7 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

class SoftmaxLayout : public SoftmaxTest {
 protected:
  // Values by row and column, the same whatever the layout; rows alike where x's row stride is 0.
  static Bits values(const Layout& x) {
    Bits bits;
    for (std::int64_t r = 0; r < x.rows; ++r) {
      for (std::int64_t c = 0; c < x.cols; ++c) {
        const std::int64_t row = x.row_stride == 0 && x.rows > 1 ? 0 : r;
        const std::int64_t col = x.col_stride == 0 && x.cols > 1 ? 0 : c;
        bits.push_back(
            encode(3 * random_normal(std::uint64_t(row) + 1, std::uint64_t(col)), x_type()));
      }
    }
    return bits;
  }

  // The view's results.
  static Bits run(const Layout& x_layout, const Layout& y_layout, const Options& o = {}) {
    SCOPED_TRACE("x " + show(x_layout) + ", y " + show(y_layout));
    const Bits x_bits = values(x_layout);
    StridedMatrix x(device(), x_type(), x_layout, x_bits);
    StridedMatrix y(device(), y_type(), y_layout);
    x.buffer().forbid_writes();  // F7
    if (!call(x.cview(), y.view(), o)) return {};
    EXPECT_TRUE(y.gaps_intact());
    EXPECT_TRUE(bits_equal(x.read(), x_bits, x_type())) << "the input was written";
    EXPECT_TRUE(x.gaps_intact());
    return y.read();
  }
  // Unit columns: the bits of the dense matrix.
  static void check(const Layout& x, const Layout& y, const Options& o = {}) {
    const Bits dense = evaluate(values(x), x.rows, o);
    EXPECT_TRUE(bits_equal(run(x, y, o), dense, y_type())) << show(x) << "; " << show(y);
  }
  // Others: right, and the bits of `tree`, a strided view of the same values.
  static void check_strided(const Layout& x, const Layout& y, const Options& o = {}) {
    const Bits got = run(x, y, o);
    if (got.empty()) return;
    EXPECT_TRUE(right(values(x), got, x.rows, o)) << show(x) << "; " << show(y);
    const Layout two{x.rows, x.cols, 2 * x.cols, 2};
    if (x.row_stride == 0 || x.col_stride == 0) return;
    EXPECT_TRUE(bits_equal(got, run(two, two, o), y_type())) << show(x) << "; " << show(y);
  }
};

TEST_P(SoftmaxLayout, RowPitchAndOffsets) {
  for (const std::int64_t cols : {1, 5, 8, 33, 130, 257}) {
    for (std::int64_t offset = 0; offset < 8; ++offset) {
      check(row_major(5, cols, cols + offset, offset), row_major(5, cols, cols + 1, offset));
      check(row_major(3, cols, cols, offset), row_major(3, cols, cols + 2, 7 - offset));
    }
  }
}

TEST_P(SoftmaxLayout, MisalignedRowsOnEveryStep) {
  for (const std::int64_t cols : ladder()) {
    if (cols < 258) continue;
    const std::int64_t offset = cols % 7 + 1;
    check(row_major(1, cols, cols, offset), row_major(1, cols, cols, 8 - offset));
    if (cols <= 4097) check(row_major(2, cols, cols + 1, offset), row_major(2, cols));
  }
}

TEST_P(SoftmaxLayout, ManyRows) {
  for (const std::int64_t rows : {31, 129, 1025}) {
    check(row_major(rows, 1), row_major(rows, 1));
    check(row_major(rows, 3, 5), row_major(rows, 3));
    check(row_major(rows, 19), row_major(rows, 19, 20, 1));
  }
}

TEST_P(SoftmaxLayout, ColumnMajorAndTransposed) {
  for (const auto& [rows, cols] : {std::pair{2, 9}, std::pair{5, 7}, std::pair{33, 65},
                                   std::pair{64, 40}, std::pair{130, 3}, std::pair{2, 700}}) {
    check_strided(col_major(rows, cols), col_major(rows, cols));
    check_strided(col_major(rows, cols, rows + 3), col_major(rows, cols, rows + 1, 3));
    check_strided(col_major(rows, cols), row_major(rows, cols));
    check_strided(row_major(rows, cols, cols + 1, 1), col_major(rows, cols), {.log = true});
  }
  check(col_major(9, 1), col_major(9, 1));
}

TEST_P(SoftmaxLayout, BothStridesAboveOne) {
  for (const auto& [rows, cols] : {std::pair{1, 70}, std::pair{3, 33}, std::pair{40, 37}}) {
    const Layout spread{rows, cols, 3 * cols + 1, 3}, packed = row_major(rows, cols);
    const Layout interleaved{rows, cols, 2, 2 * rows + 1};
    check_strided(spread, packed);
    check_strided(packed, spread);
    check_strided(interleaved, packed, {.scale = -0.5f});
    check_strided(packed, interleaved);
  }
}

// Long rows of strided views go in chunks.
TEST_P(SoftmaxLayout, LongStridedRows) {
  check_strided({1, 8193, 1, 2}, row_major(1, 8193));
  check_strided(col_major(2, 17000), col_major(2, 17000));
  check_strided({1, 9000, 0, 0}, row_major(1, 9000), {.log = true});
}

TEST_P(SoftmaxLayout, BroadcastInput) {
  for (const auto& [rows, cols] : {std::pair{5, 1}, std::pair{5, 40}, std::pair{33, 700}}) {
    check({rows, cols, 0, 1}, row_major(rows, cols));
    check({rows, cols, 0, 1, 3}, row_major(rows, cols, cols + 3, 1));
    if (cols == 1) continue;
    check_strided({rows, cols, 1, 0}, row_major(rows, cols));
    check_strided({rows, cols, 0, 0, 3}, row_major(rows, cols));
  }
}

TEST_P(SoftmaxLayout, StridesOfExtentsOfOneAreIgnored) {
  for (const std::int64_t stride : {0, 1, 5, 1 << 30}) {
    check({1, 40, stride, 1}, {1, 40, stride, 1});
    check({40, 1, 1, stride}, {40, 1, 1, stride});
    check({1, 1, stride, stride}, {1, 1, stride, stride});
  }
}

TEST_P(SoftmaxLayout, InPlace) {
  if (x_type() != y_type()) GTEST_SKIP() << "in place needs one type";
  const Layout layouts[] = {
      row_major(1, 8),     row_major(6, 5, 7, 1),     row_major(9, 131, 140, 3),
      row_major(3, 4097),  row_major(1, 9001, -1, 1), row_major(1, 57345, -1, 3),
      col_major(9, 7, 11), {3, 5, 31, 3, 1},          {2, 8200, 1, 2}};
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(show(layout));
    StridedMatrix x(device(), x_type(), layout, values(layout));
    if (!call(x.cview(), x.view())) continue;
    EXPECT_TRUE(bits_equal(x.read(), run(layout, layout), y_type()));
    EXPECT_TRUE(x.gaps_intact());
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxLayout, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
