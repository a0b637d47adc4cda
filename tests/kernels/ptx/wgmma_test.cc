// wgmma.cuh: every type, shape, layout and swizzle sums as the published model of Hopper's tensor
// cores says, bit for bit, on the emulator and on the GPU. A GPU that differs gets a count for each
// kernel and draw, the first examples, and how many results other constants of the model would
// explain. Cost: 4 s emulated.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <span>
#include <sstream>
#include <string>

#include "tests/kernels/ptx/wgmma_reference.h"
#include "tests/support/backends.h"

namespace libkernels {
namespace emu {
std::span<const test::WgmmaCase> wgmma_cases();
}
namespace cuda {
std::span<const test::WgmmaCase> wgmma_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

using wgmma::Element;
using wgmma::Model;
using wgmma::Problem;

constexpr std::uint64_t kTiles = 2;  // of each draw: 64 n results each

std::vector<Problem> problems_of(const WgmmaCase& c, const std::string& draw) {
  std::vector<Problem> all;
  for (std::uint64_t i = 0; i < kTiles; ++i) all.push_back(wgmma::draw_problem(draw, c, 100 + i));
  return all;
}

// D of each problem, in one launch.
std::vector<std::vector<std::uint32_t>> run(const WgmmaCase& c, Device& device,
                                            const std::vector<Problem>& problems, bool scale_d) {
  std::vector<unsigned char> a, b;
  std::vector<std::uint32_t> sums;
  for (const Problem& p : problems) {
    const auto bytes_a = p.a.bytes(), bytes_b = p.b.bytes();
    a.insert(a.end(), bytes_a.begin(), bytes_a.end());
    b.insert(b.end(), bytes_b.begin(), bytes_b.end());
    sums.insert(sums.end(), p.c.begin(), p.c.end());
  }
  DeviceBuffer in_a(device, a.size()), in_b(device, b.size());
  DeviceBuffer in_c(device, sums.size() * 4), out(device, sums.size() * 4);
  in_a.copy_in(a.data(), a.size());
  in_b.copy_in(b.data(), b.size());
  in_c.copy_in(sums.data(), sums.size() * 4);
  const WgmmaParams params{static_cast<const unsigned char*>(in_a.data()),
                           static_cast<const unsigned char*>(in_b.data()),
                           static_cast<const float*>(in_c.data()), static_cast<float*>(out.data()),
                           scale_d};
  require(device, c.launch(params, unsigned(problems.size()), nullptr), c.name);
  out.copy_out(sums.data(), sums.size() * 4);
  std::vector<std::vector<std::uint32_t>> results;
  const std::size_t of_tile = problems[0].c.size();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    results.emplace_back(sums.begin() + std::ptrdiff_t(i * of_tile),
                         sums.begin() + std::ptrdiff_t((i + 1) * of_tile));
  }
  return results;
}

std::string show(const Problem& p, int row, int column) {
  std::ostringstream text;
  text << std::hex << "a {";
  for (int i = 0; i < p.a.k; ++i) text << ' ' << p.a.bits[std::size_t(row * p.a.k + i)];
  text << " } b {";
  for (int i = 0; i < p.b.k; ++i) text << ' ' << p.b.bits[std::size_t(column * p.b.k + i)];
  text << " } c " << p.c[std::size_t(row * p.b.rows + column)];
  return text.str();
}

struct Difference {
  std::size_t count = 0, judged = 0;
  std::string examples;
};

// Judges every `stride`-th result.
Difference compare(const Model& m, const std::vector<Problem>& problems,
                   const std::vector<std::vector<std::uint32_t>>& got, bool scale_d, int stride) {
  constexpr std::size_t kExamples = 2;
  Difference difference;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const Problem& p = problems[i];
    const std::vector<Element> a = wgmma::elements(p.a), b = wgmma::elements(p.b);
    for (int at = int(i) % stride; at < int(p.c.size()); at += stride) {
      const int row = at / p.b.rows, column = at % p.b.rows;
      const std::uint32_t expected = wgmma::result(m, p, a, b, row, column, scale_d);
      ++difference.judged;
      if (got[i][std::size_t(at)] == expected) continue;
      if (difference.count++ >= kExamples) continue;
      std::ostringstream text;
      text << "    tile " << i << ", row " << row << ", column " << column << std::hex << ": got "
           << got[i][std::size_t(at)] << ", model " << expected << ", " << show(p, row, column)
           << "\n";
      difference.examples += text.str();
    }
  }
  return difference;
}

// How many results each set of constants explains.
std::string fit(const WgmmaCase& c, const std::vector<Problem>& problems,
                const std::vector<std::vector<std::uint32_t>>& got, bool scale_d) {
  std::ostringstream text;
  const bool fp8 = wgmma::type_of(c.a).bytes == 1;
  for (const int block : {8, 16, 32}) {
    for (const int fraction : fp8 ? std::vector{12, 13, 14, 21, 25} : std::vector{23, 24, 25, 26}) {
      for (const int output : fp8 ? std::vector{13, 14, 23} : std::vector{23}) {
        const Difference d = compare({block, fraction, output}, problems, got, scale_d, 5);
        text << "    block " << block << " bytes, " << fraction << " bits, output " << output
             << ": " << d.count << " of " << d.judged << " differ\n";
      }
    }
  }
  return text.str();
}

void check(std::span<const WgmmaCase> cases, Device& device, int stride) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> by_type;
  for (const WgmmaCase& c : cases) {
    const Model published = wgmma::published_model(wgmma::type_of(c.a));
    for (const std::string& draw : mma::draws()) {
      const bool scale_d = draw != "near_exponents";
      const auto problems = problems_of(c, draw);
      const auto got = run(c, device, problems, scale_d);
      const Difference d = compare(published, problems, got, scale_d, stride);
      auto& [wrong, judged] = by_type[std::string(c.a) + " x " + c.b];
      wrong += d.count;
      judged += d.judged;
      EXPECT_EQ(d.count, 0u) << c.name << ", " << draw << ": " << d.count << " of " << d.judged
                             << " results differ\n"
                             << d.examples << fit(c, problems, got, scale_d);
    }
  }
  for (const auto& [type, counts] : by_type) {
    std::printf("wgmma %s on %s: %zu of %zu results differ from the model\n", type.c_str(),
                device.backend(), counts.first, counts.second);
  }
}

TEST(Wgmma, EmulatedSumsAsTheModel) {
  const ProfileScope profile("emu90");
  check(emu::wgmma_cases(), emu_device(), 13);
}

// Late, early and random completion give the same bits.
TEST(Wgmma, EmulatedInEveryOrder) {
  const SettingsScope keep;
  const ProfileScope profile("emu90");
  for (const char* name : {"bf16_n64", "f16_registers", "e4m3_e5m2", "tf32_64b"}) {
    const auto cases = emu::wgmma_cases();
    const auto c = std::find_if(cases.begin(), cases.end(),
                                [&](const WgmmaCase& x) { return x.name == std::string(name); });
    ASSERT_NE(c, cases.end());
    const auto problems = problems_of(*c, "normal");
    emulator::settings().completion = emulator::Completion::late;
    const auto late = run(*c, emu_device(), problems, true);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      emulator::settings().completion =
          seed ? emulator::Completion::random : emulator::Completion::eager;
      emulator::settings().seed = seed;
      EXPECT_EQ(run(*c, emu_device(), problems, true), late) << name << ", seed " << seed;
    }
  }
}

TEST(Wgmma, GpuSumsAsTheModel) {
  if (const std::string why = why_no_gpu(9); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  if (properties->cc_major != 9) GTEST_SKIP() << "wgmma is 9.0's alone";
  check(cuda::wgmma_cases(), cuda_device(), 1);
#endif
}

// The draws must reach what they are for.
TEST(Wgmma, DrawsReachSpecialValuesAndCancellation) {
  const WgmmaCase c{"bf16", "bf16", "bf16", 8, 1, nullptr};
  const Model m = wgmma::published_model(wgmma::type_of("bf16"));
  std::map<std::string, std::size_t> nans, zeros;
  for (const std::string& draw : mma::draws()) {
    for (const Problem& p : problems_of(c, draw)) {
      const auto a = wgmma::elements(p.a), b = wgmma::elements(p.b);
      for (int at = 0; at < 64 * 8; ++at) {
        const std::uint32_t d = wgmma::result(m, p, a, b, at / 8, at % 8, true);
        nans[draw] += is_nan(d, DType::f32);
        zeros[draw] += d == 0;
      }
    }
  }
  EXPECT_EQ(nans["normal"], 0u);
  EXPECT_GT(nans["special"], 100u);
  EXPECT_GT(zeros["cancelling"], 0u);
}

}  // namespace
}  // namespace libkernels::test
