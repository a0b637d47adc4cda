// pipeline.cuh and cluster_exchange.cuh: exact results on both backends, in every order of
// completion. Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/kernels/common/ring_case.h"
#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::RingCase> ring_cases();
}
namespace cuda {
std::span<const test::RingCase> ring_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr unsigned kClusters = 3;
constexpr int kItems = 11;

Words inputs(const RingCase& c) {
  const unsigned ctas = kClusters * unsigned(c.cluster);
  Words in(c.reduces ? ctas * kReduceRounds : ctas * kItems * kRingItemWords);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = c.reduces ? bits_of(float(random_normal(3, i))) : random_word(3, i);
  }
  if (c.name == std::string("max_4")) in[2] = bits_of(NAN);
  return in;
}

// In the order of the ranks.
float reduced(const RingCase& c, const Words& in, unsigned cta, unsigned round) {
  const unsigned first = cta / unsigned(c.cluster) * unsigned(c.cluster);
  float total = float_of(in[first * kReduceRounds + round]);
  for (unsigned r = 1; r < unsigned(c.cluster); ++r) {
    const float v = float_of(in[(first + r) * kReduceRounds + round]);
    if (c.name == std::string("max_4")) {
      total = std::isnan(total) || std::isnan(v) ? NAN : std::max(total, v);
    } else {
      total += v;
    }
  }
  return total;
}

Words expected(const RingCase& c, const Words& in) {
  Words out(c.reduces ? in.size() * 32 : in.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (c.reduces) {
      const auto at = unsigned(i / 32);
      out[i] = bits_of(reduced(c, in, at / kReduceRounds, at % kReduceRounds));
    } else {
      out[i] = 2 * in[i] + std::uint32_t(i / kRingItemWords % kItems);
    }
  }
  return out;
}

void check(std::span<const RingCase> cases, Device& device) {
  for (const RingCase& c : cases) {
    const Words in = inputs(c), want = expected(c, in);
    DeviceBuffer input(device, in.size() * 4), output(device, want.size() * 4);
    input.copy_in(in.data(), input.bytes());
    require(device,
            c.launch({static_cast<const std::uint32_t*>(input.data()),
                      static_cast<std::uint32_t*>(output.data()), kItems},
                     kClusters * unsigned(c.cluster), nullptr),
            c.name);
    Words got(want.size());
    output.copy_out(got.data(), output.bytes());
    EXPECT_TRUE(same_words(got, got, want, got.size(), NaNs::same_class)) << c.name;
  }
}

TEST(Ring, EmulatedInEveryOrder) {
  const SettingsScope keep;
  const ProfileScope profile("emu90");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    using emulator::Completion;
    emulator::settings().completion = seed == 0   ? Completion::late
                                      : seed == 1 ? Completion::eager
                                                  : Completion::random;
    emulator::settings().seed = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(emu::ring_cases(), emu_device());
  }
}

TEST(Ring, Gpu) {
  if (const std::string why = why_no_gpu(9); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const DeviceProperties* properties = nullptr;
  ASSERT_EQ(cuda_device().properties(&properties), cudaSuccess);
  if (properties->cc_major != 9) GTEST_SKIP() << "the kernels are built for 9.0 alone";
  check(cuda::ring_cases(), cuda_device());
#endif
}

}  // namespace
}  // namespace libkernels::test
