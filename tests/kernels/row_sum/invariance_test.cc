// A row's bits depend on its values, their number and types: not on the rows beside it, alignment,
// pitch, max_sms, the order in which things complete, or where the scratch lies.
// Cost: 4 s emulated, all cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

using emulator::Completion;

class RowSumInvariance : public RowSumTest {
 protected:
  // A row of each path: lanes, shared memory where ragged (two shapes), a warp, CTAs, chunks.
  static std::vector<std::int64_t> widths() {
    const std::int64_t v = per_vector();
    return {3,       2 * v - 1,   2 * v,   6 * v + 3,    20 * v + 1,
            100 * v, 300 * v - 1, 900 * v, 3000 * v + 1, 2 * 8192 * v + 7};
  }
  // `rows` copies of one row: all their sums have the bits that it has alone.
  static void check_rows(std::int64_t rows, std::int64_t cols, std::int64_t gap,
                         std::int64_t offset = 0) {
    const Bits row = normal(1, cols, std::uint64_t(cols));
    const Bits expected(std::size_t(rows), alone(1, cols, row)[0]);
    Bits bits;
    for (std::int64_t r = 0; r < rows; ++r) bits.insert(bits.end(), row.begin(), row.end());
    EXPECT_TRUE(
        bits_equal(sums(row_major(rows, cols, cols + gap, offset), bits), expected, param().y_type))
        << rows << " x " << cols << " gap " << gap << " offset " << offset;
  }
};

TEST_P(RowSumInvariance, AnyNumberOfRows) {
  for (const std::int64_t cols : widths()) {
    check_rows(1, cols, 0);
    if (cols < 50000) check_rows(7, cols, 1);
    if (cols < 1000) check_rows(132, cols, 3);
    if (cols < 40) check_rows(4096, cols, cols % 2);
  }
}

TEST_P(RowSumInvariance, EveryBorderInSevenRows) {
  for (const std::int64_t cols : borders()) {
    if (cols > 0 && cols < 9000) check_rows(7, cols, 0);
  }
}

// Rows of more than 32 vectors go through shared memory only where there are many.
TEST_P(RowSumInvariance, ManyRaggedRows) { check_rows(2048, 33 * per_vector() - 1, 0); }

TEST_P(RowSumInvariance, EightAlignments) {
  for (const std::int64_t cols : widths()) {
    for (std::int64_t offset = 0; offset < (cols < 50000 ? 8 : 2); ++offset) {
      check_rows(cols < 1000 ? 3 : 1, cols, 8, offset);
    }
  }
}

TEST_P(RowSumInvariance, SameBitsUnderEverySmLimit) {
  for (const std::int64_t cols : widths()) {
    const std::int64_t rows = cols < 1000 ? 300 : cols < 50000 ? 9 : 2;
    for (const bool adjacent : {true, false}) {
      if (!adjacent && cols > 10000) continue;
      const Layout layout = adjacent ? row_major(rows, cols, cols + 1) : col_major(rows, cols);
      const Bits bits = normal(rows, cols, 3);
      const Bits all = sums(layout, bits);
      EXPECT_TRUE(bits_equal(sums(layout, bits), all, param().y_type)) << "not the same bits twice";
      for (const int max_sms : {1, 3, 1000}) {
        EXPECT_TRUE(bits_equal(sums(layout, bits, {.max_sms = max_sms}), all, param().y_type))
            << show(layout) << " " << max_sms;
      }
    }
  }
}

TEST_P(RowSumInvariance, MaxSmsCapsTheGrid) {
  if (!emulated()) GTEST_SKIP() << "the emulator tells the grid";
  for (const Layout& layout : {row_major(9000, 2), row_major(60, 2000), col_major(9000, 3)}) {
    const Bits bits = normal(layout.rows, layout.cols, 4);
    for (const int max_sms : {1, 2}) {
      sums(layout, bits, {.max_sms = max_sms});
      const emulator::LastLaunch launch = emulator::last_launch();
      const DeviceProperties& device = emulator::current_profile();
      const unsigned per_sm = std::min(unsigned(device.max_ctas_per_sm),
                                       unsigned(device.max_threads_per_sm) / launch.block.x);
      EXPECT_EQ(launch.grid.y * launch.grid.z, 1u);
      EXPECT_LE(launch.grid.x, unsigned(max_sms) * per_sm) << show(layout);
      EXPECT_GE(launch.grid.x, unsigned(max_sms)) << "uses fewer SMs than it may";
    }
  }
}

// Also the second pass of split rows, which reads what the first wrote.
TEST_P(RowSumInvariance, SameBitsInAnyOrderOfCompletion) {
  if (!emulated()) GTEST_SKIP() << "the order is the emulator's to choose";
  const SettingsScope restore;
  const std::int64_t v = per_vector();
  for (const Layout& layout : {row_major(2, 2 * 8192 * v + 7), row_major(30, 700 * v + 1),
                               row_major(300, 17), col_major(40, 9000)}) {
    const Bits bits = normal(layout.rows, layout.cols, 5);
    emulator::settings().completion = Completion::late;
    const Bits late = sums(layout, bits);
    emulator::settings().completion = Completion::eager;
    EXPECT_TRUE(bits_equal(sums(layout, bits), late, param().y_type)) << show(layout);
    emulator::settings().completion = Completion::random;
    for (const std::uint64_t seed : {1u, 2u}) {
      emulator::settings().seed = seed;
      EXPECT_TRUE(bits_equal(sums(layout, bits), late, param().y_type)) << show(layout) << seed;
    }
  }
}

// Another SM count chooses another grid.
TEST_P(RowSumInvariance, SameBitsOnAnyNumberOfSms) {
  if (!emulated()) GTEST_SKIP() << "one GPU has one number of SMs";
  for (const std::int64_t cols : widths()) {
    const Bits bits = normal(5, cols, 6);
    const Layout layout = row_major(cols < 50000 ? 5 : 1, cols, cols + 1);
    const Bits here = sums(layout, bits);
    const ProfileScope other("h200");
    EXPECT_TRUE(bits_equal(sums(layout, bits), here, param().y_type)) << cols;
  }
}

// With a workspace of exactly the size that is asked for, with a larger one, and without.
TEST_P(RowSumInvariance, Workspace) {
  const std::int64_t v = per_vector();
  for (const Layout& layout :
       {row_major(3, 2 * 8192 * v + 7), col_major(3, 9000), row_major(3, 8192 * v)}) {
    const Bits bits = normal(layout.rows, layout.cols, 7);
    StridedMatrix x(device(), param().x_type, layout), y(device(), param().y_type, column(3));
    const std::size_t bytes = workspace_size(x.cview(), y.view());
    EXPECT_EQ(bytes > 0, layout.cols != 8192 * v) << show(layout);
    const Bits without = sums(layout, bits);
    for (const std::size_t more : {std::size_t{0}, std::size_t{256}}) {
      DeviceBuffer workspace(device(), bytes + more);  // poisoned, with canaries
      for (int repeat = 0; repeat < 2; ++repeat) {     // the second finds the first one's sums
        EXPECT_TRUE(
            bits_equal(sums(layout, bits, {.workspace = &workspace}), without, param().y_type))
            << show(layout);
      }
      EXPECT_TRUE(workspace.canaries_intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumInvariance, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
