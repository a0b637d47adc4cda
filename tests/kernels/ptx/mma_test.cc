// mma.cuh: every shape and type sums as the published models of tensor cores say, bit for bit, on
// the emulator for sm_80 and sm_90 and on the GPU. A GPU that differs gets a table of how many
// results other constants of the model would explain. Cost: 1 s emulated.
#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <sstream>
#include <string>
#include <utility>

#include "tests/kernels/ptx/mma_probes.h"
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
  for (unsigned block = s.k; block >= 2; block /= 2) {
    for (int fraction = 22; fraction <= 28; ++fraction) {
      for (const int zero : {-126, mma::kNoExponent}) {
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
    const Model m = mma::model_of(s, cc_major);
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

void check_probes(std::span<const PtxCase> cases, Device& device, int cc_major) {
  for (const PtxCase& c : cases) {
    const Shape s = mma::shape_of(c.name);
    const std::vector<mma::Probe> probes = mma::probes_of(s);
    std::vector<Problem> problems;
    for (const mma::Probe& p : probes) problems.push_back(p.problem);
    const auto got = run(c, device, problems);
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const auto expected = mma::evaluate(mma::model_of(s, cc_major), s, problems[i]);
      EXPECT_EQ(got[i][0], expected[0])
          << c.name << ": " << probes[i].question << " got " << show(got[i][0], DType::f32)
          << ", the model says " << show(expected[0], DType::f32);
    }
  }
}

TEST(Mma, ProbesTellTheGenerationsApart) {
  const Shape s = mma::shape_of("m16n8k16_bf16");
  std::size_t differ = 0;
  for (const mma::Probe& p : mma::probes_of(s)) {
    differ += mma::evaluate(mma::model_of(s, 8), s, p.problem)[0] !=
                      mma::evaluate(mma::model_of(s, 9), s, p.problem)[0]
                  ? 1
                  : 0;
  }
  EXPECT_GT(differ, 5u);
}

TEST(Mma, EmulatedProbes) {
  for (const auto& [name, major] : {std::pair("emu80", 8), std::pair("emu90", 9)}) {
    const ProfileScope profile(name);
    check_probes(emu::mma_cases(), emu_device(), major);
  }
}

TEST(Mma, GpuProbes) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  check_probes(cuda::mma_cases(), cuda_device(), properties->cc_major);
#endif
}

TEST(Mma, FlopsAreCounted) {
  const SettingsScope keep;
  emulator::settings().count = true;
  emulator::reset_counters();
  const std::vector<Problem> two(2, mma::draw_problem("normal", mma::shape_of("m16n8k16_f16"), 1));
  run(find_case(emu::mma_cases(), "m16n8k16_f16"), emu_device(), two);
  EXPECT_EQ(emulator::counters().mma_flops, 2u * 2 * 16 * 8 * 16);
  emulator::reset_counters();
  const std::vector<Problem> four(4, mma::draw_problem("normal", mma::shape_of("m16n8k4_tf32"), 1));
  run(find_case(emu::mma_cases(), "m16n8k4_tf32"), emu_device(), four);
  EXPECT_EQ(emulator::counters().mma_flops, 4u * 2 * 16 * 8 * 4);
}

// Not a matter of models: integers whose sums are exact come out exact, in the right places.
TEST(Mma, EmulatedIntegersAreExact) {
  for (const PtxCase& c : emu::mma_cases()) {
    const Shape s = mma::shape_of(c.name);
    Problem p;
    for (unsigned i = 0; i < mma::kM * s.k; ++i) {
      p.a.push_back(encode(int(random_word(1, i) % 15) - 7, s.format) << s.dropped);
    }
    for (unsigned i = 0; i < mma::kN * s.k; ++i) {
      p.b.push_back(encode(int(random_word(2, i) % 15) - 7, s.format) << s.dropped);
    }
    for (unsigned i = 0; i < mma::kM * mma::kN; ++i) {
      p.c.push_back(encode(int(random_word(3, i) % 2001) - 1000, kF32));
    }
    const auto got = run(c, emu_device(), {p})[0];
    for (unsigned at = 0; at < got.size(); ++at) {
      double sum = decode(p.c[at], kF32);
      for (unsigned i = 0; i < s.k; ++i) {
        sum += decode(p.a[at / mma::kN * s.k + i] >> s.dropped, s.format) *
               decode(p.b[at % mma::kN * s.k + i] >> s.dropped, s.format);
      }
      EXPECT_EQ(decode(got[at], kF32), sum) << c.name << " at " << at;
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
