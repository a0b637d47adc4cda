// launch.cuh: every thread of every shape runs once and knows where it is; shapes that CUDA refuses
// are refused with the same error by both backends, write nothing and leave no error behind.
// Cost: 0.3 s emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/ptx/launch_probe.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/device_buffer.h"

namespace libkernels {
namespace emu {
const test::LaunchProbe& launch_probe();
}
namespace cuda {
const test::LaunchProbe& launch_probe();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

struct Side {
  const char* name;
  const Backend* backend;
  const LaunchProbe* probe;
};
void PrintTo(const Side& p, std::ostream* out) { *out << p.name; }

std::vector<Side> sides() {
  std::vector<Side> all{{"emu", &emu_backend(), &emu::launch_probe()}};
#if defined(LK_HAVE_CUDA)
  all.push_back({"cuda", &cuda_backend(), &cuda::launch_probe()});
#endif
  return all;
}

class Launch : public testing::TestWithParam<Side> {
 protected:
  void SetUp() override {
    const std::string why = why_no_device(*GetParam().backend);
    if (!why.empty()) GTEST_SKIP() << why;
  }
  Device& device() const { return GetParam().backend->device(); }
};

std::uint32_t packed(unsigned x, unsigned y, unsigned z) { return x | y << 10 | z << 20; }

TEST_P(Launch, EveryThreadRunsOnceAndKnowsItsPlace) {
  const std::pair<dim3, dim3> shapes[] = {
      {dim3(1), dim3(1)},        {dim3(1), dim3(31)},         {dim3(7), dim3(33)},
      {dim3(3, 2, 2), dim3(64)}, {dim3(2, 3), dim3(8, 4, 2)}, {dim3(1, 1, 5), dim3(5, 7, 3)},
      {dim3(2), dim3(512)},      {dim3(1000), dim3(1)},
  };
  for (const auto& [grid, block] : shapes) {
    const unsigned threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
    DeviceBuffer out(device(), threads * kProbeWords * sizeof(std::uint32_t));
    ASSERT_EQ(GetParam().probe->coordinates(static_cast<std::uint32_t*>(out.data()), grid, block, 0,
                                            nullptr),
              cudaSuccess);
    std::vector<std::uint32_t> got(threads * kProbeWords), expected;
    out.copy_out(got.data(), out.bytes());
    for (unsigned cta = 0; cta < grid.x * grid.y * grid.z; ++cta) {
      for (unsigned t = 0; t < block.x * block.y * block.z; ++t) {
        expected.push_back(packed(t % block.x, t / block.x % block.y, t / (block.x * block.y)));
        expected.push_back(packed(cta % grid.x, cta / grid.x % grid.y, cta / (grid.x * grid.y)));
        expected.push_back(packed(block.x, block.y, block.z));
        expected.push_back(packed(grid.x, grid.y, grid.z));
      }
    }
    EXPECT_TRUE(bits_equal(got, expected, DType::f32)) << grid.x << " CTAs of " << block.x;
  }
}

TEST_P(Launch, ImpossibleShapesAreRefused) {
  struct Refused {
    dim3 grid, block;
    std::size_t smem;
    cudaError_t error;
  };
  const Refused refused[] = {
      {dim3(0), dim3(32), 0, cudaErrorInvalidValue},
      {dim3(1), dim3(0), 0, cudaErrorInvalidValue},
      {dim3(1), dim3(1025), 0, cudaErrorInvalidValue},
      {dim3(1), dim3(64, 64), 0, cudaErrorInvalidValue},
      {dim3(1), dim3(1, 1, 65), 0, cudaErrorInvalidValue},
      {dim3(1, 65536), dim3(1), 0, cudaErrorInvalidValue},
      {dim3(1, 1, 65536), dim3(1), 0, cudaErrorInvalidValue},
      {dim3(1), dim3(32), 300 * 1024, cudaErrorInvalidValue},  // more than any CTA may have
  };
  for (const Refused& r : refused) {
    DeviceBuffer out(device(), 64 * kProbeWords * sizeof(std::uint32_t));
    EXPECT_EQ(GetParam().probe->coordinates(static_cast<std::uint32_t*>(out.data()), r.grid,
                                            r.block, r.smem, nullptr),
              r.error)
        << r.grid.x << "," << r.grid.y << "," << r.grid.z << " CTAs of " << r.block.x << ","
        << r.block.y << "," << r.block.z << ", " << r.smem << " bytes";
    std::vector<std::uint32_t> words(64 * kProbeWords);
    out.copy_out(words.data(), out.bytes());
    EXPECT_EQ(words, std::vector<std::uint32_t>(words.size(), 0xffe7ffe7u));
    EXPECT_EQ(device().sticky_error(), cudaSuccess);
    // And the next launch is judged by itself.
    EXPECT_EQ(GetParam().probe->coordinates(static_cast<std::uint32_t*>(out.data()), dim3(1),
                                            dim3(32), 0, nullptr),
              cudaSuccess);
  }
}

TEST_P(Launch, AttributesAreTheKernels) {
  ProbeAttributes attributes{};
  ASSERT_EQ(GetParam().probe->attributes(&attributes), cudaSuccess);
  EXPECT_EQ(attributes.smem_static, 0u);
  if (is_emulated(*GetParam().backend)) {
    EXPECT_GE(attributes.max_threads_per_cta, 512);  // launch bounds are the compiler's knowledge
  } else {
    EXPECT_EQ(attributes.max_threads_per_cta, 512);
    EXPECT_GT(attributes.registers, 0);
    EXPECT_EQ(attributes.local_bytes, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(, Launch, testing::ValuesIn(sides()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace libkernels::test
