// How matmul runs: the same bits in every run, in any order of completion and on any number of SMs;
// no bank conflicts; a row's bits whatever the rows beside it.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulBehaviour : public MatmulTest {
 protected:
  static MatmulCase drawn(std::int64_t m, std::int64_t n, std::int64_t k, bool columns = false,
                          std::int64_t offset = 0) {
    MatmulCase t(m, n, k);
    if (columns) t.a = col_major(m, k), t.b = col_major(k, n);
    t.a.offset = offset;
    t.a_bits = normal_bits(std::size_t(m * k), types().a, 1);
    t.b_bits = normal_bits(std::size_t(k * n), types().b, 2);
    return t;
  }
};

// Late, eager and random: a wait forgotten or too weak shows as NaN or as a race.
TEST_P(MatmulBehaviour, AnyOrderOfCompletion) {
  if (!emulated()) GTEST_SKIP() << "the emulator's order";
  const SettingsScope restore;
  for (const bool columns : {false, true}) {
    for (const std::int64_t offset : {0, 1}) {
      const MatmulCase t = drawn(72, 136, 264, columns, offset);
      emulator::settings().completion = emulator::Completion::late;
      const auto late = run(t);
      if (!late) continue;
      emulator::settings().completion = emulator::Completion::eager;
      EXPECT_EQ(run(t), late);
      emulator::settings().completion = emulator::Completion::random;
      for (const std::uint64_t seed : {1u, 2u}) {
        emulator::settings().seed = seed;
        EXPECT_EQ(run(t), late) << seed;
      }
    }
  }
}

// J3, H7: run to run, and with fewer SMs than tiles.
TEST_P(MatmulBehaviour, J3SameBitsWithAnyNumberOfSms) {
  MatmulCase t = drawn(200, 200, 40);
  const auto first = run(t);
  if (!first) return;
  EXPECT_EQ(run(t), first);
  for (const int sms : {1, 2, 5, 1000}) {
    t.options.call.max_sms = sms;
    EXPECT_EQ(run(t), first) << sms;
  }
}

// D1: the bits do not depend on alignment, nor on how the operands are stored.
TEST_P(MatmulBehaviour, D1BitsDoNotDependOnTheLayout) {
  const MatmulCase aligned = drawn(40, 48, 200);
  const auto expected = run(aligned);
  if (!expected) return;
  const std::int64_t unit = portable() ? 1 : 16;  // what the others ask of an operand, at least
  for (const std::int64_t offset : {0, 1, 2}) {
    MatmulCase t = aligned;
    const std::int64_t skip = offset * unit;
    // A column-major C transposes the problem, and tf32x3's two middle products with it. So do A and
    // B for wgmma, which besides wants K adjacent in one of them.
    const bool x3 = types().math == LK_MATH_TF32X3;
    const bool one_k = types().a == DType::f32 && !portable();
    const bool turns = !x3 || portable();
    const bool a_cols = offset == 1 && turns;
    const bool b_cols = (offset == 2 || (a_cols && one_k)) && turns;
    t.a = a_cols ? col_major(t.m, t.k, t.m, skip) : row_major(t.m, t.k, t.k + unit, skip);
    t.b = b_cols ? col_major(t.k, t.n, t.k, skip) : row_major(t.k, t.n, t.n, skip);
    t.c = offset == 0 || x3 ? row_major(t.m, t.n, t.n + offset, 1)
                            : col_major(t.m, t.n, t.m + 1, offset);
    const auto got = run(t);
    ASSERT_TRUE(got);
    EXPECT_TRUE(bits_equal(*got, *expected, types().c)) << show(t);
  }
}

// J2, for the portable kernel: a row's bits, whatever the rows beside it.
TEST_P(MatmulBehaviour, J2ARowsBitsDoNotDependOnM) {
  if (!portable()) GTEST_SKIP() << "promised of the portable kernel alone";
  const MatmulCase all = drawn(257, 48, 64);
  const Bits expected = *run(all);
  for (const std::int64_t m : {1, 2, 17, 33, 128}) {
    MatmulCase t = all;
    t.m = m;
    t.a = row_major(m, t.k);
    t.c = row_major(m, t.n);
    t.a_bits.resize(std::size_t(m * t.k));
    EXPECT_TRUE(bits_equal(*run(t), Bits(expected.begin(), expected.begin() + m * t.n), types().c))
        << m;
  }
}

// What the swizzles promise, for every layout and for cp.async as well as the way through
// registers.
TEST_P(MatmulBehaviour, NoBankConflicts) {
  if (!emulated() || !portable()) GTEST_SKIP() << "counters are the emulator's";
  const SettingsScope restore;
  emulator::settings().count = true;
  for (int which = 0; which < 8; ++which) {
    MatmulCase t(128, 256, 64);
    t.a = which & 1 ? col_major(t.m, t.k) : row_major(t.m, t.k);
    t.b = which & 2 ? col_major(t.k, t.n) : row_major(t.k, t.n);
    t.a.offset = which >> 2;
    t.a_bits = integers(t.a, types().a, 1);
    t.b_bits = integers(t.b, types().b, 2);
    emulator::reset_counters();
    run(t);
    EXPECT_EQ(emulator::counters().launches, 1u);
    EXPECT_GT(emulator::counters().shared_read_requests, 0u);
    EXPECT_EQ(emulator::counters().shared_bank_conflicts, 0u) << show(t);
    const std::uint64_t products = types().math == LK_MATH_TF32X3 ? 3 : 1;
    if (types().a != DType::f32 || types().math != LK_MATH_FP32) {
      EXPECT_EQ(emulator::counters().mma_flops, products * 2 * 128 * 256 * 64) << show(t);
    }
  }
}

// A, B and C are moved once per tile, in whole sectors.
TEST_P(MatmulBehaviour, OneTileReadsItsOperandsOnce) {
  if (!emulated() || !portable()) GTEST_SKIP() << "counters are the emulator's";
  const SettingsScope restore;
  emulator::settings().count = true;
  MatmulCase t(64, 64, 64);
  t.b = col_major(t.k, t.n);
  t.a_bits = integers(t.a, types().a, 1);
  t.b_bits = integers(t.b, types().b, 2);
  emulator::reset_counters();
  run(t);
  const std::uint64_t inputs = 64 * 64 * (size_of(types().a) + size_of(types().b));
  EXPECT_EQ(emulator::counters().global_bytes_read, inputs);
  EXPECT_EQ(emulator::counters().global_bytes_written, 64 * 64 * size_of(types().c));
  EXPECT_EQ(emulator::counters().global_write_sectors, 64 * 64 * size_of(types().c) / 32);
}

INSTANTIATE_TEST_SUITE_P(, MatmulBehaviour, testing::ValuesIn(matmul_params_one_c()), matmul_name);

}  // namespace
}  // namespace libkernels::test
