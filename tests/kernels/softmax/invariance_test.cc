// A row of softmax has the same bits whatever else the call holds and however it runs; max_sms caps
// the grid; scratch is the caller's or the call's own.
// Cost: 8 s emulated, all cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

using emulator::Completion;

class SoftmaxInvariance : public SoftmaxTest {
 protected:
  // The first split row.
  static std::int64_t split_cols() {
    return libkernels::op::softmax::block_capacity(x_type(), y_type()) + 1;
  }
};

// The anchor row first, in the middle and last among `rows`, at eight alignments.
TEST_P(SoftmaxInvariance, BitsOfARowDoNotDependOnTheBatch) {
  for (const std::int64_t cols : {3, 7, 33, 100, 300, 1000, 1030, 2100}) {
    const Bits anchor = normal_row(cols, 1);
    const Bits alone = evaluate(anchor, 1);
    for (std::int64_t rows : {7, 132, 4096}) {
      if (rows * cols > 40000) continue;
      for (std::int64_t offset = 0; offset < (rows == 4096 ? 2 : 8); ++offset) {
        const Layout x_layout = row_major(rows, cols, cols + offset % 3, offset);
        Bits bits;
        for (std::int64_t r = 0; r < rows; ++r) {
          const bool is_anchor = r == 0 || r == rows / 2 || r == rows - 1;
          const Bits row = is_anchor ? anchor : normal_row(cols, std::uint64_t(r) + 2);
          bits.insert(bits.end(), row.begin(), row.end());
        }
        StridedMatrix x(device(), x_type(), x_layout, bits);
        StridedMatrix y(device(), y_type(), row_major(rows, cols, cols + 1, 7 - offset));
        ASSERT_TRUE(call(x.cview(), y.view()));
        const Bits got = y.read();
        for (const std::int64_t r : {std::int64_t{0}, rows / 2, rows - 1}) {
          const auto begin = got.begin() + std::ptrdiff_t(r * cols);
          EXPECT_TRUE(bits_equal(Bits(begin, begin + std::ptrdiff_t(cols)), alone, y_type()))
              << rows << "x" << cols << " row " << r << " offset " << offset;
        }
      }
    }
  }
}

// J3, F8: long rows, two and three of them, against each alone.
TEST_P(SoftmaxInvariance, J3LongRowsDoNotDependOnTheBatch) {
  for (const std::int64_t cols : {std::int64_t{9000}, split_cols() + 8192}) {
    Bits all, alone;
    const std::int64_t rows = 3;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Bits row = normal_row(cols, std::uint64_t(r) + 5);
      all.insert(all.end(), row.begin(), row.end());
      const Bits result = evaluate(row, 1);
      alone.insert(alone.end(), result.begin(), result.end());
    }
    EXPECT_TRUE(right(all, alone, rows));
    EXPECT_TRUE(bits_equal(evaluate(all, rows), alone, y_type())) << cols;
    EXPECT_TRUE(bits_equal(evaluate(all, rows, {.max_sms = 1}), alone, y_type())) << cols;
    EXPECT_TRUE(bits_equal(evaluate(all, rows, {.max_sms = 2}), alone, y_type())) << cols;
  }
}

TEST_P(SoftmaxInvariance, SameBitsInAnyOrderOfCompletion) {
  if (!emulated()) GTEST_SKIP() << "the order is the emulator's to choose";
  const SettingsScope restore;
  for (const std::int64_t cols : {std::int64_t{1025}, split_cols()}) {
    const Bits x = normal_row(cols, 3);
    emulator::settings().completion = Completion::late;
    const Bits late = evaluate(x, 1);
    emulator::settings().completion = Completion::eager;
    EXPECT_TRUE(bits_equal(evaluate(x, 1), late, y_type()));
    emulator::settings().completion = Completion::random;
    emulator::settings().seed = 7;
    EXPECT_TRUE(bits_equal(evaluate(x, 1), late, y_type()));
  }
}

TEST_P(SoftmaxInvariance, SmLimitHoldsForEveryView) {
  for (const int max_sms : {1, 2}) {
    const Bits x = normal_row(300 * 40, 4);
    EXPECT_TRUE(bits_equal(evaluate(x, 300, {.max_sms = max_sms}), evaluate(x, 300), y_type()));
    EXPECT_TRUE(bits_equal(evaluate(x, 6, {.max_sms = max_sms}), evaluate(x, 6), y_type()));
  }
}

TEST_P(SoftmaxInvariance, MaxSmsCapsTheGrid) {
  if (!emulated()) GTEST_SKIP() << "the emulator tells the grid";
  for (const auto& layout : {row_major(3000, 8), row_major(40, 2000), col_major(300, 9)}) {
    StridedMatrix x(device(), x_type(), layout, Bits(std::size_t(layout.elements()), 0));
    StridedMatrix y(device(), y_type(), layout);
    if (!call(x.cview(), y.view())) continue;
    const unsigned uncapped = emulator::last_launch().grid.x;
    const DeviceProperties& device = emulator::current_profile();
    for (const int max_sms : {1, 2}) {
      call(x.cview(), y.view(), {.max_sms = max_sms});
      const emulator::LastLaunch launch = emulator::last_launch();
      const unsigned per_sm = unsigned(device.max_threads_per_sm) / launch.block.x;
      EXPECT_LE(launch.grid.x, unsigned(max_sms) * per_sm) << show(layout);
      EXPECT_LE(launch.grid.x, uncapped);
      EXPECT_EQ(launch.grid.y * launch.grid.z, 1u);
    }
  }
}

// Scratch: exactly the bytes that workspace() tells, guarded, and poisoned before the call.
TEST_P(SoftmaxInvariance, TheCallersWorkspaceIsEnough) {
  const Layout layout = row_major(2, split_cols());
  Bits bits = normal_row(2 * split_cols(), 6);
  StridedMatrix x(device(), x_type(), layout, bits), y(device(), y_type(), layout);
  const lk_cmatrix xv = x.cview();
  const lk_matrix yv = y.view();
  SoftmaxCall sized{.x = &xv, .y = &yv, .options = nullptr};
  sized.pin = pin_for(sized);
  const std::size_t bytes = backend().softmax.workspace(sized);
  if (portable()) {
    ASSERT_GT(bytes, 0u);
  }
  DeviceBuffer workspace(device(), bytes);
  Options o{.workspace = workspace.data(), .workspace_bytes = bytes};
  ASSERT_TRUE(call(xv, yv, o));
  EXPECT_TRUE(bits_equal(y.read(), evaluate(bits, 2), y_type()));
  EXPECT_TRUE(y.gaps_intact());
  if (bytes == 0) return;
  o.workspace_bytes = bytes - 1;
  EXPECT_THROW(call(xv, yv, o), invalid_argument);
}

// I8: work of a non-blocking stream. Its input arrives on the stream.
TEST_P(SoftmaxInvariance, I8ANonBlockingStream) {
  for (const std::int64_t cols : {std::int64_t{100}, split_cols()}) {
    const Layout layout = row_major(1, cols);
    const Bits bits = normal_row(cols, 8);
    StridedMatrix x(device(), x_type(), layout), y(device(), y_type(), layout);
    StridedMatrix source(device(), x_type(), layout, bits);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(device().stream_create(&stream), cudaSuccess);
    ASSERT_EQ(device().copy_on_device(x.buffer().data(), source.buffer().data(),
                                      source.buffer().bytes(), stream),
              cudaSuccess);
    ASSERT_TRUE(call(x.cview(), y.view(), {.stream = stream}));
    ASSERT_EQ(device().stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(bits_equal(y.read(), evaluate(bits, 1), y_type()));
    ASSERT_EQ(device().stream_destroy(stream), cudaSuccess);
  }
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxInvariance, testing::ValuesIn(softmax_params()), softmax_name);

}  // namespace
}  // namespace libkernels::test
