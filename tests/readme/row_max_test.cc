// The README's kernel runs on the emulator. README.md shows a part of it, byte for byte
// (tests/tools/readme_test.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/row_max/row_max.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"

namespace libkernels::test {
namespace {

TEST(ReadmeKernel, IsRightAndItsRowIsComplete) {
  const ProfileScope profile("emu80");
  constexpr int kRows = 37, kCols = 70;
  std::vector<float> x(kRows * kCols), y(kRows);
  for (int i = 0; i < kRows * kCols; ++i) x[std::size_t(i)] = float((i * 7919) % 1009) - 2000;
  DeviceBuffer dx(emu_backend().device(), x.size() * sizeof(float));
  DeviceBuffer dy(emu_backend().device(), y.size() * sizeof(float));
  dx.copy_in(x.data(), x.size() * sizeof(float));
  const op::row_max::Problem problem{.x = static_cast<const float*>(dx.data()),
                                     .y = static_cast<float*>(dy.data()),
                                     .rows = kRows,
                                     .cols = kCols,
                                     .x_row_stride = kCols,
                                     .x_col_stride = 1,
                                     .y_stride = 1};
  const auto& row = op::row_max::sm80;
  const DeviceProperties& device = emulator::current_profile();
  EXPECT_EQ(row.supports(problem, device), nullptr);
  EXPECT_EQ(row.workspace_bytes(problem, device), 0u);
  EXPECT_EQ(row.preload(), cudaSuccess);
  KernelResources resources{};
  ASSERT_EQ(row.resources(problem, &resources), cudaSuccess);
  EXPECT_EQ(resources.threads_per_cta, 128);
  const LaunchContext context{.properties = device,
                              .max_sms = device.sm_count,
                              .pdl = false,
                              .workspace = nullptr,
                              .stream = nullptr};
  EXPECT_NE(row.describe(problem, context).find("launch: grid 10, block 128"), std::string::npos);
  ASSERT_EQ(row.launch(problem, context), cudaSuccess) << emulator::last_fault();
  dy.copy_out(y.data(), y.size() * sizeof(float));
  for (int r = 0; r < kRows; ++r) {
    float most = -std::numeric_limits<float>::infinity();
    for (int c = 0; c < kCols; ++c) most = std::max(most, x[std::size_t(r * kCols + c)]);
    EXPECT_EQ(y[std::size_t(r)], most) << r;
  }
}

}  // namespace
}  // namespace libkernels::test
