// Faults that users of comparable libraries reported in public, as matmul meets them; each test
// bears the number of its case. Others of them, being about layouts, bits or the host, stand as
// tests of their number in the files beside this one and in tests/src/matmul_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulPublicBugs : public MatmulTest {
 protected:
  static Bits ones(std::int64_t count, DType type) {
    return Bits(std::size_t(count), encode(1, type));
  }
  static MatmulCase all_ones(std::int64_t m, std::int64_t n, std::int64_t k) {
    MatmulCase t(m, n, k);
    t.a_bits = ones(m * k, types().a);
    t.b_bits = ones(k * n, types().b);
    return t;
  }
  static void expect_everywhere(const MatmulCase& t, double value) {
    const auto got = run(t);
    if (!got) return;
    EXPECT_TRUE(bits_equal(*got, Bits(got->size(), encode(value, types().c)), types().c))
        << show(t);
  }
};

// D1: the bias is a slice of a larger buffer; then every combination of offsets of one element.
TEST_P(MatmulPublicBugs, D1BiasAtAnyElement) {
  for (const std::int64_t offset : {0, 1, 2, 4}) {
    MatmulCase t = all_ones(64, 64, 64);
    t.bias_type = types().c;
    t.bias_bits = ones(t.n, types().c);
    t.bias_offset = offset;
    expect_everywhere(t, 65);
  }
}

// D2, D5: an operand that starts a few bytes into its buffer, extents of no round number.
TEST_P(MatmulPublicBugs, D2BAtAnyByte) {
  for (const std::int64_t offset : {1, 4, 8}) {
    MatmulCase t = all_ones(64, 64, 64);
    t.b = col_major(t.k, t.n, t.k, offset);
    expect_everywhere(t, 64);
  }
  for (const std::int64_t k : {48, 40, 17}) expect_everywhere(all_ones(64, k, k), double(k));
}

TEST_P(MatmulPublicBugs, D5ExtentsAndPitchesOfNoRoundNumber) {
  for (const std::int64_t e : {63, 65, 97}) {
    expect_everywhere(all_ones(e, 64, 64), 64);
    expect_everywhere(all_ones(64, e, 64), 64);
    expect_everywhere(all_ones(64, 64, e), double(e));
    MatmulCase odd = all_ones(33, 34, 35);
    odd.a = row_major(odd.m, odd.k, e);
    odd.b = row_major(odd.k, odd.n, e + 1);
    odd.c = row_major(odd.m, odd.n, e + 2);
    expect_everywhere(odd, 35);
  }
}

// D6: one tensor is two inputs: A is B and C_in, and the bias is A's first row.
TEST_P(MatmulPublicBugs, D6OneTensorAsSeveralInputs) {
  if (types().a != types().c) GTEST_SKIP() << "C_in and bias have C's type";
  const Layout square = row_major(48, 48);
  const Bits bits = integers(square, types().a, 1);
  StridedMatrix a(device(), types().a, square, bits), c(device(), types().c, square);
  lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
  const lk_cmatrix view = a.cview();
  o.c_in = &view;
  o.beta = 1;
  o.bias = view.data;
  o.bias_dtype = view.dtype;
  if (!try_call([&] { call(view, view, c.view(), o); })) return;
  MatmulCase t(48, 48, 48);
  t.a_bits = t.b_bits = t.c_in_bits = bits;
  t.bias_bits.assign(bits.begin(), bits.begin() + 48);
  t.bias_type = types().c;
  t.options.beta = 1;
  EXPECT_TRUE(bits_equal(c.read(), exact(t), types().c));
}

// E2: an empty matrix with leading dimensions 0 and 1 is the host's affair; E7: fewer rows than a
// tile's, and the guard behind them.
TEST_P(MatmulPublicBugs, E7FewRows) {
  for (const std::int64_t m : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65}) {
    MatmulCase t(m, 32, 128);
    for (std::int64_t i = 0; i < m * t.k; ++i) {
      t.a_bits.push_back(encode(double(i / t.k % 4 + 1), types().a));
    }
    t.b_bits = ones(t.k * t.n, types().b);
    const auto got = run(t);
    if (!got) continue;
    EXPECT_TRUE(bits_equal(*got, exact(t), types().c)) << m;
  }
}

// E9: tile rows that the raster's bands do not divide.
TEST_P(MatmulPublicBugs, E9TileRowsOfNoRoundNumber) {
  for (const std::int64_t m : {64 * 9, 64 * 11, 64 * 13})
    expect_everywhere(all_ones(m, 64, 24), 24);
  expect_everywhere(all_ones(96, 96, 192), 192);
}

// E10: N = 768, and (1536, 256, 2048) scaled down in M and K.
TEST_P(MatmulPublicBugs, E10ThreeHalvesOfAPowerOfTwo) {
  expect_everywhere(all_ones(64, 768, 32), 32);
  expect_everywhere(all_ones(192, 256, 64), 64);
}

// F4: the other operand is one value, read as 2 x 1; one matrix against a batch.
TEST_P(MatmulPublicBugs, F4BroadcastOperands) {
  MatmulCase t = all_ones(2, 1, 2);
  t.b = {2, 1, 0, 0};
  expect_everywhere(t, 2);
  constexpr std::int64_t kN = 32, kCount = 4;
  StridedMatrix a(device(), types().a, row_major(kN, kN), ones(kN * kN, types().a));
  StridedMatrix b(device(), types().b, row_major(kN * kCount, kN),
                  ones(kN * kN * kCount, types().b));
  StridedMatrix c(device(), types().c, row_major(kN * kCount, kN));
  lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
  o.has_batch = 1;
  o.batch_count = kCount;
  o.b_batch_stride = o.c_batch_stride = kN * kN;
  lk_cmatrix bv = b.cview();
  lk_matrix cv = c.view();
  bv.rows = cv.rows = kN;
  if (!try_call([&] { call(a.cview(), bv, cv, o); })) return;
  EXPECT_TRUE(bits_equal(c.read(), Bits(kN * kN * kCount, encode(kN, types().c)), types().c));
}

// G2: act(s (A B) + bias), not act(s (A B + bias)).
TEST_P(MatmulPublicBugs, G2TheScaleComesBeforeTheBias) {
  MatmulCase t(1, 1, 1);
  t.a_bits = {encode(1, types().a)};
  t.b_bits = {encode(2, types().b)};
  t.bias_bits = {encode(4, DType::f32)};
  t.options.activation = LK_ACT_RELU;
  t.scale_a = 2.0f;
  t.scale_b = 0.25f;
  expect_everywhere(t, 5);
}

// G4: no rounding to whole numbers on the way.
TEST_P(MatmulPublicBugs, G4FractionsSurviveRelu) {
  MatmulCase t(16, 16, 16);
  t.a_bits = Bits(256, encode(0.25, types().a));
  t.b_bits = Bits(256, encode(0.25, types().b));
  t.bias_bits = Bits(16, encode(0.848336, DType::f32));
  t.options.activation = LK_ACT_RELU;
  expect_everywhere(t, double(1.0f + 0.848336f));
}

// G5: C holds NaN or inf before, beta is 0; tails included.
TEST_P(MatmulPublicBugs, G5PoisonedOutput) {
  for (const double poison : {std::nan(""), double(INFINITY)}) {
    for (const std::int64_t e : {1, 17, 64, 65}) {
      MatmulCase t = all_ones(e, e, 16);
      t.in_place = true;
      t.c_in_bits = Bits(std::size_t(e * e), encode(poison, types().c));
      expect_everywhere(t, 16);
    }
  }
}

// G6: the cartesian table of epilogues has no holes.
TEST_P(MatmulPublicBugs, G6EveryEpilogueExists) {
  for (const std::int64_t e : {16, 48}) {
    for (const bool bias : {false, true}) {
      for (const lk_activation act :
           {LK_ACT_NONE, LK_ACT_RELU, LK_ACT_GELU_TANH, LK_ACT_GELU_ERF}) {
        MatmulCase t = all_ones(e, e, e);
        t.options.activation = act;
        if (bias) t.bias_bits = ones(e, DType::f32);
        expect_everywhere(t, double(e + bias));  // a GeLU of so much is the identity
      }
    }
  }
}

// C4: an output beyond one tile of K = 1, scaled down; strides beyond 2^32: large_index_test.cc.
TEST_P(MatmulPublicBugs, C4KOfOne) { expect_everywhere(all_ones(130, 70, 1), 1); }

INSTANTIATE_TEST_SUITE_P(, MatmulPublicBugs, testing::ValuesIn(matmul_params_one_c()), matmul_name);

}  // namespace
}  // namespace libkernels::test
