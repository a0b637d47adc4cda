// GeLU gives a value the same bits wherever it stands and however the call runs; max_sms caps the
// grid. Cost: 8 s emulated, all cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/kernels/gelu/layout_fixture.h"

namespace libkernels::test {
namespace {

using emulator::Completion;

class GeluInvariance : public GeluLayoutTest {
 protected:
  // More than one CTA and more than one wave under any cap, with a tail.
  static Bits tensor() {
    Bits x = pool().x;
    while (x.size() < 20000) x.push_back(pool().x[pick(std::int64_t(x.size()), 5)]);
    x.resize(19997);
    return x;
  }
};

TEST_P(GeluInvariance, SameBitsTwice) {
  const Bits x = tensor();
  EXPECT_TRUE(bits_equal(evaluate(x), evaluate(x), param().y_type));
}

TEST_P(GeluInvariance, SameBitsUnderEverySmLimit) {
  const Bits x = tensor();
  const Bits all = evaluate(x, 0);
  for (const int max_sms : {1, 2, 3, 1000}) {
    EXPECT_TRUE(bits_equal(evaluate(x, max_sms), all, param().y_type)) << max_sms;
  }
}

TEST_P(GeluInvariance, SmLimitHoldsForEveryView) {
  for (const int max_sms : {1, 2}) {
    EXPECT_TRUE(check(row_major(3, 5001), row_major(3, 5001), max_sms));
    EXPECT_TRUE(check(row_major(40, 131, 140, 3), row_major(40, 131, 137, 1), max_sms));
    // More tiles of the strided path than CTAs under the cap.
    check(col_major(200, 210), row_major(200, 210), max_sms);
    check({70, 90, 0, 1}, row_major(70, 90), max_sms);
  }
}

TEST_P(GeluInvariance, SameBitsInAnyOrderOfCompletion) {
  if (!emulated()) GTEST_SKIP() << "the order is the emulator's to choose";
  const SettingsScope restore;
  const Bits x = tensor();
  emulator::settings().completion = Completion::late;
  const Bits late = evaluate(x);
  emulator::settings().completion = Completion::eager;
  EXPECT_TRUE(bits_equal(evaluate(x), late, param().y_type));
  emulator::settings().completion = Completion::random;
  for (const std::uint64_t seed : {1u, 2u}) {
    emulator::settings().seed = seed;
    EXPECT_TRUE(bits_equal(evaluate(x), late, param().y_type)) << seed;
  }
}

// One value everywhere: every element of the output has the bits that it has alone.
TEST_P(GeluInvariance, PositionDoesNotMatter) {
  for (const double value : {0.3, -1.7, -9.5, 6.25}) {
    const std::uint32_t bits = encode(value, param().x_type);
    const std::uint32_t alone = evaluate(Bits(1, bits))[0];
    for (const std::int64_t offset : {0, 3}) {
      const Layout layout = row_major(7, 333, 335, offset);
      const Bits x_bits(std::size_t(layout.elements()), bits);
      StridedMatrix x(device(), param().x_type, layout, x_bits);
      StridedMatrix y(device(), param().y_type, row_major(7, 333, 334, 1));
      call(x.cview(), y.view());
      EXPECT_TRUE(bits_equal(y.read(), Bits(x_bits.size(), alone), param().y_type)) << value;
    }
  }
}

TEST_P(GeluInvariance, MaxSmsCapsTheGrid) {
  if (!emulated()) GTEST_SKIP() << "the emulator tells the grid";
  const Layout layouts[] = {row_major(1, 1 << 17), row_major(300, 301, 303), col_major(300, 301)};
  for (const Layout& layout : layouts) {
    StridedMatrix x(device(), param().x_type, layout, drawn(layout, 1, pool().x));
    StridedMatrix y(device(), param().y_type,
                    layout.col_stride == 1 ? layout : row_major(layout.rows, layout.cols));
    if (!try_call(x.cview(), y.view(), 0)) continue;
    const unsigned uncapped = emulator::last_launch().grid.x;
    const DeviceProperties& device = emulator::current_profile();
    for (const int max_sms : {1, 2}) {
      call(x.cview(), y.view(), max_sms);
      const emulator::LastLaunch launch = emulator::last_launch();
      const unsigned per_sm =
          std::min(unsigned(device.max_ctas_per_sm),
                   unsigned(device.max_threads_per_sm) / (launch.block.x * launch.block.y));
      EXPECT_EQ(launch.grid.y * launch.grid.z, 1u);
      EXPECT_LE(launch.grid.x, unsigned(max_sms) * per_sm) << show(layout);
      EXPECT_GE(launch.grid.x, unsigned(max_sms)) << "uses fewer SMs than it may";
      EXPECT_LE(launch.grid.x, uncapped);
    }
    EXPECT_GT(uncapped, unsigned(device.max_threads_per_sm) / emulator::last_launch().block.x)
        << "too small a tensor for the cap to matter";
  }
}

INSTANTIATE_TEST_SUITE_P(, GeluInvariance, testing::ValuesIn(gelu_params()), gelu_name);

}  // namespace
}  // namespace libkernels::test
