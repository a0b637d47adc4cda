// The ceilings: their kernels on the emulator, and the competition with a make-believe clock.
#include "bench/ceilings.h"

#include <gtest/gtest.h>

#include "bench/counted.h"
#include "tests/bench/fake_device.h"

namespace libkernels::bench {
namespace {

TEST(Ceilings, AStreamMovesWhatTheOperationMoves) {
  EXPECT_EQ(stream_bytes(Traffic::copy, 2 * 65536), 65536u);
  EXPECT_EQ(stream_bytes(Traffic::copy, 6 * 65536), 3u * 65536);  // bf16 in, f32 out
  EXPECT_EQ(stream_bytes(Traffic::copy, 4 * 16777215), 33554432u);
  EXPECT_EQ(stream_bytes(Traffic::copy, 1), 16u);
  EXPECT_EQ(stream_bytes(Traffic::read, 65536), 65536u);
  EXPECT_EQ(stream_bytes(Traffic::write, 65537), 65552u);
}

TEST(Ceilings, SizesOfAClassAreAlike) {
  for (std::int64_t bytes = 1; bytes < (std::int64_t{1} << 40); bytes += 1 + bytes / 3) {
    EXPECT_NEAR(double(size_class(bytes)), double(bytes), double(bytes) / 32) << bytes;
  }
  EXPECT_EQ(size_class(1 << 28), 1 << 28);
  EXPECT_EQ(size_class((1 << 28) - 4), 1 << 28);
}

TEST(Ceilings, FractionOfARate) {
  EXPECT_DOUBLE_EQ(fraction_of_ceiling(1000, 1e-6, 2e9), 0.5);
  EXPECT_EQ(fraction_of_ceiling(1000, 0, 2e9), 0);
  EXPECT_EQ(fraction_of_ceiling(1000, 1e-6, 0), 0);
}

TEST(Ceilings, RatesOfTheTypesOnTensorCores) {
  EXPECT_EQ(tensor_factor("f32"), 0);
  EXPECT_EQ(tensor_factor("bf16->f32"), 1);
  EXPECT_EQ(tensor_factor("tf32"), 0.5);
  EXPECT_NEAR(tensor_factor("tf32x3"), 1.0 / 6, 1e-12);
  EXPECT_EQ(tensor_factor("f8_e4m3->bf16"), 2);
}

Site emulated_site() { return {.backend = emu_backend(), .contestants = emu_contestants()}; }

class Streams : public testing::TestWithParam<Traffic> {};

// Every kernel moves each byte once and no other: those of a read leave no result to compare.
TEST_P(Streams, EachKernelMovesEachByteOnce) {
  const CountingScope counting("h200");
  for (const std::int64_t bytes : {16, 4096, 100016}) {
    StreamTrack track(emulated_site(), GetParam(), bytes, 1);
    std::size_t hand_written = 0;
    for (const Contestant& candidate : track.candidates()) {
      emulator::reset_counters();
      track.verify(candidate);
      candidate.call(0, nullptr);
      const emulator::Counters c = emulator::counters();
      if (candidate.name == "copy_on_device" || candidate.name == "fill") continue;
      ++hand_written;
      const std::uint64_t one_way = stream_bytes(GetParam(), bytes);
      const bool reads = GetParam() != Traffic::write, writes = GetParam() != Traffic::read;
      // verify() runs it once more, and compares a copy or a fill on the device besides.
      EXPECT_EQ(c.global_bytes_written, writes ? 2 * one_way : 0) << candidate.name;
      EXPECT_GE(c.global_bytes_read, reads ? 2 * one_way : 0) << candidate.name;
      if (!writes) {
        EXPECT_EQ(c.global_bytes_read, 2 * one_way) << candidate.name;
      }
    }
    EXPECT_GE(hand_written, GetParam() == Traffic::write ? 4u : 6u);
  }
}

INSTANTIATE_TEST_SUITE_P(Traffic, Streams,
                         testing::Values(Traffic::copy, Traffic::read, Traffic::write),
                         [](const auto& info) {
                           return std::string(info.param == Traffic::copy   ? "copy"
                                              : info.param == Traffic::read ? "read"
                                                                            : "write");
                         });

TEST(Ceilings, AProductsRateIsItsTypesOwnOrDerived) {
  std::vector<CeilingRecord> records;
  const auto add = [&](const char* kind, double per_s) {
    CeilingRecord r{.kind = kind, .kernel = kind};
    r.flops = 1;
    r.per_s = per_s;
    records.push_back(r);
  };
  EXPECT_EQ(best_rate(records, "bf16", 0).kernel, "");
  add("fma f32", 60e12);
  add("mma.sync bf16", 600e12);
  EXPECT_EQ(best_rate(records, "f32", 0).flops_per_s, 60e12);
  EXPECT_EQ(best_rate(records, "f32", 80).kernel, "fma f32");
  EXPECT_EQ(best_rate(records, "tf32", 0).kernel, "mma.sync bf16 x 0.5");
  add("wgmma bf16", 800e12);
  add("wgmma tf32", 390e12);
  EXPECT_EQ(best_rate(records, "bf16->f32", 0).kernel, "wgmma bf16");
  EXPECT_EQ(best_rate(records, "bf16", 80).kernel, "mma.sync bf16");
  EXPECT_EQ(best_rate(records, "tf32", 0).flops_per_s, 390e12);
  EXPECT_EQ(best_rate(records, "tf32x3", 0).flops_per_s, 130e12);
  EXPECT_EQ(best_rate(records, "f8_e5m2->bf16", 0).flops_per_s, 1600e12);
}

TEST(Ceilings, MathKernelsRunAndTheirFlopsScale) {
  const DeviceProperties& h200 = *emulator::find_profile("h200");
  DeviceProperties small = h200;  // the emulator needs no 132 SMs to show that it runs
  small.sm_count = 1;
  const CountingScope counting("h200");
  DeviceMemory sink(emu_device(), sizeof(std::uint32_t));
  for (const MathKernel& kernel : emu_contestants().maths) {
    const MathCall call{.sink = reinterpret_cast<std::uint32_t*>(sink.data()),
                        .iterations = 2,
                        .properties = &small,
                        .stream = nullptr};
    EXPECT_EQ(kernel.launch(call), cudaSuccess) << kernel.name;
    MathCall twice = call;
    twice.iterations = 4;
    EXPECT_DOUBLE_EQ(kernel.flops(twice), 2 * kernel.flops(call)) << kernel.name;
  }
}

TEST(Ceilings, TensorLoopsDoTheFlopsThatTheyClaim) {
  DeviceProperties small = *emulator::find_profile("h200");
  small.sm_count = 1;
  const CountingScope counting("h200");
  DeviceMemory sink(emu_device(), sizeof(std::uint32_t));
  int seen = 0;
  for (const MathKernel& kernel : emu_contestants().maths) {
    if (std::string(kernel.unit) == "fma f32") continue;
    ++seen;
    const MathCall call{.sink = reinterpret_cast<std::uint32_t*>(sink.data()),
                        .iterations = 1,
                        .properties = &small,
                        .stream = nullptr};
    emulator::reset_counters();
    ASSERT_EQ(kernel.launch(call), cudaSuccess);
    EXPECT_EQ(double(emulator::counters().mma_flops), kernel.flops(call)) << kernel.name;
  }
  EXPECT_EQ(seen, 5);
}

// Every launch takes 1 us, but the named one takes half.
FakeDevice& fake() {
  static FakeDevice device(emu_device());
  return device;
}

TEST(Ceilings, TheFastestWinsOnceForItsSize) {
  Backend backend = emu_backend();
  backend.device = []() -> Device& { return fake(); };
  static int launches = 0;
  static const StreamKernel copies[] = {
      {.name = "slow",
       .launch =
           [](const StreamCall& c) {
             ++launches;
             fake().work(2e-3);
             return fake().copy_on_device(c.dst, c.src, c.bytes, c.stream);
           }},
      {.name = "fast", .launch = [](const StreamCall& c) {
         fake().work(1e-3);
         return fake().copy_on_device(c.dst, c.src, c.bytes, c.stream);
       }}};
  Contestants contestants = emu_contestants();
  contestants.copies = copies;
  const Site site{.backend = backend, .contestants = contestants};
  TimingOptions options;
  options.mode = Mode::isolated;
  options.seconds = 1e-3;
  const GpuMonitor monitor("no such GPU");
  // copy_on_device takes no make-believe time at all: a sample of zero, which is none.
  Ceilings ceilings(site, options, monitor, 1);
  EXPECT_EQ(ceilings.best_stream(Traffic::copy, 100000), "fast");
  const int once = launches;
  EXPECT_EQ(ceilings.best_stream(Traffic::copy, 100010), "fast");
  EXPECT_EQ(launches, once);
  ASSERT_EQ(ceilings.records().size(), 3u);
  EXPECT_TRUE(ceilings.records()[1].best);
  EXPECT_FALSE(ceilings.records()[0].best);
  EXPECT_NEAR(ceilings.records()[1].per_s, 100000 / 1e-6, 1e-3 * 1e11);
}

TEST(Ceilings, ACopyThatCopiesNothingIsNoCeiling) {
  Contestants contestants = emu_contestants();
  static const StreamKernel lazy[] = {
      {.name = "lazy", .launch = [](const StreamCall&) { return cudaSuccess; }}};
  contestants.copies = lazy;
  const Site site{.backend = emu_backend(), .contestants = contestants};
  StreamTrack track(site, Traffic::copy, 4096, 1);
  EXPECT_THROW(track.verify(track.candidates()[0]), std::runtime_error);
}

}  // namespace
}  // namespace libkernels::bench
