// Matmul on every shape, layout and alignment: integers, tolerance 0. Memory around and between the
// elements is NaN before the call and must be the same afterwards; no result may depend on it.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulLayout : public MatmulTest {
 protected:
  // Row or column major, with a gap between rows (or columns), from an offset.
  static Layout layout(std::int64_t rows, std::int64_t cols, bool columns, std::int64_t gap = 0,
                       std::int64_t offset = 0) {
    return columns ? col_major(rows, cols, rows + gap, offset)
                   : row_major(rows, cols, cols + gap, offset);
  }
  // Bits of `which`: is a, b, c column major?
  static MatmulCase make(std::int64_t m, std::int64_t n, std::int64_t k, int which,
                         std::int64_t gap = 0, std::int64_t offset = 0) {
    MatmulCase t(m, n, k);
    t.a = layout(m, k, which & 1, gap, offset);
    t.b = layout(k, n, which & 2, gap, offset);
    t.c = layout(m, n, which & 4, gap, offset);
    return t;
  }
};

// Whole chunks of 16 bytes everywhere: cp.async where the kernel has it, for each type.
TEST_P(MatmulLayout, AlignedLayouts) {
  for (int which = 0; which < 8; ++which) check_exact(make(80, 96, 64, which));
}

// Tails of M, N and K: one less, one more than a tile, and K around a stage.
TEST_P(MatmulLayout, TailsOfEveryExtent) {
  int which = 0;
  for (const std::int64_t m : {1, 63, 65}) {
    for (const std::int64_t n : {1, 31, 66}) {
      for (const std::int64_t k : {1, 31, 33, 65}) check_exact(make(m, n, k, which++ % 8));
    }
  }
}

// The same with aligned rows: the async path masks with src_size.
TEST_P(MatmulLayout, TailsWithAlignedRows) {
  int which = 0;
  for (const std::int64_t m : {1, 9, 64, 72}) {
    for (const std::int64_t n : {7, 64}) {
      for (const std::int64_t k : {3, 60, 129}) {
        MatmulCase t(m, n, k);
        t.a = (which & 1) != 0 ? col_major(m, k, 80) : row_major(m, k, 144);
        t.b = (which & 2) != 0 ? col_major(k, n, 144) : row_major(k, n, 80);
        t.c = (which & 4) != 0 ? col_major(m, n, 80) : row_major(m, n, 80);
        check_exact(t);
        ++which;
      }
    }
  }
}

// D1: each operand one element off, on its own and together, and odd leading dimensions.
TEST_P(MatmulLayout, D1EveryOperandOffByOne) {
  for (int mask = 0; mask < 8; ++mask) {
    MatmulCase t = make(48, 40, 72, mask);
    t.a.offset = mask & 1;
    t.b.offset = mask >> 1 & 1;
    t.c.offset = mask >> 2 & 1;
    check_exact(t);
    check_exact(make(48, 40, 72, mask, 1 + mask % 3, mask));
  }
}

TEST_P(MatmulLayout, EveryOffsetOfARow) {
  for (std::int64_t offset = 0; offset < 16; offset += types().a == DType::f32 ? 1 : 3) {
    check_exact(make(5, 6, 50, int(offset) % 8, offset % 2, offset));
  }
}

TEST_P(MatmulLayout, StridesWithoutAUnit) {
  MatmulCase t(37, 35, 41);
  t.a = {t.m, t.k, 3 * t.k + 1, 3};
  t.b = {t.k, t.n, 2, 2 * t.k + 1};
  t.c = {t.m, t.n, 2 * t.n + 3, 2};
  check_exact(t);
  t.a = {t.m, t.k, 2, 2 * t.m + 1};
  t.b = {t.k, t.n, 2 * t.n + 1, 2};
  t.c = {t.m, t.n, 2, 2 * t.m + 5};
  check_exact(t);
}

// The same where a copy of the operands pays: D1, each on its own and together, in every layout.
TEST_P(MatmulLayout, D1LongKOffByOne) {
  for (int which = 0; which < 8; ++which) {
    check_exact(make(12, 16, kLongK + which, which, which % 3, 1 + which));
  }
  MatmulCase one(17, 16, 336);  // B is aligned
  one.a = row_major(17, 336, 337);
  check_exact(one);
  one.a = row_major(17, 336);
  one.b.offset = 1;
  check_exact(one);
}

TEST_P(MatmulLayout, LongKWithoutAUnit) {
  MatmulCase t(9, 11, kLongK);
  t.a = {t.m, t.k, 3 * t.k + 1, 3};
  t.b = {t.k, t.n, 2, 2 * t.k + 1};
  check_exact(t);
  t.a = {t.m, t.k, 2, 2 * t.m + 1};
  t.b = {t.k, t.n, 2 * t.n + 1, 2};
  check_exact(t);
  t.a = {t.m, t.k, 0, 1};
  t.b = {t.k, t.n, 1, 0};
  check_exact(t);
  t.a = {t.m, t.k, 1, 0};
  t.b = {t.k, t.n, 0, 1};
  check_exact(t);
  t.a = {t.m, t.k, 0, 0};
  check_exact(t);
}

// Extents of one, whose strides say nothing, and more lines than a CTA copies at once.
TEST_P(MatmulLayout, LongKOfFewAndOfManyRows) {
  MatmulCase row(1, 70, kLongK);
  row.a = {1, kLongK, 5, 1, 3};
  check_exact(row);
  MatmulCase column(70, 1, kLongK);
  column.b = {kLongK, 1, 3, 7};
  check_exact(column);
  check_exact(make(131, 67, kLongK, 2, 1, 1));
}

// F4: stride 0 for inputs.
TEST_P(MatmulLayout, F4BroadcastInputs) {
  for (const Layout& a : {Layout{18, 40, 0, 1}, Layout{18, 40, 1, 0}, Layout{18, 40, 0, 0}}) {
    for (const Layout& b : {Layout{40, 20, 0, 1}, Layout{40, 20, 1, 0}}) {
      MatmulCase t(18, 20, 40);
      t.a = a;
      t.b = b;
      check_exact(t);
    }
  }
}

TEST_P(MatmulLayout, StridesOfExtentsOfOneAreIgnored) {
  for (const std::int64_t stride : {std::int64_t{0}, std::int64_t{5}, std::int64_t{1} << 40}) {
    MatmulCase t(1, 24, 1);
    t.a = {1, 1, stride, stride};
    t.b = {1, 24, stride, 1};
    t.c = {1, 24, stride, 1};
    check_exact(t);
    MatmulCase column(24, 1, 16);
    column.b = {16, 1, 1, stride};
    column.c = {24, 1, 1, stride};
    check_exact(column);
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulLayout, testing::ValuesIn(matmul_params_one_c()), matmul_name);

// The larger tiles, whole and with tails. On a device of one SM (emulated) they pay early.
class MatmulTiles : public MatmulLayout {
 protected:
  void SetUp() override {
    MatmulLayout::SetUp();
    if (IsSkipped() || !emulated()) return;
    use_one_sm(emulator::current_profile());
  }
  // Until MatmulTest restores the profile.
  static void use_one_sm(DeviceProperties properties) {
    properties.sm_count = 1;
    emulator::set_current_profile(properties);
  }
  static void expect_tile(const MatmulCase& t, const std::string& tile) {
    if (!emulated() || !portable()) return;
    EXPECT_NE(explain(t).find(" tile(s) of " + tile), std::string::npos) << explain(t);
  }
};

TEST_P(MatmulTiles, Largest) {
  for (int which = 0; which < 4; ++which) {
    for (const std::int64_t gap : {12, 1}) {  // aligned, and not
      MatmulCase t = make(244, 500, 40, which);
      t.a = layout(t.m, t.k, which & 1, which & 1 ? gap : 8 * (gap - 1), gap % 2);
      t.b = layout(t.k, t.n, which & 2, which & 2 ? 8 * (gap - 1) : gap, gap % 2);
      const bool small = types().math == LK_MATH_TF32X3 && gap == 1;
      expect_tile(t, small ? "64 x 128" : "128 x ");
      check_exact(t);
    }
  }
}

// H1: what 8.9 can hold in shared memory.
TEST_P(MatmulTiles, H1LargestWithin99Kilobytes) {
  if (!emulated() || !portable()) GTEST_SKIP() << "of the emulator and the portable kernel";
  use_one_sm(*emulator::find_profile("rtx4090"));
  for (int which = 0; which < 4; ++which) {
    const MatmulCase t = make(248, 504, 72, which);
    expect_tile(t, stage_bits() == 16 && size_of(types().a) == 2 ? "128 x 256, 64 bytes" : "");
    check_exact(t);
    EXPECT_LE(emulator::last_launch().smem, 101376u);
  }
}

TEST_P(MatmulTiles, Middle) {
  for (int which = 0; which < 4; ++which) {
    MatmulCase t = make(200, 120, 72, which);
    const bool fma = types().a == DType::f32 && types().math == LK_MATH_FP32;
    expect_tile(t, fma ? "64 x 128" : "128 x 128");
    check_exact(t);
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulTiles, testing::ValuesIn(matmul_params_one_c()), matmul_name);

}  // namespace
}  // namespace libkernels::test
