// The published bug cases that concern softmax, by their names. C1, C3 and C6 are in
// large_index_test.cc; I4 and I7 in first_call_test.cc; I8 and J3 in invariance_test.cc.
// Cost: 4 s emulated, all cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

class SoftmaxPublicBugs : public SoftmaxTest {
 protected:
  using Row = std::vector<double>;

  // The results as numbers.
  static Row softmax(const Row& x, std::int64_t rows = 1, const Options& o = {}) {
    Row y;
    for (const std::uint32_t b : evaluate(x, rows, o)) y.push_back(decode(b, y_type()));
    return y;
  }
  static Row log_softmax(const Row& x, std::int64_t rows = 1) {
    return softmax(x, rows, {.log = true});
  }
  // `literal`, which has nine digits, within the contract: 6 + |s - m| + log2 cols units of 2^-23,
  // and half an ulp of a 16-bit output.
  static void expect_near(double got, double literal, double units) {
    expect_within(got, literal, std::ldexp(units, -23) * literal);
  }
  static void expect_log_near(double got, double literal) {
    expect_within(got, literal, 1e-6 * std::fmax(1.0, std::fabs(literal)));
  }
  static void expect_within(double got, double literal, double allowed) {
    const double half = y_type() == DType::f32 ? 0 : ulp_at(literal, format_of(y_type())) / 2;
    EXPECT_LE(std::fabs(got - literal), allowed + half + 5e-10 * std::fabs(literal)) << literal;
  }
  static void expect_near(const Row& got, const Row& literals, double units) {
    ASSERT_EQ(got.size(), literals.size());
    for (std::size_t i = 0; i < got.size(); ++i) expect_near(got[i], literals[i], units);
  }
  static void expect_all_nan(const Row& got) {
    for (const double v : got) EXPECT_TRUE(std::isnan(v)) << v;
  }
  static Row thirds() { return {0.0900305733, 0.244728476, 0.665240943}; }  // of 1, 2, 3
};

TEST_P(SoftmaxPublicBugs, A1FullyMaskedRows) {
  for (const std::size_t n : {std::size_t{3}, std::size_t{64}}) {
    expect_all_nan(softmax(Row(n, -kInf)));
    expect_all_nan(log_softmax(Row(n, -kInf)));
    EXPECT_EQ(softmax(Row(n, -kInf), 1, {.zero = true}), Row(n, 0.0));
    EXPECT_EQ(softmax(Row(n, -kInf), 1, {.log = true, .zero = true}), Row(n, -kInf));
  }
  const Row y = softmax({1, 2, 3, -kInf, -kInf, -kInf, 1, 2, 3}, 3);
  expect_near(Row(y.begin(), y.begin() + 3), thirds(), 6 + 1.58);
  expect_all_nan(Row(y.begin() + 3, y.begin() + 6));
  expect_near(Row(y.begin() + 6, y.end()), thirds(), 6 + 1.58);
}

TEST_P(SoftmaxPublicBugs, A2InfinityIsNaN) {
  for (const Row& x : {Row{0, kInf}, Row{0, kInf, 0}, Row{-kInf, 0, kInf}}) {
    expect_all_nan(softmax(x));
    expect_all_nan(log_softmax(x));
  }
  EXPECT_EQ(softmax({0, -kInf}), (Row{1, 0}));
  EXPECT_EQ(softmax({-kInf, 0, -kInf}), (Row{0, 1, 0}));
  EXPECT_EQ(log_softmax({0, -kInf}), (Row{0, -kInf}));
}

TEST_P(SoftmaxPublicBugs, A4RowsShorterThanAWarp) {
  for (const std::size_t n : {1, 2, 3, 17, 31, 33}) {
    for (const double v : softmax(Row(n, -1000))) expect_near(v, 1.0 / double(n), 6);
  }
  for (const double v : log_softmax(Row(27, -1000))) expect_log_near(v, -3.29583693);
}

TEST_P(SoftmaxPublicBugs, A7LogOfNaNAndInfinities) {
  expect_all_nan(log_softmax({kNaN, kInf, -kInf}));
}

TEST_P(SoftmaxPublicBugs, B4EqualValuesOfAnyMagnitude) {
  for (const double v : {1.0, 1e4, 1e8, 1e20, -1e20, 3e38}) {
    if (x_type() == DType::f16 && v > 1e4) continue;  // infinite there
    if (x_type() == DType::f16 && v < 0) continue;
    for (const std::uint32_t y : evaluate(Row{v, v}, 1, {.log = true})) {
      EXPECT_EQ(y, encode(double(float_of(0xBF317218)), y_type())) << v;
    }
  }
}

TEST_P(SoftmaxPublicBugs, B8LongRowsOfOneValue) {
  EXPECT_EQ(softmax(Row(4096, 0.0)), Row(4096, 2.44140625e-4));
  if (y_type() == DType::f16) return;  // results below its normal numbers
  const bool exact = y_type() == DType::f32 && x_type() == DType::f32;
  const std::size_t n = exact ? 1 << 20 : 1000000;
  const Row y = softmax(Row(n, 0.0));
  if (exact) {
    EXPECT_EQ(y[0], 0x1p-20);
  } else {
    expect_near(y[0], 1e-6, 6);
  }
  EXPECT_EQ(Row(n, y[0]), y);
}

TEST_P(SoftmaxPublicBugs, B11LargeValuesOfEitherSign) {
  for (const double v : {-1000.0, 1000.0}) {
    EXPECT_EQ(softmax(Row(10 * 512, v), 10), Row(10 * 512, 0.001953125));
  }
}

TEST_P(SoftmaxPublicBugs, B12SmallExponentialsAreKept) {
  struct Literal {
    double x, y;
  };
  for (const Literal& l :
       {Literal{-87.5, 9.9823514e-39}, Literal{-90, 8.19400869e-40}, Literal{-100, 3.78350585e-44},
        Literal{-103, 1.40129846e-45}, Literal{-104, 0}}) {
    const Bits x = encoded({0, l.x});
    EXPECT_EQ(softmax({0, l.x})[0], 1.0);
    EXPECT_TRUE(right(x, evaluate(x, 1), 1));
    if (y_type() == DType::f32 && decode(x[1], x_type()) == l.x) {
      EXPECT_LE(std::fabs(softmax({0, l.x})[1] - l.y), 2e-5 * l.y + 1.5e-45) << l.x;
    }
    expect_log_near(log_softmax({0, l.x})[1], decode(x[1], x_type()));
  }
}

TEST_P(SoftmaxPublicBugs, D3PairAtAnOddOffset) {
  const Bits bits = encoded({0.5, -0.5});
  StridedMatrix x(device(), x_type(), row_major(1, 2, 2, 1), bits);
  StridedMatrix y(device(), y_type(), row_major(1, 2, 2, 1));
  ASSERT_TRUE(call(x.cview(), y.view()));
  EXPECT_TRUE(right(bits, y.read(), 1));
  EXPECT_TRUE(y.gaps_intact());
}

TEST_P(SoftmaxPublicBugs, E2ViewsWithoutElementsLaunchNothing) {
  const SettingsScope restore;
  emulator::settings().count = true;
  emulator::reset_counters();
  for (const auto& [rows, cols] : {std::pair{0, 0}, std::pair{0, 7}, std::pair{7, 0}}) {
    for (const std::int64_t stride : {0, 1, 7}) {
      const lk_cmatrix x{nullptr, std::int32_t(x_type()), rows, cols, stride, 1};
      const lk_matrix y{nullptr, std::int32_t(y_type()), rows, cols, stride, 1};
      EXPECT_NO_THROW(backend().softmax.run({.x = &x, .y = &y, .options = nullptr}));
    }
  }
  EXPECT_EQ(emulator::counters().launches, 0u);
}

TEST_P(SoftmaxPublicBugs, E4ShortRows) {
  for (std::size_t n = 1; n <= 129; ++n) {
    Row x;
    for (std::size_t i = 0; i < 8 * n; ++i) x.push_back(double(i % n));
    const Bits bits = encoded(x);
    const Bits y = evaluate(bits, 8);
    EXPECT_TRUE(right(bits, y, 8)) << n;
    double total = 0;
    for (std::size_t c = 0; c < n; ++c) total += decode(y[7 * n + c], y_type());
    EXPECT_NEAR(total, 1, y_type() == DType::bf16 ? 0x1p-8 : 0x1p-10) << n;
  }
  expect_near(softmax({0, 1, 2}), thirds(), 6 + 1.58);
  expect_near(softmax({0, 1, 2, 3}), {0.0320586041, 0.0871443152, 0.236882821, 0.643914282}, 6 + 2);
}

TEST_P(SoftmaxPublicBugs, E5RowLengthCeilings) {
  for (std::int64_t b = 1024; b <= 1 << 20; b *= 2) {
    // Of the longest rows the emulator is given few: accuracy_test.cc has the ladder's own steps.
    if (emulated() && (b > 131072 || (b > 65536 && x_type() != DType::f32))) continue;
    const bool all = b <= 8192 || !emulated();
    for (const std::int64_t n : {b - 1, b, b + 1}) {
      if (!all && n != b) continue;
      const Row y = softmax(Row(std::size_t(n), 0.0));
      for (const double v : {y.front(), y.back()}) {
        expect_near(v, 1.0 / double(n), 6 + std::log2(double(n)));
      }
      EXPECT_EQ(Row(y.size(), y[0]), y) << n;
      if (!all) continue;
      const Row logs = log_softmax(Row(std::size_t(n), 0.0));
      for (const double v : {logs.front(), logs.back()}) expect_log_near(v, -std::log(double(n)));
    }
  }
}

TEST_P(SoftmaxPublicBugs, F1TransposedPaddedAndBroadcastViews) {
  Row storage;
  for (int i = 1; i <= 12; ++i) storage.push_back(i);
  // 3 x 4 storage as 4 x 3: logical rows 1 5 9, 2 6 10, ...
  Bits logical;
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 3; ++c)
      logical.push_back(encode(storage[std::size_t(4 * c + r)], x_type()));
  }
  StridedMatrix x(device(), x_type(), {4, 3, 1, 4}, logical);
  StridedMatrix y(device(), y_type(), row_major(4, 3));
  if (call(x.cview(), y.view())) {
    const Bits got = y.read();
    for (std::size_t i = 0; i < 12; ++i) {
      constexpr double kLiterals[] = {0.000329320435, 0.0179802869, 0.981690407};
      expect_near(decode(got[i], y_type()), kLiterals[i % 3], 6 + 4 * double(2 - i % 3));
    }
  }
  const Bits two = normal_row(8, 3);
  StridedMatrix padded(device(), x_type(), row_major(2, 4, 32), two);
  StridedMatrix out(device(), y_type(), row_major(2, 4));
  ASSERT_TRUE(call(padded.cview(), out.view()));
  EXPECT_TRUE(bits_equal(out.read(), evaluate(two, 2), y_type()));
}

TEST_P(SoftmaxPublicBugs, F5NegativeStridesAreRefused) {
  StridedMatrix x(device(), x_type(), row_major(1, 3), encoded({1, 2, 3}));
  StridedMatrix y(device(), y_type(), row_major(1, 3));
  lk_cmatrix xv = x.cview();
  const lk_matrix yv = y.view();
  xv.data = static_cast<const char*>(xv.data) + 2 * size_of(x_type());
  xv.col_stride = -1;
  EXPECT_THROW(call(xv, yv), invalid_argument);
  EXPECT_TRUE(std::isnan(decode(y.read()[0], y_type())));
}

TEST_P(SoftmaxPublicBugs, F6InPlaceAndPartialOverlap) {
  for (const std::int64_t n : {8, 4096, 131072}) {
    if (x_type() != y_type() || (n == 131072 && x_type() == DType::f16)) continue;
    for (const bool log : {false, true}) {
      if (n == 131072 && log) continue;
      const Bits bits = normal_row(n, 4);
      StridedMatrix x(device(), x_type(), row_major(1, n), bits);
      ASSERT_TRUE(call(x.cview(), x.view(), {.log = log}));
      EXPECT_TRUE(bits_equal(x.read(), evaluate(bits, 1, {.log = log}), y_type())) << n;
    }
  }
  const Bits bits = normal_row(64, 5);
  StridedMatrix x(device(), x_type(), row_major(1, 64), bits);
  lk_cmatrix part = x.cview();
  lk_matrix y = x.view();
  part.cols = y.cols = 16;
  y.dtype = std::int32_t(y_type());
  y.data = static_cast<char*>(y.data) + size_of(y_type());
  EXPECT_THROW(call(part, y), invalid_argument);
  EXPECT_EQ(x.read(), bits);
}

TEST_P(SoftmaxPublicBugs, F8RowsOfAFourDimensionalTensor) {
  Row x;
  for (int r = 0; r < 128; ++r) {
    for (int c = 0; c < 32; ++c) x.push_back((r % 5) * c / 7.0);
  }
  const Bits all = evaluate(x, 128);
  for (int r = 0; r < 128; ++r) {
    const auto row = x.begin() + 32 * r;
    const Bits alone = evaluate(Row(row, row + 32));
    EXPECT_TRUE(bits_equal(Bits(all.begin() + 32 * r, all.begin() + 32 * (r + 1)), alone, y_type()))
        << r;
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxPublicBugs, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
