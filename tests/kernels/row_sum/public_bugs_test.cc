// Published bugs of comparable libraries that concern sums of rows, each under the name that the
// collection of cases gives it. Those of streams, graphs and threads (I) are in first_call_test.cc
// and gpu_test.cc, E8 in special_values_test.cc, C3 beyond the emulator's reach in gpu_test.cc.
// Cost: 2.2 s emulated, all cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/kernels/row_sum/row_sum_fixture.h"
#include "tests/support/refusal.h"

namespace libkernels::test {
namespace {

class RowSumPublicBugs : public RowSumTest {
 protected:
  static Bits constant(std::int64_t n, double value) { return Bits(std::size_t(n), x_of(value)); }
  // One row whose elements all are one place: a row of any length costs no memory.
  static double sum_of_repeated(std::int64_t cols, double value) {
    StridedMatrix x(device(), param().x_type, row_major(1, 1), {x_of(value)});
    StridedMatrix y(device(), param().y_type, row_major(1, 1));
    lk_cmatrix xv = x.cview();
    xv.cols = cols;
    xv.col_stride = 0;
    call(xv, y.view());
    return decode(y.read()[0], param().y_type);
  }
};

// A4: rows shorter than a warp, all values negative: lanes without elements must not take part.
TEST_P(RowSumPublicBugs, A4RowsShorterThanAWarp) {
  for (const std::int64_t cols : {1, 2, 3, 17, 27, 31, 33}) {
    EXPECT_EQ(sums(row_major(1, cols), constant(cols, -1000))[0], y_of(-1000.0 * double(cols)))
        << cols;
  }
}

// A2, A7: infinities and NaN in any order.
TEST_P(RowSumPublicBugs, A2A7InfinitiesAndNaN) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto sum = [](std::initializer_list<double> values) {
    Bits bits;
    for (const double v : values) bits.push_back(x_of(v));
    return decode(sums(row_major(1, std::int64_t(bits.size())), bits)[0], param().y_type);
  };
  EXPECT_EQ(sum({0, inf}), inf);
  EXPECT_EQ(sum({-inf, 0, -inf}), -inf);
  EXPECT_TRUE(std::isnan(sum({-inf, 0, inf})));
  EXPECT_TRUE(std::isnan(sum({nan, inf, -inf})));
  EXPECT_TRUE(std::isnan(sum({nan, 1})));
}

// B6: a single accumulator stalls. The million of the case; its third part repeats one element.
TEST_P(RowSumPublicBugs, B6LongConstantRows) {
  if (param().x_type != DType::f32) GTEST_SKIP() << "a case of fp32";
  constexpr std::int64_t kMillion = 1000000;
  for (const bool adjacent : {true, false}) {
    const auto sum = [&](double value) {
      if (!adjacent) return sum_of_repeated(kMillion, value);
      return decode(sums(row_major(1, kMillion), constant(kMillion, value))[0], DType::f32);
    };
    EXPECT_NEAR(sum(100), 1e8, 16) << adjacent;
    EXPECT_NEAR(sum(double(1.0f / 255)), 3921.568859, 0.001) << adjacent;
  }
  // 2^25 ones: the emulator is given 2^22 of them, a GPU all.
  const std::int64_t ones = std::int64_t{1} << (emulated() ? 22 : 25);
  EXPECT_NEAR(sum_of_repeated(ones, 1), double(ones), 4);
}

// B7: partial sums in fp16 overflow. Also across lanes, warps and chunks.
TEST_P(RowSumPublicBugs, B7PartialSumsAreFp32) {
  for (const std::int64_t half : {4, 40, 400, 4000, 100000}) {
    Bits bits = constant(2 * half, 32000);
    for (std::int64_t i = half; i < 2 * half; ++i) bits[std::size_t(i)] = x_of(-32000);
    EXPECT_EQ(decode(sums(row_major(1, 2 * half), bits)[0], param().y_type), 0) << half;
  }
  if (param().y_type != DType::f16) return;
  const auto sum = [](double a, double b) { return sums(row_major(1, 2), {x_of(a), x_of(b)})[0]; };
  EXPECT_EQ(sum(65504, 15), encode(65504, kF16));  // 65519
  EXPECT_EQ(sum(65504, 16), kF16.infinity());      // 65520
}

// B8: a sum held in the type of the input stops growing at 2048 (f16) or 256 (bf16).
TEST_P(RowSumPublicBugs, B8LongRowsOfOnes) {
  for (const std::int64_t cols : {4096, 60000}) {
    EXPECT_EQ(sums(row_major(1, cols), constant(cols, 1))[0], y_of(double(cols))) << cols;
  }
}

// C6: 65536 rows and their neighbours, on the grid's first dimension.
TEST_P(RowSumPublicBugs, C6RowsAround65535) {
  for (const std::int64_t rows : {65535, 65536, 65537}) {
    for (const std::int64_t cols : {1, 32}) {
      StridedMatrix x(device(), param().x_type, row_major(1, cols), constant(cols, 1));
      StridedMatrix y(device(), param().y_type, column(rows));
      lk_cmatrix xv = x.cview();
      xv.rows = rows;
      xv.row_stride = 0;
      call(xv, y.view());
      EXPECT_EQ(y.read(), Bits(std::size_t(rows), y_of(double(cols)))) << rows << " x " << cols;
    }
  }
}

// D3: vectors chosen by the type alone: every second row is misaligned.
TEST_P(RowSumPublicBugs, D3RowsOfThree) {
  for (const std::int64_t offset : {0, 1}) {
    EXPECT_EQ(sums(row_major(8, 3, 3, offset), constant(24, 1)), Bits(8, y_of(3)));
  }
}

// D1: every operand one element off.
TEST_P(RowSumPublicBugs, D1OperandsOffByOneElement) {
  for (const std::int64_t cols : {64, 1024, 70000}) {
    const Bits bits = normal(1, cols, 1);
    const Bits aligned = sums(row_major(1, cols), bits);
    for (const std::int64_t x_offset : {0, 1}) {
      for (const std::int64_t y_offset : {0, 1}) {
        EXPECT_EQ(sums(row_major(1, cols, cols, x_offset), bits, {}, 1, y_offset), aligned);
      }
    }
  }
}

// E2: no rows, no columns.
TEST_P(RowSumPublicBugs, E2EmptyRowsSumToZero) {
  for (const std::int64_t stride : {0, 1}) {
    const lk_cmatrix x{nullptr, std::int32_t(param().x_type), 3, 0, stride, stride};
    StridedMatrix y(device(), param().y_type, column(3));
    call(x, y.view());
    EXPECT_EQ(y.read(), Bits(3, 0u));
    const lk_cmatrix no_x{nullptr, std::int32_t(param().x_type), 0, 5, stride, stride};
    const lk_matrix no_y{nullptr, std::int32_t(param().y_type), 0, 1, stride, stride};
    EXPECT_NO_THROW(call(no_x, no_y));
  }
}

// E4, E5: every row length of the ladder of paths, on both sides of each step.
TEST_P(RowSumPublicBugs, E4RowsUpTo129) {
  for (std::int64_t cols = 1; cols <= 129; ++cols) {
    const Bits bits = integers(8, cols, 9);
    EXPECT_EQ(sums(row_major(8, cols), bits), exact(8, cols, bits)) << cols;
  }
}
TEST_P(RowSumPublicBugs, E5RowLengthsAroundPowersOfTwo) {
  for (int log2 = 10; log2 <= (emulated() || param().x_type != DType::f32 ? 18 : 20); ++log2) {
    for (const std::int64_t cols : {-1, 0, 1}) {
      const std::int64_t n = (std::int64_t{1} << log2) + cols;
      EXPECT_EQ(sums(row_major(1, n), constant(n, 1))[0], y_of(double(n))) << n;
    }
  }
}

// F1: the sums of a transposed view, of padded rows, of a broadcast one.
TEST_P(RowSumPublicBugs, F1ViewsAreNotTheirStorage) {
  Bits storage;
  for (int i = 1; i <= 12; ++i) storage.push_back(x_of(i));
  StridedMatrix x(device(), param().x_type, row_major(3, 4), storage);
  StridedMatrix y(device(), param().y_type, column(4));
  lk_cmatrix transposed = x.cview();
  transposed.rows = 4;
  transposed.cols = 3;
  transposed.row_stride = 1;
  transposed.col_stride = 4;
  call(transposed, y.view());
  EXPECT_EQ(y.read(), (Bits{y_of(15), y_of(18), y_of(21), y_of(24)}));
  const Bits eight = integers(2, 4, 3);
  EXPECT_EQ(sums(row_major(2, 4, 32), eight), sums(row_major(2, 4), eight));
}

// F4: strides of 0: accepted for x, refused for y.
TEST_P(RowSumPublicBugs, F4Broadcast) {
  StridedMatrix x(device(), param().x_type, row_major(1, 1), {x_of(1)});
  StridedMatrix y(device(), param().y_type, column(2));
  lk_cmatrix xv = x.cview();
  xv.rows = xv.cols = 2;
  xv.row_stride = xv.col_stride = 0;
  call(xv, y.view());
  EXPECT_EQ(y.read(), Bits(2, y_of(2)));
  lk_matrix bad = y.view();
  bad.row_stride = 0;
  EXPECT_TRUE(is_invalid(refusal([&] { call(xv, bad); }), "row_sum: y.row_stride is 0"));
}

// F5: negative strides are refused, by name, and nothing is written.
TEST_P(RowSumPublicBugs, F5NegativeStrides) {
  StridedMatrix x(device(), param().x_type, row_major(2, 3), integers(2, 3, 1));
  StridedMatrix y(device(), param().y_type, column(2));
  const Bits before = y.read();
  lk_cmatrix flipped = x.cview();
  flipped.data = static_cast<const char*>(flipped.data) + 5 * size_of(param().x_type);
  flipped.col_stride = -1;
  EXPECT_TRUE(is_invalid(refusal([&] { call(flipped, y.view()); }), "row_sum: x.col_stride is -1"));
  flipped.col_stride = 1;
  flipped.row_stride = -3;
  EXPECT_TRUE(is_invalid(refusal([&] { call(flipped, y.view()); }), "row_sum: x.row_stride is -3"));
  EXPECT_EQ(y.read(), before);
}

// F6: y within x is refused before the launch.
TEST_P(RowSumPublicBugs, F6OverlapIsRefused) {
  const Bits bits = integers(4, 9, 1);
  StridedMatrix x(device(), param().x_type, row_major(4, 9), bits);
  lk_matrix y = x.view();
  y.dtype = std::int32_t(param().y_type);
  y.cols = 1;
  y.row_stride = 1;
  EXPECT_TRUE(is_invalid(refusal([&] { call(x.cview(), y); }), "row_sum: the output y (bytes "));
  EXPECT_EQ(x.read(), bits);
}

// F8: rows are told apart: each equals the call of that row alone.
TEST_P(RowSumPublicBugs, F8EachRowIsItsOwn) {
  Bits bits;
  for (int r = 0; r < 128; ++r) {
    for (int c = 0; c < 32; ++c) bits.push_back(x_of((r % 5) * c / 7.0));
  }
  EXPECT_EQ(sums(row_major(128, 32), bits), alone(128, 32, bits));
}

// J3: ten rows, and the same ten with ten more behind them. A thousand runs are in gpu_test.cc.
TEST_P(RowSumPublicBugs, J3MoreRowsChangeNothing) {
  const std::int64_t cols = emulated() || param().x_type != DType::f32 ? 40000 : 262144;
  const Bits bits = normal(20, cols, 1);
  const Bits ten(bits.begin(), bits.begin() + 10 * cols);
  const Bits of_ten = sums(row_major(10, cols), ten);
  Bits of_twenty = sums(row_major(20, cols), bits);
  of_twenty.resize(10);
  EXPECT_EQ(of_twenty, of_ten);
  EXPECT_EQ(sums(row_major(10, cols), ten), of_ten);
}

INSTANTIATE_TEST_SUITE_P(, RowSumPublicBugs, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
