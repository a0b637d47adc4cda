// The kernels for few rows or columns: every number of them, each layout of the operands, parts of
// K in a cluster, tiles and K that end amid a box.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

std::vector<MatmulParam> skinny_params() {
  std::vector<MatmulParam> all;
  for (const MatmulParam& p : matmul_params()) {
    const std::string name = p.kernel.info->name;
    if (p.types.c == DType::f32 && p.types.a != DType::bf16) continue;  // once is enough
    if ((name == "matmul_sm90_skinny" && size_of(p.types.a) == 2) ||
        (name == "matmul_sm80_skinny" && size_of(p.types.a) <= 2)) {
      all.push_back(p);
    }
  }
  return all;
}

class MatmulSkinny : public MatmulTest {
 protected:
  // The kernel that streams: very few columns, and K adjacent.
  static bool streams() { return param().kernel.info->name == std::string("matmul_sm80_skinny"); }
  static std::int64_t most() { return streams() ? 16 : 64; }

  static std::int64_t aligned(std::int64_t extent) {
    const std::int64_t elements = 16 / std::int64_t(size_of(types().a));
    return (extent + elements - 1) / elements * elements;
  }
  // Rows 16 bytes aligned, with a gap behind each if `gap`.
  static Layout rows(std::int64_t r, std::int64_t c, int gap = 0) {
    return row_major(r, c, aligned(c) + 8 * gap);
  }
  static Layout columns(std::int64_t r, std::int64_t c, int gap = 0) {
    return col_major(r, c, aligned(r) + 8 * gap);
  }
  static MatmulCase layouts(std::int64_t m, std::int64_t n, std::int64_t k, int which) {
    MatmulCase t(m, n, k);
    if (streams()) which = 2;
    t.a = which & 1 ? columns(m, k, 1) : rows(m, k);
    t.b = which & 2 ? columns(k, n) : rows(k, n, 1);
    t.c = which % 3 == 1 ? columns(m, n) : rows(m, n);
    return t;
  }
  static void expect_it_runs(const MatmulCase& t) {
    EXPECT_NE(explain(t).find(streams() ? "mma.sync" : "wgmma"), std::string::npos) << show(t);
  }
};

// B3: every extent, in every layout; the other extent and K end amid a tile and a box.
TEST_P(MatmulSkinny, B3EveryFewRowsOrColumns) {
  for (std::int64_t few = 1; few <= most(); few += few < 18 ? 1 : 5) {
    const int which = int(few % 4);
    const MatmulCase wide = layouts(few, 131, 72 + few, which), tall = layouts(131, few, 90, which);
    expect_it_runs(wide);
    check_exact(wide, few);
    check_exact(tall, few + 100);
  }
  for (int which = 0; which < 4; ++which) check_exact(layouts(most(), most(), most(), which));
}

// The CTAs of a cluster share K, evenly or not, and add up.
TEST_P(MatmulSkinny, PartsOfK) {
  for (const std::int64_t few : {1, 9, 33}) {
    if (few > most()) break;
    for (const std::int64_t k : {1024, 2050}) {
      MatmulCase t = layouts(few, 70, k, int(few % 4));
      check_exact(t, 3);
      t.options.call.max_sms = 1;
      check_exact(t, 3);
    }
  }
}

TEST_P(MatmulSkinny, AnyOrderOfCompletion) {
  if (!emulated()) GTEST_SKIP() << "the emulator's order";
  const SettingsScope restore;
  for (const int which : {0, 3}) {
    MatmulCase t = layouts(12, 300, 1056, which);
    t.options.call.max_sms = which == 0 ? 0 : 1;  // several tiles a cluster
    t.a_bits = normal_bits(std::size_t(t.m * t.k), types().a, 1);
    t.b_bits = normal_bits(std::size_t(t.k * t.n), types().b, 2);
    emulator::settings().completion = emulator::Completion::late;
    const auto late = run(t);
    ASSERT_TRUE(late);
    emulator::settings().completion = emulator::Completion::eager;
    EXPECT_EQ(run(t), late);
    emulator::settings().completion = emulator::Completion::random;
    for (const std::uint64_t seed : {1u, 2u}) {
      emulator::settings().seed = seed;
      EXPECT_EQ(run(t), late) << seed;
    }
  }
}

// The whole epilogue, C's rows or columns adjacent, or neither; and the short way of it.
TEST_P(MatmulSkinny, Epilogue) {
  for (int i = 0; i < 12; ++i) {
    const bool tall = i & 1, plain = i & 2;
    const int c = i / 4;
    const std::int64_t m = tall ? 140 : 13, n = tall ? 13 : 140;
    MatmulCase t = layouts(m, n, 40, 2);
    t.c = c == 0 ? rows(m, n, 1) : c == 1 ? columns(m, n) : Layout{m, n, 2 * n, 2};
    if (!plain) {
      t.c_in = c == 1 ? rows(m, n) : columns(m, n);
      t.c_in_bits = integers(m * n, types().c, 11);
      t.options.beta = 2.0f;
    }
    t.bias_bits = integers(n, DType::f32, 12);
    t.options.alpha = 0.5f;
    t.options.has_alpha = 1;
    t.options.activation = LK_ACT_RELU;
    t.scale_a = 4.0f;
    t.scale_b = 0.5f;
    expect_it_runs(t);
    check_exact(t, 5);
  }
}

// Sums of several clusters meet in scratch: the caller's, or the library's own.
TEST_P(MatmulSkinny, DeepK) {
  if (streams()) GTEST_SKIP() << "not of very few columns";
  const SettingsScope restore;
  for (int which = 0; which < 4; ++which) {
    MatmulCase t = layouts(which == 1 ? 140 : 66, 66 + which, 1600 + 8 * which, which);
    if (which == 3) {
      t.bias_bits = integers(t.n, DType::f32, 12);
      t.c_in_bits = integers(t.m * t.n, types().c, 11);
      t.options.beta = 2.0f;
    }
    if (which == 2 && emulated()) {
      emulator::settings().completion = emulator::Completion::eager;
    }
    expect_it_runs(t);
    t.options.call.max_sms = which == 1 ? 2 : 0;
    check_exact(t, 7);
  }
}

TEST_P(MatmulSkinny, DeepKOfManyClusters) {
  if (!emulated() || streams() || size_of(types().c) != 2)
    GTEST_SKIP() << "one type of C, on many SMs";
  const ProfileScope scope{std::string("h200")};
  MatmulCase t = layouts(66, 69, 4700, 2);
  t.bias_bits = integers(t.n, DType::f32, 12);
  EXPECT_NE(explain(t).find("adds up"), std::string::npos);
  check_exact(t, 7);
}

INSTANTIATE_TEST_SUITE_P(Kernels, MatmulSkinny, testing::ValuesIn(skinny_params()), matmul_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MatmulSkinny);

}  // namespace
}  // namespace libkernels::test
