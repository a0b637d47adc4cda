// timer.cuh: the clock runs forward, at the pace of the host's. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> timer_cases();
}
namespace cuda {
std::span<const test::PtxCase> timer_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::uint32_t kStepNs = 2000;  // the clock's longest step, and some for its reading

void check(std::span<const PtxCase> cases, Device& device, std::uint32_t wait_ns,
           std::uint32_t slack_ns) {
  const PtxCase& c = find_case(cases, "globaltimer");
  const Words in(c.cta_threads, wait_ns);
  const auto begin = std::chrono::steady_clock::now();
  const Words out = run_case(c, device, in);
  const auto host =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin)
          .count();
  for (std::size_t t = 0; t < in.size(); ++t) {
    EXPECT_GE(out[t], wait_ns);
    EXPECT_LE(out[t], wait_ns + slack_ns);
    EXPECT_EQ(out[in.size() + t], 0u) << "ran backwards";
  }
  EXPECT_GE(host + std::int64_t(kStepNs), std::int64_t(wait_ns));
}

TEST(Timer, Emulated) {
  check(emu::timer_cases(), emu_device(), 1000000, 4000000000u);  // a busy host may take long
}

TEST(Timer, Gpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::timer_cases(), cuda_device(), 5000000, 100000);
#endif
}

}  // namespace
}  // namespace libkernels::test
