// Softmax's special values, on every path: where in the row they stand, which lanes, warps and
// chunks see nothing else, and what a scale makes of them.
// Cost: 8 s emulated, all cases.
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

class SoftmaxSpecialValues : public SoftmaxTest {
 protected:
  // Dense, and the same row with a column stride of 2.
  static void check(const Bits& x, const Options& o = {}) {
    EXPECT_TRUE(right(x, evaluate(x, 1, o), 1, o));
    if (x.size() > 20000) return;
    const auto cols = std::int64_t(x.size());
    StridedMatrix in(device(), x_type(), {1, cols, 1, 2}, x);
    StridedMatrix out(device(), y_type(), row_major(1, cols));
    if (call(in.cview(), out.view(), o)) {
      EXPECT_TRUE(right(x, out.read(), 1, o));
    }
  }
  static void check_everywhere(const Bits& x, double value) {
    SCOPED_TRACE(testing::Message() << x.size() << " columns, " << value);
    const std::size_t n = x.size();
    for (const std::size_t at : {std::size_t{0}, n / 3, n - 1}) {
      Bits with = x;
      with[at] = encode(value, x_type());
      check(with);
      check(with, {.scale = -2, .log = true});
    }
  }
  static std::vector<std::int64_t> one_of_each_path() {
    const std::int64_t held = libkernels::op::softmax::block_capacity(x_type(), y_type());
    return {1, 3, 40, 300, 1500, held - 100, held + 1};
  }
};

TEST_P(SoftmaxSpecialValues, OneInARow) {
  for (const std::int64_t cols : one_of_each_path()) {
    if (cols > 20000) continue;
    for (const double v : {kNaN, kInf, -kInf}) check_everywhere(normal_row(cols, 1), v);
  }
}

TEST_P(SoftmaxSpecialValues, OneInALongRow) {
  for (const std::int64_t cols : one_of_each_path()) {
    if (cols <= 20000) continue;
    Bits x = normal_row(cols, 1);
    for (const double v : {kInf, -kInf, kNaN}) {
      x[x.size() - 5] = encode(v, x_type());
      check(x, {.log = v == kInf});
    }
  }
}

// All of a row but one column is -inf: every other lane, warp and chunk has seen nothing else.
TEST_P(SoftmaxSpecialValues, OneFiniteAmongMinusInfinity) {
  for (const std::int64_t cols : one_of_each_path()) {
    Bits x(std::size_t(cols), encode(-kInf, x_type()));
    x[x.size() / 2] = encode(-5, x_type());
    check(x);
    check(x, {.log = true, .zero = true});
    const Bits y = evaluate(x, 1);
    EXPECT_EQ(y[y.size() / 2], encode(1, y_type()));
    if (cols > 1) {
      EXPECT_EQ(y[0], 0u);
    }
  }
}

TEST_P(SoftmaxSpecialValues, RowsOfOnlyMinusInfinity) {
  for (const std::int64_t cols : one_of_each_path()) {
    const Bits x(std::size_t(cols), encode(-kInf, x_type()));
    for (const bool log : {false, true}) {
      for (const bool zero : {false, true}) check(x, {.log = log, .zero = zero});
    }
    if (cols > 20000) continue;
    // By the sign of the scale +inf is -inf, and by a scale of 0 neither is anything.
    const Bits up(std::size_t(cols), encode(kInf, x_type()));
    check(up, {.scale = -1, .zero = true});
    check(up, {.zero = true});
    check(x, {.scale = 0, .zero = true});
    check(x, {.scale = 0, .log = true});
  }
}

TEST_P(SoftmaxSpecialValues, ScaleOfZero) {
  for (const std::int64_t cols : {1, 5, 300, 1500}) {
    check(normal_row(cols, 2), {.scale = 0});
    check(normal_row(cols, 2), {.scale = -0.0f, .log = true});
    check_everywhere(normal_row(cols, 2), -kInf);
    Bits x = normal_row(cols, 2);
    x[0] = encode(-kInf, x_type());
    check(x, {.scale = 0});
  }
}

// Every pattern of the type's edge values, each beside an ordinary one.
TEST_P(SoftmaxSpecialValues, EdgeValues) {
  for (const std::uint32_t bits : special_bits(x_type())) {
    check({bits, encode(0.5, x_type()), bits});
    check({bits, encode(0.5, x_type()), bits}, {.scale = -0.25f, .log = true});
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxSpecialValues, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
