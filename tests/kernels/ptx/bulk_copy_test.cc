// Bulk copies: drawn sizes and places, multicast, between CTAs of a cluster, and as a pipeline, bit
// for bit on both backends. Cost: 1.5 s emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/kernels/ptx/bulk_copy_case.h"
#include "tests/support/bytes.h"
#include "tests/support/sides.h"

namespace libkernels {
namespace emu {
const test::BulkKernels& bulk_kernels();
}
namespace cuda {
const test::BulkKernels& bulk_kernels();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::size_t kTile = kBulkWords * 4;  // bytes
constexpr std::size_t kBuffer = 3 * kTile;

// Sizes and places in units of 16 bytes; the ranks' parts do not overlap.
BulkDraw draw_copy(Dice& dice, int most_ctas, int least_ctas = 1) {
  constexpr int kUnit = 16, kUnits = int(kTile) / kUnit;
  BulkDraw d;
  d.ctas = dice.roll(least_ctas, most_ctas);
  d.hint = dice.chance(2);
  const int units = dice.chance(3) ? 1 : dice.roll(1, kUnits / d.ctas);
  const int step = dice.roll(units, kUnits / d.ctas);
  const int used = step * (d.ctas - 1) + units;
  d.bytes = std::uint32_t(kUnit * units);
  d.step = std::uint32_t(kUnit * step);
  d.shared = std::uint32_t(kUnit * dice.roll(0, kUnits - used));
  d.global = std::uint32_t(kUnit * dice.roll(0, int(kBuffer) / kUnit - used));
  return d;
}

void copy(Bytes* to, std::size_t at, const Bytes& from, std::size_t first, std::size_t n) {
  std::copy_n(from.begin() + std::ptrdiff_t(first), n, to->begin() + std::ptrdiff_t(at));
}

std::string show(const BulkDraw& d) {
  return std::to_string(d.ctas) + " CTAs, " + std::to_string(d.bytes) + " bytes, shared " +
         std::to_string(d.shared) + " global " + std::to_string(d.global) + " step " +
         std::to_string(d.step);
}

using BulkCopy = SidesTest<BulkKernels>;

TEST_P(BulkCopy, Loads) {
  for (int i = 0; i < draws(100, 250); ++i) {
    Dice dice{std::uint64_t(i)};
    BulkDraw d = draw_copy(dice, kBulkCtas);
    const bool multicast = dice.chance(2);
    for (int r = 0; multicast && r < d.ctas; ++r) {
      d.masks[r] = std::uint32_t(dice.roll(1, (1 << d.ctas) - 1));
    }
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    const Bytes source = random_bytes(kBuffer, std::uint64_t(i));
    const std::size_t words = std::size_t(d.ctas) * kBulkWords;
    const DeviceBuffer in = upload(device(), source), out(device(), words * 4);
    const cudaError_t error =
        kernels().load(in.data(), d, static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Bytes expected = repeated(kBulkPoison, words);
    for (std::size_t from = 0; from < std::size_t(d.ctas); ++from) {
      for (std::size_t to = 0; to < std::size_t(d.ctas); ++to) {
        if (multicast ? !(d.masks[from] >> to & 1) : from != to) continue;
        copy(&expected, to * kTile + d.shared + from * d.step, source, d.global + from * d.step,
             d.bytes);
      }
    }
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

TEST_P(BulkCopy, Stores) {
  for (int i = 0; i < draws(100, 250); ++i) {
    Dice dice{1000000 + std::uint64_t(i)};
    const BulkDraw d = draw_copy(dice, kBulkCtas);
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    const Bytes tiles = random_bytes(std::size_t(d.ctas) * kTile, std::uint64_t(i));
    Bytes expected = random_bytes(kBuffer, 77 + std::uint64_t(i));
    const DeviceBuffer in = upload(device(), tiles), out = upload(device(), expected);
    const cudaError_t error =
        kernels().store(static_cast<const std::uint32_t*>(in.data()), d, out.data(), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    for (std::size_t r = 0; r < std::size_t(d.ctas); ++r) {
      copy(&expected, d.global + r * d.step, tiles, r * kTile + d.shared + r * d.step, d.bytes);
    }
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

TEST_P(BulkCopy, BetweenCtas) {
  for (int i = 0; i < draws(60, 200); ++i) {
    Dice dice{2000000 + std::uint64_t(i)};
    BulkDraw d = draw_copy(dice, kBulkCtas, 2);
    d.shift = dice.roll(1, d.ctas - 1);
    d.global = d.shared;  // both are tiles
    SCOPED_TRACE(std::to_string(i) + ": " + show(d));
    const std::size_t words = std::size_t(d.ctas) * kBulkWords;
    const Bytes tiles = random_bytes(words * 4, std::uint64_t(i));
    const DeviceBuffer in = upload(device(), tiles), out(device(), words * 4);
    const cudaError_t error =
        kernels().cluster_copy(static_cast<const std::uint32_t*>(in.data()), d,
                               static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Bytes expected = repeated(kBulkPoison, words);
    for (std::size_t from = 0; from < std::size_t(d.ctas); ++from) {
      const std::size_t to = (from + std::size_t(d.shift)) % std::size_t(d.ctas);
      copy(&expected, to * kTile + d.shared, tiles, from * kTile + d.global + from * d.step,
           d.bytes);
    }
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

TEST_P(BulkCopy, Streams) {
  for (int i = 0; i < draws(20, 80); ++i) {
    Dice dice{3000000 + std::uint64_t(i)};
    StreamDraw d;
    d.stages = dice.roll(1, 4);
    d.chunks = dice.roll(1, 20);
    d.bytes = std::uint32_t(16 * dice.roll(1, emulated() ? 60 : 256));
    d.ctas = dice.roll(1, draws(3, 300));
    SCOPED_TRACE(std::to_string(i) + ": " + std::to_string(d.stages) + " stages, " +
                 std::to_string(d.chunks) + " chunks of " + std::to_string(d.bytes));
    const std::size_t bytes = std::size_t(d.ctas) * std::size_t(d.chunks) * d.bytes;
    const Bytes source = random_bytes(bytes, std::uint64_t(i));
    const DeviceBuffer in = upload(device(), source), out(device(), bytes);
    const cudaError_t error = kernels().stream(static_cast<const std::uint32_t*>(in.data()), d,
                                               static_cast<std::uint32_t*>(out.data()), nullptr);
    ASSERT_EQ(error, cudaSuccess) << why(error);
    Bytes expected = source;
    for (std::uint8_t& b : expected) b = std::uint8_t(~b);
    ASSERT_TRUE(same_bytes(download(out), expected));
  }
}

// Every byte is counted once: a multicast reads global memory for all its CTAs.
TEST_P(BulkCopy, AreCounted) {
  if (!emulated()) GTEST_SKIP() << "counters are the emulator's";
  BulkDraw d;
  d.ctas = 2;
  d.bytes = 1024;
  d.masks[0] = d.masks[1] = 3;
  d.step = 1024;
  d.global = 16;  // half a sector more at both ends
  const Bytes source = random_bytes(kBuffer, 1);
  const DeviceBuffer in = upload(device(), source), out(device(), 2 * kTile);
  emulator::settings().count = true;
  emulator::reset_counters();
  ASSERT_EQ(kernels().load(in.data(), d, static_cast<std::uint32_t*>(out.data()), nullptr),
            cudaSuccess);
  EXPECT_EQ(emulator::counters().global_bytes_read, 2 * 1024u);
  EXPECT_EQ(emulator::counters().global_read_sectors, 2 * 33u);
  EXPECT_EQ(emulator::counters().global_read_requests, 2u);
  emulator::reset_counters();
  d.step = 2048;
  const DeviceBuffer tiles = upload(device(), random_bytes(2 * kTile, 2)),
                     stored(device(), kBuffer);
  ASSERT_EQ(
      kernels().store(static_cast<const std::uint32_t*>(tiles.data()), d, stored.data(), nullptr),
      cudaSuccess);
  EXPECT_EQ(emulator::counters().global_bytes_written, 2 * 1024u);
  EXPECT_EQ(emulator::counters().global_write_requests, 2u);
  EXPECT_EQ(emulator::counters().global_write_sectors, 2 * 33u);
}

LK_INSTANTIATE_SIDES(BulkCopy, bulk_kernels);

}  // namespace
}  // namespace libkernels::test
