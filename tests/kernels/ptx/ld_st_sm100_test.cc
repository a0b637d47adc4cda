// The 256-bit accesses of ld_st.cuh: emulated anywhere, on a GPU from compute capability 10.0 on.
// Cost: 0.05 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/kernels/ptx/ld_st_expect.h"
#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> ld_st_sm100_cases();
}
namespace cuda {
std::span<const test::PtxCase> ld_st_sm100_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

TEST(LdStSm100, EmulatedMatchesTheDefinition) {
  const ProfileScope profile("emu100");
  for (const PtxCase& c : emu::ld_st_sm100_cases()) {
    const Words in = ld_st_inputs(c, 1);
    EXPECT_TRUE(bits_equal(run_case(c, emu_device(), in), ld_st_expected(c, in), DType::f32))
        << c.name;
  }
}

TEST(LdStSm100, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(10); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  for (const PtxCase& c : cuda::ld_st_sm100_cases()) {
    const Words in = ld_st_inputs(c, 1);
    EXPECT_TRUE(bits_equal(run_case(c, cuda_device(), in), ld_st_expected(c, in), DType::f32))
        << c.name;
  }
#endif
}

}  // namespace
}  // namespace libkernels::test
