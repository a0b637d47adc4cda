// stmatrix (ldmatrix.cuh): each element lands where ldmatrix would find it. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <span>

#include "tests/kernels/ptx/matrix_expect.h"
#include "tests/support/backends.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> stmatrix_cases();
}
namespace cuda {
std::span<const test::PtxCase> stmatrix_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

Words stmatrix_expected(const PtxCase& c, const Words& in, std::size_t threads) {
  const MatrixForm form = matrix_form(c.name);
  Words out(4 * threads);
  for (std::size_t warp = 0; warp < threads; warp += kMatrixWarp) {
    for_matrix_elements(
        form, [&](unsigned pointer, unsigned column, unsigned lane, unsigned j, unsigned half) {
          const std::size_t row = warp + in[4 * threads + warp + pointer];
          set_half(&out[column / 2 * threads + row], column % 2,
                   half_of(in[j * threads + warp + lane], half));
        });
  }
  return out;
}

void check(std::span<const PtxCase> cases, Device& device) {
  check_matrix_cases(cases, device, stmatrix_expected);
}

TEST(Stmatrix, EmulatedMatchesTheDefinition) { check(emu::stmatrix_cases(), emu_device()); }

TEST(Stmatrix, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(9); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  if (properties->cc_major != 9) GTEST_SKIP() << "compiled for compute capability 9.0 alone";
  check(cuda::stmatrix_cases(), cuda_device());
#endif
}

TEST(Stmatrix, NeedsSm90) {
  const ProfileScope profile("emu80");
  const PtxCase& c = find_case(emu::stmatrix_cases(), "x4");
  EXPECT_THROW(run_case(c, emu_device(), matrix_inputs(c.cta_threads, 1)), std::runtime_error);
  EXPECT_NE(emulator::last_fault().find("stmatrix needs sm_90"), std::string::npos);
}

}  // namespace
}  // namespace libkernels::test
