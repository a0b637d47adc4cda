// Softmax's accuracy: normal, wide and narrow rows of every length at which something changes,
// under several scales, of both forms; and rows in which exponentials turn subnormal.
// Cost: 2 s emulated, all cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

class SoftmaxAccuracy : public SoftmaxTest {
 protected:
  static void check(const Bits& x, std::int64_t rows, const Options& o = {}, double slack = 1) {
    SCOPED_TRACE(testing::Message() << rows << " row(s) of " << x.size() / std::size_t(rows)
                                    << ", scale " << o.scale << (o.log ? ", log" : ""));
    EXPECT_TRUE(right(x, evaluate(x, rows, o), rows, o, slack));
  }
};

TEST_P(SoftmaxAccuracy, EveryStepOfTheLadder) {
  for (const std::int64_t cols : ladder()) {
    const Bits x = normal_row(cols, std::uint64_t(cols));
    check(x, 1);
    if (cols <= 8193) check(x, 1, {.log = true});
  }
}

TEST_P(SoftmaxAccuracy, EveryWidthUpTo70) {
  for (std::int64_t cols = 1; cols <= 70; ++cols) {
    const Bits x = normal_row(3 * cols, std::uint64_t(cols) + 100);
    check(x, 3);
    check(x, 3, {.scale = -0.7f});
  }
}

TEST_P(SoftmaxAccuracy, Scales) {
  const Bits x = normal_row(5 * 300, 7);
  for (const float scale : {0.0f, 1.0f, -1.0f, 0.0883883476f, 0.125f, -3.3f, 20.0f, 1e-20f, 1e-40f,
                            -1e-45f, 1e10f, 3.4e38f}) {
    check(x, 5, {.scale = scale});
    check(x, 5, {.scale = scale, .log = true});
  }
}

// Results down to the least subnormal and beyond: nothing is flushed.
TEST_P(SoftmaxAccuracy, SubnormalResults) {
  std::vector<double> row;
  for (int i = 0; i < 440; ++i) row.push_back(-0.25 * i);
  check(encoded(row), 1);
  check(encoded(row), 1, {.log = true});
}

// Values whose differences overflow, and scales that bring them back, or the other way round.
TEST_P(SoftmaxAccuracy, ExtremeRanges) {
  if (x_type() == DType::f16) GTEST_SKIP() << "f16 has no such values";
  check(encoded({3e38, -3e38, 0, 1e38}), 1);
  check(encoded({3e38, -3e38, 0, 1e38}), 1, {.log = true});
  check(encoded({3e38, -3e38, 0, 1e38}), 1, {.scale = 1e-38f});
  check(encoded({3e38, -3e38, 0, 1e38}), 1, {.scale = -1e-38f, .log = true});
  check(encoded({3e38, -3e38, 0, 1e38}), 1, {.scale = 3e-39f});
  check(encoded({1e-38, 2e-38, 0, -1e-38}), 1, {.scale = 1e38f});
  check(encoded({1e-38, 2e-38, 0, -1e-38}), 1, {.scale = 3.4e38f, .log = true});
  check(encoded({1e-45, 3e-45, 0}), 1, {.scale = 3.4e38f});
}

TEST_P(SoftmaxAccuracy, WithinTwiceTheBoundAtWorstApproximations) {
  if (!emulated()) GTEST_SKIP() << "approximations at their worst are emulated only";
  const SettingsScope restore;
  emulator::settings().worst_ulp = true;
  for (const std::int64_t cols : {1, 5, 33, 300, 1000, 5000}) {
    const Bits x = normal_row(2 * cols, std::uint64_t(cols));
    check(x, 2, {}, 2);
    check(x, 2, {.scale = 5}, 2);
    check(x, 2, {.log = true}, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxAccuracy, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
