// griddepcontrol: seven dependent grids in a row, each reading all that the one before wrote.
// Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> control_sm90_cases();
}
namespace cuda {
std::span<const test::PtxCase> control_sm90_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::size_t kLinks = 7;

void check(std::span<const PtxCase> cases, Device& device, std::size_t ctas) {
  const PtxCase& c = find_case(cases, "griddepcontrol");
  const std::size_t threads = ctas * c.cta_threads;
  const Words in = draw(threads, 1, 5);
  Words expected = in;
  for (std::size_t k = 0; k < kLinks; ++k) {
    const Words before = expected;
    for (std::size_t t = 0; t < threads; ++t) {
      expected[t] = 3 * before[(t + c.cta_threads + 1) % threads] + 1;
    }
  }
  EXPECT_TRUE(same_words(in, run_case(c, device, in), expected, threads));
}

TEST(Griddepcontrol, EmulatedChain) {
  for (const char* name : {"emu90", "emu100"}) {
    const ProfileScope profile(name);
    check(emu::control_sm90_cases(), emu_device(), 16);
  }
}

TEST(Griddepcontrol, GpuChain) {
  if (const std::string why = why_no_gpu(9); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  if (properties->cc_major != 9) GTEST_SKIP() << "compiled for compute capability 9.0 alone";
  for (int repeat = 0; repeat < 20; ++repeat) {
    check(cuda::control_sm90_cases(), cuda_device(), 2048);
  }
#endif
}

}  // namespace
}  // namespace libkernels::test
