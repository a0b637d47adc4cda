// GeLU on every kind of view. Memory around and between the elements is NaN before the call and
// must be the same afterwards; no result may depend on it.
// Cost: 3 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/gelu/layout_fixture.h"

namespace libkernels::test {
namespace {

using GeluLayout = GeluLayoutTest;

// E2.
TEST_P(GeluLayout, E2ViewsWithoutElementsLaunchNothing) {
  const SettingsScope restore;
  emulator::settings().count = true;
  emulator::reset_counters();
  for (const auto& [rows, cols] : {std::pair{0, 0}, std::pair{0, 7}, std::pair{7, 0}}) {
    for (const std::int64_t stride : {0, 1, 7}) {
      const lk_cmatrix x{nullptr, std::int32_t(param().x_type), rows, cols, stride, 1};
      const lk_matrix y{nullptr, std::int32_t(param().y_type), rows, cols, stride, 1};
      EXPECT_NO_THROW(call(x, y)) << rows << "x" << cols << " stride " << stride;
    }
  }
  EXPECT_EQ(emulator::counters().launches, 0u);
}

TEST_P(GeluLayout, EveryWidthUpTo70) {
  for (std::int64_t cols = 1; cols <= 70; ++cols) {
    EXPECT_TRUE(check(row_major(3, cols), row_major(3, cols)));
  }
}

TEST_P(GeluLayout, WidthsAroundVectorsAndCtas) {
  for (const std::int64_t cols :
       {255, 256, 257, 258, 259, 260, 1023, 1024, 1025, 4095, 4096, 4097}) {
    EXPECT_TRUE(check(row_major(1, cols), row_major(1, cols)));
    EXPECT_TRUE(check(row_major(2, cols, cols + 1), row_major(2, cols, cols + 2)));
  }
}

TEST_P(GeluLayout, ManyRows) {
  for (const std::int64_t rows : {31, 32, 33, 255, 256, 257, 1025}) {
    EXPECT_TRUE(check(row_major(rows, 1), row_major(rows, 1)));
    EXPECT_TRUE(check(row_major(rows, 3, 5), row_major(rows, 3)));
  }
}

TEST_P(GeluLayout, RowPitch) {
  for (const std::int64_t cols : {1, 7, 8, 33, 130}) {
    for (const std::int64_t gap : {1, 2, 3, 8, 16}) {
      // A single column with gaps is a strided vector, which only the portable kernel must take.
      const bool taken = portable() || cols > 1;
      EXPECT_GE(check(row_major(4, cols, cols + gap), row_major(4, cols, cols + gap)), taken);
      EXPECT_GE(check(row_major(4, cols), row_major(4, cols, cols + gap)), taken);
      EXPECT_GE(check(row_major(4, cols, cols + gap), row_major(4, cols)), taken);
    }
  }
}

TEST_P(GeluLayout, ColumnMajorAndTransposed) {
  for (const auto& [rows, cols] : {std::pair{1, 9}, std::pair{9, 1}, std::pair{5, 7},
                                   std::pair{33, 65}, std::pair{64, 40}, std::pair{130, 3}}) {
    check(col_major(rows, cols), col_major(rows, cols));
    check(col_major(rows, cols, rows + 3), col_major(rows, cols, rows + 1));
    check(col_major(rows, cols), row_major(rows, cols));
    check(row_major(rows, cols), col_major(rows, cols));
    check(row_major(rows, cols, cols + 5), col_major(rows, cols, rows + 2));
  }
}

TEST_P(GeluLayout, BothStridesAboveOne) {
  for (const auto& [rows, cols] : {std::pair{1, 70}, std::pair{3, 33}, std::pair{40, 37}}) {
    for (const std::int64_t step : {2, 3}) {
      const Layout spread{rows, cols, step * cols + 1, step};
      const Layout packed = row_major(rows, cols);
      check(spread, packed);
      check(packed, spread);
      check(spread, spread);
      // Interleaved: rows closer to each other than columns.
      check({rows, cols, step, step * rows + 1}, packed);
      check(packed, {rows, cols, step, step * rows + 1});
    }
  }
}

TEST_P(GeluLayout, BroadcastInput) {
  for (const auto& [rows, cols] : {std::pair{5, 1}, std::pair{5, 40}, std::pair{33, 70}}) {
    const Layout y = row_major(rows, cols), y_odd = row_major(rows, cols, cols + 3, 1);
    check({rows, cols, 0, 1}, y);
    check({rows, cols, 1, 0}, y);
    check({rows, cols, 0, 0}, y);
    check({rows, cols, 0, 1, 3}, y_odd);
    check({rows, cols, 0, 0, 3}, y_odd);
  }
}

// The strides of extents of one mean nothing, whatever they are.
TEST_P(GeluLayout, StridesOfExtentsOfOneAreIgnored) {
  for (const std::int64_t stride : {0, 1, 5, 1 << 30}) {
    EXPECT_TRUE(check({1, 40, stride, 1}, {1, 40, stride, 1}));
    EXPECT_TRUE(check({40, 1, 1, stride}, {40, 1, 1, stride}));
    EXPECT_TRUE(check({1, 1, stride, stride}, {1, 1, stride, stride}));
  }
}

// x and y start 0 .. 7 elements off, independently; each row of the second pair starts at another
// phase again.
TEST_P(GeluLayout, EveryPairOfOffsets) {
  for (std::int64_t x = 0; x < 8; ++x) {
    for (std::int64_t y = 0; y < 8; ++y) {
      for (const std::int64_t cols : {1, 2, 15, 75}) {
        EXPECT_TRUE(check(row_major(1, cols, cols, x), row_major(1, cols, cols, y)));
      }
      EXPECT_TRUE(check(row_major(5, 35, 36, x), row_major(5, 35, 37, y)));
    }
  }
}

// A row of one and a half to two waves, which some kernels take two windows at a time if it is all
// windows; the last CTA is not full.
TEST_P(GeluLayout, BetweenOneWaveAndTwo) {
  if (!emulated()) GTEST_SKIP() << "a GPU has too many SMs for a small row";
  DeviceProperties one_sm = emulator::current_profile();
  one_sm.sm_count = 1;
  const ProfileScope scope(one_sm);
  const std::int64_t cols = 3300 * 16 / std::int64_t(size_of(param().y_type));
  ASSERT_TRUE(check(row_major(1, cols), row_major(1, cols)));
  EXPECT_EQ(emulator::last_launch().grid.x, 13u);  // 26 with one window each
  ASSERT_TRUE(check(row_major(1, cols, cols, 3), row_major(1, cols, cols, 3)));
  ASSERT_TRUE(check(row_major(1, cols, cols, 1), row_major(1, cols)));
}

// F6: y is x itself.
TEST_P(GeluLayout, F6InPlace) {
  if (param().x_type != param().y_type) GTEST_SKIP() << "in place needs one type";
  const Layout layouts[] = {row_major(1, 8),     row_major(1, 4096), row_major(3, 131, 140, 3),
                            col_major(9, 7, 11), {3, 5, 31, 3, 1},   row_major(7, 33, 33, 5)};
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(show(layout));
    StridedMatrix x(device(), param().x_type, layout, drawn(layout, 1, pool().x));
    if (!try_call(x.cview(), x.view())) continue;
    EXPECT_TRUE(bits_equal(x.read(), drawn(layout, 1, pool().y), param().y_type));
    EXPECT_TRUE(x.gaps_intact());
  }
}

// F6: any other overlap is refused and nothing is written.
TEST_P(GeluLayout, F6PartialOverlapIsRefused) {
  const Layout layout = row_major(1, 64);
  const Bits x_bits = drawn(layout, 1, pool().x);
  StridedMatrix x(device(), param().x_type, layout, x_bits);
  lk_matrix y = x.view();
  y.dtype = std::int32_t(param().y_type);
  y.cols = 16;
  lk_cmatrix part = x.cview();
  part.cols = 16;
  y.data = static_cast<char*>(y.data) + size_of(param().y_type);
  EXPECT_THROW(call(part, y), invalid_argument);
  EXPECT_EQ(x.read(), x_bits);
}

INSTANTIATE_TEST_SUITE_P(, GeluLayout, testing::ValuesIn(gelu_params()), gelu_name);

}  // namespace
}  // namespace libkernels::test
