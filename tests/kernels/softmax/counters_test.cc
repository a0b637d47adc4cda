// Softmax moves what its contract says, counted by the emulator: one read and one write, in whole
// sectors, where a row fits on chip and is aligned, and how much more elsewhere.
// Cost: 1.6 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

constexpr std::uint64_t kSector = 32;

class SoftmaxCounters : public SoftmaxTest {
 protected:
  void SetUp() override {
    SoftmaxTest::SetUp();
    if (!IsSkipped() && !emulated()) GTEST_SKIP() << "counters are the emulator's";
  }
  static emulator::Counters count(const Layout& x_layout, const Layout& y_layout) {
    const SettingsScope restore;
    StridedMatrix x(device(), x_type(), x_layout, normal_row(x_layout.elements(), 1));
    StridedMatrix y(device(), y_type(), y_layout);
    emulator::settings().count = true;
    emulator::reset_counters();
    EXPECT_TRUE(call(x.cview(), y.view()));
    return emulator::counters();
  }
  static std::uint64_t x_bytes(std::int64_t n) { return std::uint64_t(n) * size_of(x_type()); }
  static std::uint64_t y_bytes(std::int64_t n) { return std::uint64_t(n) * size_of(y_type()); }
};

TEST_P(SoftmaxCounters, RowsOnChipAreTheFloor) {
  for (const auto& [rows, cols] : {std::pair{64, 32}, std::pair{32, 128}, std::pair{8, 1024},
                                   std::pair{2, 8192}, std::pair{1, 32768}}) {
    const emulator::Counters c = count(row_major(rows, cols), row_major(rows, cols));
    EXPECT_EQ(c.launches, 1u);
    EXPECT_EQ(c.global_bytes_read, x_bytes(rows * cols)) << cols;
    EXPECT_EQ(c.global_bytes_written, y_bytes(rows * cols)) << cols;
    // Every sector once, by vectors of 8 bytes a lane at least.
    EXPECT_EQ(c.global_read_sectors, x_bytes(rows * cols) / kSector) << cols;
    EXPECT_EQ(c.global_write_sectors, y_bytes(rows * cols) / kSector) << cols;
    EXPECT_LE(c.global_read_requests, x_bytes(rows * cols) / (32 * 8)) << cols;
    EXPECT_LE(c.global_write_requests, y_bytes(rows * cols) / (32 * 8)) << cols;
    EXPECT_EQ(c.shared_bank_conflicts, 0u) << cols;
  }
}

// Rows that are misaligned differently: everything is still loaded once, by words but for the two
// ends of a vector that begins within one, and stored once, by vectors but for the ends of rows.
TEST_P(SoftmaxCounters, MisalignedRowsStayWide) {
  constexpr std::int64_t kRows = 8, kCols = 4095;
  const emulator::Counters c =
      count(row_major(kRows, kCols, kCols, 1), row_major(kRows, kCols, kCols, 2));
  // Beyond the floor: the vector that two warps share, and one at the end of each row.
  const std::uint64_t warps = kRows * kCols / 1024 + kRows;
  EXPECT_GE(c.global_bytes_read, x_bytes(kRows * kCols));
  EXPECT_LE(c.global_bytes_read, x_bytes(kRows * kCols) + warps * 2 * 16);
  EXPECT_EQ(c.global_bytes_written, y_bytes(kRows * kCols));
  // A vector is 16 bytes of y. Where it begins within a word, it takes a load more than its words.
  const std::uint64_t words = 4 * size_of(x_type()) / size_of(y_type());
  EXPECT_LE(c.global_read_requests,
            x_bytes(kRows * kCols) * (words + 1) / (32 * 4 * words) + warps * 2 + 8);
  EXPECT_LE(c.global_write_requests, y_bytes(kRows * kCols) / (32 * 16) + warps * 9);
}

// Two reads, one write; of scratch 8 bytes a chunk, cleared and then set, and a ticket for each
// chunk and for some that are read ahead, a row's or more. Clusters read once.
TEST_P(SoftmaxCounters, SplitRowsAreReadTwice) {
  constexpr std::int64_t kCols = 16 * 8192;
  const std::uint64_t chunks = y_type() == DType::f32 ? 16 : 8;
  const emulator::Counters c = count(row_major(2, kCols), row_major(2, kCols));
  if (!portable()) {
    EXPECT_EQ(c.launches, 1u);
    EXPECT_EQ(c.global_bytes_read, x_bytes(2 * kCols));
    EXPECT_EQ(c.global_bytes_written, y_bytes(2 * kCols));
    return;
  }
  EXPECT_EQ(c.launches, 2u);
  EXPECT_GE(c.global_bytes_read, 2 * x_bytes(2 * kCols));
  // The results of a row's chunks are asked for again until all are there.
  EXPECT_LE(c.global_bytes_read, 2 * x_bytes(2 * kCols) + 2 * chunks * chunks * 2 * 8);
  const std::uint64_t fixed = y_bytes(2 * kCols) + (2 * 2 * chunks + 1) * 8;
  EXPECT_GE(c.global_bytes_written, fixed + 3 * chunks * 4);
  EXPECT_LE(c.global_bytes_written, fixed + 4 * chunks * 4);
}

// Adjacent rows, which a CTA or a cluster can hold: the floor here as well.
TEST_P(SoftmaxCounters, ColumnsAreTheFloor) {
  for (const std::int64_t cols : {100, 700}) {
    constexpr std::int64_t kRows = 64;
    const emulator::Counters c = count(col_major(kRows, cols), col_major(kRows, cols));
    EXPECT_EQ(c.launches, 1u);
    EXPECT_EQ(c.global_bytes_read, x_bytes(kRows * cols)) << cols;
    EXPECT_EQ(c.global_bytes_written, y_bytes(kRows * cols)) << cols;
    EXPECT_EQ(c.global_read_sectors, x_bytes(kRows * cols) / kSector) << cols;
    // Eight rows of a wider type are two vectors, half a sector each.
    const std::uint64_t halves = size_of(y_type()) / size_of(x_type());
    EXPECT_EQ(c.global_write_sectors, halves * y_bytes(kRows * cols) / kSector) << cols;
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxCounters, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
