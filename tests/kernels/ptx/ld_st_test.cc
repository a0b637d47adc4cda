// ld_st.cuh: every width arrives whole, where it belongs, and touches nothing else.
// Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/kernels/ptx/ld_st_expect.h"
#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> ld_st_cases();
}
namespace cuda {
std::span<const test::PtxCase> ld_st_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

TEST(LdSt, EmulatedMatchesTheDefinition) {
  for (const PtxCase& c : emu::ld_st_cases()) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Words in = ld_st_inputs(c, seed);
      EXPECT_TRUE(bits_equal(run_case(c, emu_device(), in), ld_st_expected(c, in), DType::f32))
          << c.name;
    }
  }
}

TEST(LdSt, AllWidthsAreThere) { EXPECT_EQ(emu::ld_st_cases().size(), 26u); }

TEST(LdSt, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  for (const PtxCase& c : cuda::ld_st_cases()) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Words in = ld_st_inputs(c, seed);
      EXPECT_TRUE(bits_equal(run_case(c, cuda_device(), in), ld_st_expected(c, in), DType::f32))
          << c.name;
    }
  }
#endif
}

}  // namespace
}  // namespace libkernels::test
