// barrier.cuh: exchanges through shared memory that a missing or weak barrier would spoil, under
// every order in which the emulator runs warps. Cost: 0.3 s emulated.
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> barrier_cases();
}
namespace cuda {
std::span<const test::PtxCase> barrier_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::size_t kThreads = 128;
constexpr std::size_t kHalf = kThreads / 2;
constexpr int kRounds = 6;

std::size_t group_of(const std::string& name) {
  if (name == "syncthreads" || name == "bar_sync_cta") return kThreads;
  if (name == "bar_sync_half") return kHalf;
  return name == "bar_warp_sync_half" ? 16 : 32;
}

// One CTA's words, computed serially.
Words rounds(Words mine, std::size_t group) {
  for (int k = 0; k < kRounds; ++k) {
    const Words before = mine;
    for (std::size_t i = 0; i < kThreads; ++i) {
      const std::size_t base = i / group * group;
      mine[i] = 3 * before[i] + before[base + (i - base + 1 + 5 * std::size_t(k)) % group];
    }
  }
  return mine;
}
Words producers_and_consumers(Words mine) {
  for (std::size_t k = 0; k < kRounds; ++k) {
    for (std::size_t i = kHalf; i < kThreads; ++i) mine[i] = 3 * mine[i] + mine[(i + k) % kHalf];
    for (std::size_t i = 0; i < kHalf; ++i) mine[i] = 3 * mine[i] + 1;
  }
  return mine;
}

void check(std::span<const PtxCase> cases, Device& device) {
  constexpr std::size_t kCtas = 8;
  for (const PtxCase& c : cases) {
    const Words in = draw(kCtas * kThreads, 1, 7);
    Words expected;
    for (std::size_t cta = 0; cta < kCtas; ++cta) {
      const auto begin = in.begin() + std::ptrdiff_t(cta * kThreads);
      const Words words(begin, begin + kThreads);
      const std::string name = c.name;
      const Words out =
          name == "bar_arrive" ? producers_and_consumers(words) : rounds(words, group_of(name));
      expected.insert(expected.end(), out.begin(), out.end());
    }
    EXPECT_TRUE(bits_equal(run_case(c, device, in), expected, DType::f32)) << c.name;
  }
}

TEST(Barrier, EmulatedHoldsInEveryOrder) {
  const SettingsScope restore;
  for (const auto completion : {emulator::Completion::late, emulator::Completion::eager}) {
    emulator::settings().completion = completion;
    check(emu::barrier_cases(), emu_device());
  }
  emulator::settings().completion = emulator::Completion::random;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    emulator::settings().seed = seed;
    check(emu::barrier_cases(), emu_device());
  }
}

TEST(Barrier, GpuHolds) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  for (int repeat = 0; repeat < 20; ++repeat) check(cuda::barrier_cases(), cuda_device());
#endif
}

}  // namespace
}  // namespace libkernels::test
