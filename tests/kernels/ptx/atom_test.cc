// atom.cuh: nobody's addition is lost, and every thread sees another value. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> atom_cases();
}
namespace cuda {
std::span<const test::PtxCase> atom_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::size_t kThreads = 2048;

void check(std::span<const PtxCase> cases, Device& device) {
  ASSERT_EQ(cases.size(), 1u);
  Words in = draw(kThreads, 2, 5);
  in[kThreads] = kUnwritten;

  const Words tickets = run_case(cases[0], device, in);
  EXPECT_EQ(tickets[0], kUnwritten + kThreads);
  // All but the last ticket's, in whatever order.
  Words left(tickets.begin() + 1, tickets.end()), all(in.begin(), in.begin() + kThreads);
  std::sort(left.begin(), left.end());
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(std::includes(all.begin(), all.end(), left.begin(), left.end()));
}

TEST(Atom, Emulated) { check(emu::atom_cases(), emu_device()); }

TEST(Atom, Gpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::atom_cases(), cuda_device());
#endif
}

}  // namespace
}  // namespace libkernels::test
