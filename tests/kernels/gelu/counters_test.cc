// GeLU moves what its contract says, counted by the emulator: one read and one write, in whole
// sectors, where the views allow it, and how much more elsewhere. Cost: 0.6 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/kernels/gelu/layout_fixture.h"

namespace libkernels::test {
namespace {

constexpr std::uint64_t kSector = 32;

class GeluCounters : public GeluLayoutTest {
 protected:
  void SetUp() override {
    GeluLayoutTest::SetUp();
    if (!IsSkipped() && !emulated()) GTEST_SKIP() << "counters are the emulator's";
  }
  static emulator::Counters count(const Layout& x_layout, const Layout& y_layout) {
    const SettingsScope restore;
    pool();
    StridedMatrix x(device(), param().x_type, x_layout, drawn(x_layout, 1, pool().x));
    StridedMatrix y(device(), param().y_type, y_layout);
    emulator::settings().count = true;
    emulator::reset_counters();
    EXPECT_TRUE(try_call(x.cview(), y.view()));
    return emulator::counters();
  }
  static std::uint64_t x_bytes(std::int64_t n) {
    return std::uint64_t(n) * size_of(param().x_type);
  }
  static std::uint64_t y_bytes(std::int64_t n) {
    return std::uint64_t(n) * size_of(param().y_type);
  }
};

TEST_P(GeluCounters, ContiguousIsTheFloor) {
  constexpr std::int64_t kN = 1 << 14;
  const emulator::Counters c = count(row_major(1, kN), row_major(1, kN));
  EXPECT_EQ(c.launches, 1u);
  EXPECT_EQ(c.global_bytes_read, x_bytes(kN));
  EXPECT_EQ(c.global_bytes_written, y_bytes(kN));
  // Every sector once.
  EXPECT_EQ(c.global_read_sectors, x_bytes(kN) / kSector);
  EXPECT_EQ(c.global_write_sectors, y_bytes(kN) / kSector);
  // At least 8 bytes a lane and request: nothing is loaded or stored element by element.
  EXPECT_LE(c.global_read_requests, x_bytes(kN) / (32 * 8));
  EXPECT_LE(c.global_write_requests, y_bytes(kN) / (32 * 8));
  EXPECT_EQ(c.shared_bank_conflicts, 0u);
}

// Rows of any pitch without a common phase: the output is written once, the input read at most
// twice (the second time from L1), plus single elements at the ends of rows.
TEST_P(GeluCounters, MisalignedRowsStayWide) {
  constexpr std::int64_t kRows = 16, kCols = 1021;
  for (const std::int64_t offset : {1, 3}) {
    const emulator::Counters c =
        count(row_major(kRows, kCols, kCols + 2, offset), row_major(kRows, kCols, kCols + 3, 2));
    EXPECT_EQ(c.global_bytes_written, y_bytes(kRows * kCols));
    EXPECT_GE(c.global_bytes_read, x_bytes(kRows * kCols));
    EXPECT_LE(c.global_bytes_read, 2 * x_bytes(kRows * kCols) + kRows * 128);
    // Three and a half times the least number of sectors at most; element-wise accesses of the
    // whole rows would show in the requests.
    EXPECT_LE(c.global_write_requests, 4 * y_bytes(kRows * kCols) / (32 * 8) + kRows * 64);
    EXPECT_LE(c.global_read_requests, 6 * x_bytes(kRows * kCols) / (32 * 8) + kRows * 64);
    EXPECT_LE(c.global_write_sectors, 2 * y_bytes(kRows * kCols) / kSector + kRows * 32);
  }
}

// A pitch that keeps every row aligned costs nothing.
TEST_P(GeluCounters, AlignedPitchIsTheFloor) {
  constexpr std::int64_t kRows = 8, kCols = 1024;
  const emulator::Counters c = count(row_major(kRows, kCols, 1088), row_major(kRows, kCols, 1152));
  EXPECT_EQ(c.global_bytes_read, x_bytes(kRows * kCols));
  EXPECT_EQ(c.global_bytes_written, y_bytes(kRows * kCols));
  EXPECT_EQ(c.global_read_sectors, x_bytes(kRows * kCols) / kSector);
  EXPECT_EQ(c.global_write_sectors, y_bytes(kRows * kCols) / kSector);
}

INSTANTIATE_TEST_SUITE_P(, GeluCounters, testing::ValuesIn(gelu_params()), gelu_name);

}  // namespace
}  // namespace libkernels::test
