// What follows the product: alpha, scales, beta and C_in, bias, activation, in every combination,
// on every layout of C.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

class MatmulEpilogue : public MatmulTest {
 protected:
  // Integers, so that everything before the activation is exact in fp32.
  static MatmulCase filled(const Layout& c, std::int64_t k = 24) {
    MatmulCase t(c.rows, c.cols, k);
    t.c = c;
    t.c_in = row_major(t.m, t.n, t.n + 1);
    t.a_bits = integers(t.a, types().a, 1);
    t.b_bits = integers(t.b, types().b, 2);
    return t;
  }
  // Equal to the exact result, rounded once; with a GeLU within its bound.
  static void check(const MatmulCase& t) {
    const auto got = run(t);
    if (!got) return;
    const auto problem = problem_of(t);
    const auto expected = reference::matmul(problem);
    Failures failures;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double value = decode((*got)[i], types().c);
      const double own = reference::matmul_activation_bound(0, expected[i], problem.activation);
      const double allowed =
          own == 0 ? 0 : own + ulp_at(expected[i].value, format_of(types().c)) / 2;
      const double want =
          own == 0 ? decode(encode(expected[i].value, types().c), types().c) : expected[i].value;
      if (!(std::fabs(value - want) <= allowed)) {
        failures.add(i, "got", value, "expected", want, "allowed", allowed);
      }
    }
    EXPECT_TRUE(failures.result(expected.size())) << show(t);
  }
};

TEST_P(MatmulEpilogue, EveryCombination) {
  const Layout layouts[] = {row_major(19, 24), col_major(20, 23, 25, 1)};
  int n = 0;
  for (const bool bias : {false, true}) {
    for (const float beta : {0.0f, -2.0f}) {
      for (const lk_activation act :
           {LK_ACT_NONE, LK_ACT_RELU, LK_ACT_GELU_TANH, LK_ACT_GELU_ERF}) {
        MatmulCase t = filled(layouts[n++ % 2]);
        if (bias) {
          t.bias_type = n % 3 == 0 ? types().c : DType::f32;
          t.bias_offset = n % 4;
          t.bias_bits = integers(t.n, t.bias_type, 3, 9);
        }
        t.options.beta = beta;
        if (beta != 0) t.c_in_bits = integers(t.m * t.n, types().c, 4, 9);
        t.in_place = beta != 0 && n % 2 == 0;
        t.options.activation = act;
        t.options.has_alpha = 1;
        t.options.alpha = 0.5f;
        if (n % 2 == 0) t.scale_a = -4.0f;
        if (n % 3 == 0) t.scale_b = 2.0f;
        check(t);
      }
    }
  }
}

// Wide and narrow stores, C_in likewise, from every layout.
TEST_P(MatmulEpilogue, EveryLayoutOfCAndCIn) {
  const Layout layouts[] = {row_major(9, 36),        row_major(9, 36, 40), row_major(9, 36, 37, 1),
                            row_major(9, 35, 36),    col_major(12, 33),    col_major(9, 33, 9, 3),
                            Layout{9, 36, 80, 2, 1}, Layout{9, 36, 2, 19}, row_major(1, 36, 36, 3),
                            Layout{12, 1, 3, 1}};
  for (const Layout& c : layouts) {
    for (const Layout& c_in : layouts) {
      if (c_in.rows != c.rows || c_in.cols != c.cols) continue;
      MatmulCase t = filled(c, 16);
      t.c_in = c_in;
      t.c_in_bits = integers(t.m * t.n, types().c, 4, 9);
      t.options.beta = 1;
      t.bias_bits = integers(t.n, DType::f32, 3, 9);
      check(t);
    }
  }
}

// beta 0 reads no C_in, alpha 0 neither A nor B: the emulator faults, a GPU would give NaN.
TEST_P(MatmulEpilogue, WhatIsNotNeededIsNotRead) {
  MatmulCase t = filled(row_major(10, 12));
  t.c_in_bits = Bits(std::size_t(t.m * t.n), encode(std::nan(""), types().c));
  t.options.beta = 0;
  check(t);

  MatmulCase no_product = filled(row_major(10, 12));
  no_product.a_bits.assign(no_product.a_bits.size(), encode(std::nan(""), types().a));
  no_product.options.has_alpha = 1;  // alpha 0
  no_product.options.beta = 3;
  no_product.c_in_bits = integers(t.m * t.n, types().c, 4, 9);
  no_product.scale_a = INFINITY;
  const auto got = run(no_product);
  if (!got) return;
  MatmulCase reference = no_product;
  reference.scale_a = 1;
  reference.a_bits = integers(reference.a, types().a, 1);
  EXPECT_TRUE(bits_equal(*got, exact(reference), types().c));
}

// E1: K = 0.
TEST_P(MatmulEpilogue, E1NoK) {
  for (const lk_activation act : {LK_ACT_NONE, LK_ACT_RELU, LK_ACT_GELU_TANH, LK_ACT_GELU_ERF}) {
    MatmulCase t = filled(row_major(2, 2), 0);
    t.options.activation = act;
    check(t);
    t.bias_bits = {encode(-1, DType::f32), encode(2, DType::f32)};
    check(t);
    t.options.beta = 2;
    t.c_in_bits = integers(4, types().c, 5);
    check(t);
  }
}

TEST_P(MatmulEpilogue, BatchesWithStrides) {
  const std::int64_t m = 10, n = 12, count = 3;
  for (const auto& [k, a_stride] : {std::pair{std::int64_t{20}, m * 20},
                                    {20, 0},
                                    {20, m * 20 + 1},
                                    {kLongK, 0},
                                    {kLongK, m * kLongK + 1}}) {
    const std::int64_t b_stride = a_stride == 0 ? k * n + 8 : 0, c_stride = m * n + a_stride % 3;
    StridedMatrix a(device(), types().a, row_major(1, m * k + (count - 1) * a_stride),
                    integers(m * k + (count - 1) * a_stride, types().a, 1));
    StridedMatrix b(device(), types().b, row_major(1, k * n + (count - 1) * b_stride),
                    integers(k * n + (count - 1) * b_stride, types().b, 2));
    StridedMatrix c(device(), types().c, row_major(count, m * n, c_stride));
    c.write(integers(count * m * n, types().c, 3));
    const Bits before = c.read(), a_bits = a.read(), b_bits = b.read();
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.has_batch = 1;
    o.batch_count = count;
    o.a_batch_stride = a_stride;
    o.b_batch_stride = b_stride;
    o.c_batch_stride = c_stride;
    o.beta = 1;
    lk_cmatrix av = a.cview(), bv = b.cview();
    lk_matrix cv = c.view();
    av.rows = m, av.cols = av.row_stride = k;
    bv.rows = k, bv.cols = bv.row_stride = n;
    cv.rows = m, cv.cols = cv.row_stride = n;
    if (!try_call([&] { call(av, bv, cv, o); })) continue;
    const Bits got = c.read();
    EXPECT_TRUE(c.gaps_intact());
    for (std::int64_t p = 0; p < count; ++p) {
      MatmulCase t(m, n, k);
      const auto part = [&](const Bits& all, std::int64_t from, std::int64_t size) {
        return Bits(all.begin() + from, all.begin() + from + size);
      };
      t.a_bits = part(a_bits, p * a_stride, m * k);
      t.b_bits = part(b_bits, p * b_stride, k * n);
      t.c_in_bits = part(before, p * m * n, m * n);
      t.options.beta = 1;
      EXPECT_TRUE(bits_equal(part(got, p * m * n, m * n), exact(t), types().c)) << "product " << p;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, MatmulEpilogue, testing::ValuesIn(matmul_params()), matmul_name);

}  // namespace
}  // namespace libkernels::test
