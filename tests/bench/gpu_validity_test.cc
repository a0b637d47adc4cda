// Does the harness measure what it should? A kernel that takes a known time is timed within 2%, on
// a GPU in both modes; on the CPU the same with a make-believe clock.
#include <gtest/gtest.h>

#include "bench/contestants.h"
#include "bench/harness.h"
#include "bench/statistics.h"
#include "src/backend.h"
#include "tests/bench/fake_device.h"

namespace libkernels::bench {
namespace {

class Validity : public testing::TestWithParam<Mode> {};

Summary time_one(Device& device, cudaStream_t stream, const Contestant& contestant, Mode mode) {
  TimingOptions options;
  options.mode = mode;
  options.seconds = 0.1;
  options.precision = 0.005;
  return summarize(time_interleaved(device, stream, std::span(&contestant, 1), options)[0]);
}

TEST_P(Validity, AKnownTimeOnAMakeBelieveClock) {
  FakeDevice device(emu_device());
  for (const double ms : {0.0021, 0.5, 7.0}) {
    const Contestant contestant{
        .name = "known", .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t) {
          device.work(ms);
        }};
    const double seconds = time_one(device, nullptr, contestant, GetParam()).median;
    EXPECT_NEAR(seconds, ms * 1e-3, 0.02 * ms * 1e-3);
  }
}

TEST_P(Validity, ASpinningKernelOnAGpu) {
#if defined(LK_HAVE_CUDA)
  Device& device = cuda_backend().device();
  int count = 0;
  if (device.count(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
  const Stream stream(device);
  for (const std::uint64_t nanoseconds : {500000u, 2000000u}) {
    const Contestant contestant{
        .name = "spin", .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t s) {
          check(device, cuda_contestants().spin({.nanoseconds = nanoseconds, .stream = s}), "spin");
        }};
    const Summary seconds = time_one(device, stream.get(), contestant, GetParam());
    EXPECT_GE(seconds.samples, 7u);
    EXPECT_NEAR(seconds.median, double(nanoseconds) * 1e-9, 0.02 * double(nanoseconds) * 1e-9);
  }
#else
  GTEST_SKIP() << "built without CUDA";
#endif
}

INSTANTIATE_TEST_SUITE_P(Modes, Validity, testing::Values(Mode::graph, Mode::isolated),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace libkernels::bench
