// Row-sum moves what its contract says, counted by the emulator. Cost: 0.7 s emulated.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

constexpr std::uint64_t kSector = 32;

class RowSumCounters : public RowSumTest {
 protected:
  void SetUp() override {
    RowSumTest::SetUp();
    if (!IsSkipped() && !emulated()) GTEST_SKIP() << "counters are the emulator's";
  }
  static emulator::Counters count(const Layout& layout) {
    const SettingsScope restore;
    StridedMatrix x(device(), param().x_type, layout, normal(layout.rows, layout.cols, 1));
    StridedMatrix y(device(), param().y_type, column(layout.rows));
    emulator::settings().count = true;
    emulator::reset_counters();
    call(x.cview(), y.view());
    return emulator::counters();
  }
  static std::uint64_t x_bytes(const Layout& l) {
    return std::uint64_t(l.elements()) * size_of(param().x_type);
  }
  static std::uint64_t y_bytes(const Layout& l) {
    return std::uint64_t(l.rows) * size_of(param().y_type);
  }
};

// From two vectors a row to a CTA a row: x once, in 16-byte loads, and y once.
TEST_P(RowSumCounters, AlignedRowsAreTheFloor) {
  const std::int64_t v = per_vector();
  for (const std::int64_t vectors : {1, 2, 4, 8, 32, 128, 256, 512, 2048}) {
    const Layout layout = row_major(1024 / std::min<std::int64_t>(vectors, 256), vectors * v);
    const emulator::Counters c = count(layout);
    EXPECT_EQ(c.launches, 1u);
    EXPECT_EQ(c.global_bytes_read, x_bytes(layout)) << show(layout);
    EXPECT_EQ(c.global_bytes_written, y_bytes(layout)) << show(layout);
    // Two or four vectors a row are one lane's, whose loads meet half of each sector.
    const std::uint64_t times = vectors == 2 || vectors == 4 ? 2 : 1;
    EXPECT_EQ(c.global_read_sectors, times * x_bytes(layout) / kSector) << show(layout);
    EXPECT_EQ(c.global_read_requests, x_bytes(layout) / 512) << show(layout);
    EXPECT_EQ(c.shared_bank_conflicts, 0u);
  }
}

// The sums of neighbouring short rows are stored together.
TEST_P(RowSumCounters, SumsAreStoredInWholeSectors) {
  const std::int64_t v = per_vector();
  for (const std::int64_t vectors : {1, 2, 4, 8}) {
    const Layout layout = row_major(4096, vectors * v);
    EXPECT_EQ(count(layout).global_write_sectors, y_bytes(layout) / kSector) << show(layout);
  }
}

// Rows at any alignment: what a row has of its first and last vector costs the whole vector, and at
// the ends of the view element by element.
TEST_P(RowSumCounters, MisalignedRowsStayWide) {
  const std::int64_t v = per_vector();
  for (const std::int64_t cols : {2 * v + 1, 4 * v - 1, 33 * v, 100 * v + 3, 700 * v + 1}) {
    const Layout layout = row_major(64, cols, cols, 1);
    const emulator::Counters c = count(layout);
    EXPECT_GE(c.global_bytes_read, x_bytes(layout));
    EXPECT_LE(c.global_bytes_read, x_bytes(layout) + 64 * 4 * 32) << show(layout);
    EXPECT_EQ(c.global_bytes_written, y_bytes(layout));
    EXPECT_LE(c.global_read_requests, x_bytes(layout) / 512 + 64 * 12) << show(layout);
  }
}

// Long rows: 4 bytes more for each chunk of at least 64 KB, written and read.
TEST_P(RowSumCounters, LongRowsAddTheSumsOfTheirChunks) {
  const std::int64_t v = per_vector();
  const Layout layout = row_major(2, 4 * 8192 * v);
  const emulator::Counters c = count(layout);
  EXPECT_EQ(c.launches, 2u);
  EXPECT_EQ(c.global_bytes_read, x_bytes(layout) + 2 * 4 * 4);
  EXPECT_EQ(c.global_bytes_written, y_bytes(layout) + 2 * 4 * 4);
}

// Adjacent rows, by vectors of them.
TEST_P(RowSumCounters, ColumnDirectionReadsWholeSectors) {
  const Layout layout = col_major(256, 64);
  const emulator::Counters c = count(layout);
  EXPECT_EQ(c.global_bytes_read, x_bytes(layout));
  EXPECT_EQ(c.global_read_sectors, x_bytes(layout) / kSector);
  EXPECT_EQ(c.global_read_requests, x_bytes(layout) / 512);
  EXPECT_EQ(c.global_bytes_written, y_bytes(layout));
}

INSTANTIATE_TEST_SUITE_P(, RowSumCounters, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
