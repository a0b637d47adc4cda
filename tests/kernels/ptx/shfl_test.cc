// shfl.cuh: each lane receives the value of the lane that the PTX manual's formula names; the bits
// of floats, NaN payloads included, arrive as they were sent. Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> shfl_cases();
}
namespace cuda {
std::span<const test::PtxCase> shfl_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr unsigned kWarp = 32;

// In the kernels over half warps a lane may read only lanes of its half.
unsigned source_lane(const std::string& kind, unsigned lane, std::uint32_t operand) {
  const unsigned b = operand & 31u;
  if (kind == "bfly") return lane ^ b;
  if (kind == "idx") return b;
  if (kind == "up") return lane < b ? lane : lane - b;
  return lane + b > 31u ? lane : lane + b;
}

Words shfl_inputs(const PtxCase& c, std::size_t threads, std::uint64_t seed) {
  const std::string name = c.name;
  Words in = draw(threads, 2, seed, special_bits(DType::f32));
  for (std::size_t t = 0; t < threads; ++t) {
    std::uint32_t& operand = in[threads + t];
    operand %= 64;  // bits above the fifth are ignored
    if (!name.ends_with("_halves")) continue;
    const std::string kind = name.substr(0, name.find('_'));
    const unsigned lane = unsigned(t) % kWarp;
    while (source_lane(kind, lane, operand) / 16 != lane / 16) operand = (operand * 5 + 1) % 64;
  }
  return in;
}

Words shfl_expected(const PtxCase& c, const Words& in, std::size_t threads) {
  const std::string name = c.name;
  const std::string kind = name.substr(0, name.find('_'));
  const bool halves = name.ends_with("_halves");
  Words out(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t warp = t / kWarp * kWarp;
    const unsigned lane = unsigned(t % kWarp);
    std::uint32_t ballot = 0, any = 0, all = 1;
    for (unsigned other = 0; other < kWarp; ++other) {
      if (halves && other / 16 != lane / 16) continue;
      const std::uint32_t v = in[warp + other];
      ballot |= (v & 1u) << other;
      any |= (v & 31u) == 0 ? 1u : 0u;
      all &= (v & 31u) != 0 ? 1u : 0u;
    }
    if (kind == "ballot") {
      out[t] = ballot;
    } else if (kind == "any") {
      out[t] = any;
    } else if (kind == "all") {
      out[t] = all;
    } else {
      out[t] = in[warp + source_lane(kind, lane, in[threads + t])];
    }
  }
  return out;
}

void check(std::span<const PtxCase> cases, Device& device) {
  for (const PtxCase& c : cases) {
    for (const std::uint64_t seed : {1u, 2u}) {
      const std::size_t threads = 4 * c.cta_threads;
      const Words in = shfl_inputs(c, threads, seed);
      EXPECT_TRUE(same_words(in, run_case(c, device, in), shfl_expected(c, in, threads), threads))
          << c.name;
    }
  }
}

TEST(Shfl, EmulatedMatchesTheDefinition) { check(emu::shfl_cases(), emu_device()); }

TEST(Shfl, GpuMatchesTheDefinition) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::shfl_cases(), cuda_device());
#endif
}

// Both outcomes of the votes must occur in the data, or the test would prove nothing.
TEST(Shfl, VotesGoBothWays) {
  for (const char* name : {"any", "all", "any_halves", "all_halves"}) {
    const PtxCase& c = find_case(emu::shfl_cases(), name);
    std::size_t ones = 0, total = 0;
    for (const std::uint64_t seed : {1u, 2u}) {
      const std::size_t threads = 4 * c.cta_threads;
      for (const std::uint32_t w : shfl_expected(c, shfl_inputs(c, threads, seed), threads)) {
        ones += w;
        ++total;
      }
    }
    EXPECT_GT(ones, 0u) << name;
    EXPECT_LT(ones, total) << name;
  }
}

}  // namespace
}  // namespace libkernels::test
