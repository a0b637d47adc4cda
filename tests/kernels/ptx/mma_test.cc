// mma.cuh: every shape and type sums as the published models of tensor cores say, bit for bit, on
// the emulator for sm_80 and sm_90 and on the GPU. A GPU that differs gets a table of how many
// results other constants of the model would explain. Cost: 1 s emulated.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <span>
#include <sstream>
#include <string>

#include "tests/kernels/ptx/mma_reference.h"
#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> mma_cases();
}
namespace cuda {
std::span<const test::PtxCase> mma_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

using mma::Model;
using mma::Problem;
using mma::Shape;

constexpr std::size_t kProblems = 16;  // of each draw; 128 results each

std::vector<Problem> problems_of(const std::string& draw, const Shape& s) {
  std::vector<Problem> all;
  for (std::size_t i = 0; i < kProblems; ++i) {
    all.push_back(mma::draw_problem(draw, s, 1000 + i));
  }
  return all;
}

// One warp a problem.
std::vector<std::vector<std::uint32_t>> run(const PtxCase& c, Device& device,
                                            const std::vector<Problem>& problems) {
  const std::size_t warps = (problems.size() + 1) / 2 * 2;  // a CTA is two
  const std::size_t threads = warps * mma::kWarp;
  Words in(threads * std::size_t(c.inputs));
  for (std::size_t i = 0; i < problems.size(); ++i) {
    mma::scatter(mma::shape_of(c.name), problems[i], threads, &in[i * mma::kWarp]);
  }
  const Words out = run_case(c, device, in);
  std::vector<std::vector<std::uint32_t>> results;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    results.push_back(mma::gather(&out[i * mma::kWarp], threads));
  }
  return results;
}

std::string show_problem(const Shape& s, const Problem& p, unsigned r, unsigned j) {
  std::ostringstream text;
  text << std::hex << "a {";
  for (unsigned i = 0; i < s.k; ++i) text << (i ? " " : "") << p.a[r * s.k + i];
  text << "} b {";
  for (unsigned i = 0; i < s.k; ++i) text << (i ? " " : "") << p.b[j * s.k + i];
  text << "} c " << p.c[r * mma::kN + j];
  return text.str();
}

// How many results of `got` differ from the model's, and the first of them.
struct Difference {
  std::size_t count = 0;
  std::string first;
};
Difference compare(const Shape& s, const Model& m, const std::vector<Problem>& problems,
                   const std::vector<std::vector<std::uint32_t>>& got) {
  Difference difference;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto expected = mma::evaluate(m, s, problems[i]);
    for (unsigned at = 0; at < expected.size(); ++at) {
      if (got[i][at] == expected[at] || difference.count++) continue;
      std::ostringstream text;
      text << std::hex << show_problem(s, problems[i], at / mma::kN, at % mma::kN) << ": got "
           << got[i][at] << ", the model says " << expected[at];
      difference.first = text.str();
    }
  }
  return difference;
}

// Which constants come closest: a table on the standard output.
void fit(const Shape& s, const std::vector<Problem>& problems,
         const std::vector<std::vector<std::uint32_t>>& got) {
  constexpr int kNoExponent = -10000;  // a product of 0 takes no part in the largest exponent
  for (unsigned block = s.k; block >= 2; block /= 2) {
    for (int fraction = 22; fraction <= 28; ++fraction) {
      for (const int zero : {-126, kNoExponent}) {
        const Difference d = compare(s, {block, fraction, zero}, problems, got);
        std::printf("    blocks of %2u, %d fraction bits, exponent of 0 %6d: %zu differ\n", block,
                    fraction, zero, d.count);
      }
    }
  }
}

void check(std::span<const PtxCase> cases, Device& device, int cc_major, bool fits) {
  for (const PtxCase& c : cases) {
    const Shape s = mma::shape_of(c.name);
    const Model m = mma::published_model(s, cc_major);
    for (const std::string& draw : mma::draws()) {
      const std::vector<Problem> problems = problems_of(draw, s);
      const auto got = run(c, device, problems);
      const Difference d = compare(s, m, problems, got);
      EXPECT_EQ(d.count, 0u) << c.name << " " << draw << ", of "
                             << problems.size() * mma::kM * mma::kN << "; the first: " << d.first;
      if (d.count == 0 || !fits) continue;
      std::printf("%s %s, of %zu results:\n", c.name, draw.c_str(),
                  problems.size() * mma::kM * mma::kN);
      fit(s, problems, got);
    }
  }
}

TEST(Mma, EmulatedSm80MatchesTheModel) {
  const ProfileScope profile("emu80");
  check(emu::mma_cases(), emu_device(), 8, false);
}
TEST(Mma, EmulatedSm90MatchesTheModel) {
  const ProfileScope profile("emu90");
  check(emu::mma_cases(), emu_device(), 9, false);
}
TEST(Mma, EmulatedSm100MatchesTheModel) {
  const ProfileScope profile("emu100");
  check(emu::mma_cases(), emu_device(), 10, false);
}

TEST(Mma, GpuMatchesTheModel) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  check(cuda::mma_cases(), cuda_device(), properties->cc_major, true);
#endif
}

}  // namespace
}  // namespace libkernels::test
