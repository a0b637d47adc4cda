// ldmatrix.cuh: each register holds the elements that the PTX manual's figure gives it, wherever
// the rows lie; and rows that share banks are counted. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <span>

#include "tests/kernels/ptx/matrix_expect.h"
#include "tests/support/backends.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> ldmatrix_cases();
}
namespace cuda {
std::span<const test::PtxCase> ldmatrix_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

Words ldmatrix_expected(const PtxCase& c, const Words& in, std::size_t threads) {
  const MatrixForm form = matrix_form(c.name);
  Words out(form.count * threads);
  for (std::size_t warp = 0; warp < threads; warp += kMatrixWarp) {
    for_matrix_elements(
        form, [&](unsigned pointer, unsigned column, unsigned lane, unsigned j, unsigned half) {
          const std::size_t row = warp + in[4 * threads + warp + pointer];
          set_half(&out[j * threads + warp + lane], half,
                   half_of(in[column / 2 * threads + row], column % 2));
        });
  }
  return out;
}

void check(std::span<const PtxCase> cases, Device& device) {
  check_matrix_cases(cases, device, ldmatrix_expected);
}

TEST(Ldmatrix, EmulatedMatchesTheDefinition) { check(emu::ldmatrix_cases(), emu_device()); }

TEST(Ldmatrix, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::ldmatrix_cases(), cuda_device());
#endif
}

// Rows point anywhere; eight of them are one pass if they fall on eight groups of four banks.
std::uint64_t conflicts(const char* name, unsigned step) {
  const SettingsScope keep;
  emulator::settings().count = true;
  const PtxCase& c = find_case(emu::ldmatrix_cases(), name);
  const std::size_t threads = c.cta_threads;
  Words in = draw(threads, 5, 1);
  for (std::size_t t = 0; t < threads; ++t) {
    in[4 * threads + t] = std::uint32_t(t % kMatrixWarp * step);
  }
  emulator::reset_counters();
  run_case(c, emu_device(), in);
  const emulator::Counters n = emulator::counters();
  EXPECT_EQ(n.shared_read_requests, threads / kMatrixWarp);
  const std::uint64_t stores = threads / kMatrixWarp * 4;  // each warp's tile, in four passes
  EXPECT_EQ(n.shared_wavefronts - stores - n.shared_bank_conflicts,
            threads / kMatrixWarp * matrix_form(name).count);
  return n.shared_bank_conflicts / (threads / kMatrixWarp);
}

TEST(Ldmatrix, BankConflictsAreCounted) {
  EXPECT_EQ(conflicts("x4", 1), 0u);  // rows side by side
  EXPECT_EQ(conflicts("x1", 1), 0u);
  EXPECT_EQ(conflicts("x4_trans", 1), 0u);
  EXPECT_EQ(conflicts("x4", 3), 0u);
  EXPECT_EQ(conflicts("x4", 2), 4u);   // a pitch of 32 bytes: two rows a group of banks
  EXPECT_EQ(conflicts("x4", 4), 12u);  // of 64: four
  EXPECT_EQ(conflicts("x1", 4), 3u);
}

}  // namespace
}  // namespace libkernels::test
