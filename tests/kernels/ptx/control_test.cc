// control.cuh: dynamic shared memory of every size class. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> control_cases();
}
namespace cuda {
std::span<const test::PtxCase> control_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

void check(std::span<const PtxCase> cases, Device& device) {
  for (const PtxCase& c : cases) {
    const std::size_t cta = c.cta_threads, threads = 16 * cta;  // more CTAs than fit at once
    const Words in = draw(threads, 2, 3);
    Words expected(4 * threads);
    for (std::size_t t = 0; t < threads; ++t) {
      const std::size_t partner = t / cta * cta + (cta - 1 - t % cta);
      expected[t] = in[partner];
      expected[threads + t] = in[threads + partner];
      expected[2 * threads + t] = 0;
      expected[3 * threads + t] = 1;
    }
    EXPECT_TRUE(same_words(in, run_case(c, device, in), expected, threads)) << c.name;
  }
}

TEST(DynamicSmem, EmulatedOnEveryGeneration) {
  for (const char* name : {"emu80", "emu90", "emu100"}) {
    const ProfileScope profile(name);
    check(emu::control_cases(), emu_device());
  }
}

TEST(DynamicSmem, Gpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::control_cases(), cuda_device());
#endif
}

}  // namespace
}  // namespace libkernels::test
