// The suite itself on the emulator: the counted rows as lkbench prints them, and the code that
// times with a make-believe clock.
#include <gtest/gtest.h>

#include <set>

#include "bench/gelu_rows.h"
#include "bench/runner.h"
#include "kernels/ptx/emu/emulator.h"
#include "tests/bench/fake_device.h"
#include "tests/support/backends.h"

namespace libkernels::bench {
namespace {

constexpr TypePair kF32{DType::f32, DType::f32};
constexpr TypePair kBf16{DType::bf16, DType::bf16};
constexpr TypePair kBf16ToF32{DType::bf16, DType::f32};

std::vector<Record> count(const GeluRow& row, const std::string& device = "h200") {
  Flags flags;
  flags.devices = {device};
  return make_counted_runner(emu_backend(), emu_contestants(), flags)->run(*gelu_problem(row));
}

TEST(CountedGelu, FusedMovesTheFloorAndTheChainElevenTimesAsMuch) {
  for (const TypePair& types : {kF32, kBf16}) {
    const auto records = count({.types = types, .form = GeluForm::tanh, .n = 8192});
    ASSERT_EQ(records.size(), 3u) << records[0].note;
    for (const Record& r : records) EXPECT_FALSE(r.failed) << r.kernel << ": " << r.note;
    ASSERT_TRUE(records[0].counted);
    EXPECT_EQ(std::int64_t(records[0].counted->bytes_read + records[0].counted->bytes_written),
              records[0].floor_bytes);
    EXPECT_EQ(records[2].role, "unfused");
    EXPECT_EQ(records[2].launches, 9);
    EXPECT_DOUBLE_EQ(*records[0].speedup_unfused, 11);  // 13 reads and 9 writes to 1 and 1
  }
}

TEST(CountedGelu, EveryTypeFormAndAlignmentIsRight) {
  for (const TypePair& types : {kF32, kBf16, TypePair{DType::f16, DType::f16}, kBf16ToF32}) {
    for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
      for (const auto& [n, x, y] :
           {std::tuple{4096, 0, 0}, {4095, 0, 0}, {4096, 1, 1}, {4096, 1, 0}, {1, 0, 0}}) {
        const GeluRow row{.types = types, .form = form, .n = n, .x_offset = x, .y_offset = y};
        for (const Record& r : count(row)) {
          EXPECT_FALSE(r.failed) << benchmark_name(gelu_case(row)) << ' ' << r.kernel << ": "
                                 << r.note;
          EXPECT_TRUE(r.counted) << benchmark_name(gelu_case(row));
        }
      }
    }
  }
}

TEST(CountedGelu, EachDeviceRunsItsGeneration) {
  Flags flags;
  flags.devices = {"a100", "h100", "b200"};
  const std::string before = emulator::current_profile().name;
  const auto records =
      make_counted_runner(emu_backend(), emu_contestants(), flags)
          ->run(*gelu_problem({.types = kBf16, .form = GeluForm::tanh, .n = 1024}));
  ASSERT_EQ(records.size(), 9u);
  EXPECT_EQ(emulator::current_profile().name, before);
  for (const Record& r : records) {
    ASSERT_TRUE(r.counted) << r.note;
    EXPECT_EQ(r.counted->modelled_us.size(), 4u);
    EXPECT_FALSE(r.us);
  }
  EXPECT_EQ(records[0].counted->device, "a100");
  EXPECT_EQ(records[8].counted->device, "b200");
}

TEST(CountedGelu, AnUnknownDeviceIsARecordNotACrash) {
  const auto records = count({.types = kF32, .form = GeluForm::erf, .n = 64}, "z9000");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].failed);
  EXPECT_NE(records[0].note.find("z9000"), std::string::npos);
}

// The fake device behind the emulated backend. Every kernel costs the same make-believe time.
FakeDevice& fake_device() {
  static FakeDevice device(emu_device());
  return device;
}

Backend timed_backend() {
  Backend backend = emu_backend();
  backend.device = []() -> Device& { return fake_device(); };
  backend.gelu.run = [](const GeluCall& call) {
    emu_backend().gelu.run(call);
    fake_device().work(1e-3);
  };
  return backend;
}

// One plain copy, of half a microsecond.
Contestants timed_contestants() {
  static const StreamKernel copies[] = {{.name = "copy", .launch = [](const StreamCall& c) {
                                           fake_device().work(0.5e-3);
                                           return fake_device().copy_on_device(c.dst, c.src,
                                                                               c.bytes, c.stream);
                                         }}};
  Contestants contestants = emu_contestants();
  contestants.copies = copies;
  return contestants;
}

std::vector<Record> time(const Backend& backend, const GeluRow& row) {
  const Contestants contestants = timed_contestants();
  Flags flags;
  flags.mode = Mode::isolated;  // a graph's hundreds of calls would all be emulated
  flags.seconds = 1e-3;
  const GpuMonitor monitor("no such GPU");
  return make_timed_runner(backend, contestants, flags, monitor)->run(*gelu_problem(row));
}

TEST(TimedGelu, VerifiesThenTimesAllContestants) {
  const Backend backend = timed_backend();
  for (const int offset : {0, 1}) {
    const auto records = time(backend, {.types = kBf16ToF32,
                                        .form = GeluForm::tanh,
                                        .n = 3000,
                                        .x_offset = offset,
                                        .y_offset = offset});
    ASSERT_EQ(records.size(), 4u) << records[0].note;
    std::set<std::string> roles;
    for (const Record& r : records) {
      EXPECT_FALSE(r.failed) << r.kernel << ": " << r.note;
      ASSERT_TRUE(r.us) << r.kernel;
      EXPECT_GE(r.us->samples + r.us->dropped, 7u) << r.kernel;
      roles.insert(r.role);
    }
    EXPECT_EQ(roles, (std::set<std::string>{"fused", "naive", "unfused", "ceiling"}));
    EXPECT_NEAR(records[0].us->median, 1, 0.01);  // the fake's microsecond
    ASSERT_TRUE(records[0].ceiling_fraction);
    EXPECT_NEAR(*records[0].ceiling_fraction, 0.5, 0.01);
    EXPECT_EQ(records[0].ceiling_kernel, "copy");
    EXPECT_EQ(records[0].cache, "cold");
  }
}

TEST(TimedGelu, AnAbRowTimesTheTwoAlone) {
  Backend backend = timed_backend();
  Contestants contestants = timed_contestants();
  static const GeluBaseline naive{.name = "naive",
                                  .launches = [](const GeluCallArgs&) { return 1; },
                                  .launch =
                                      [](const GeluCallArgs& call) {
                                        fake_device().work(3e-3);
                                        return emu_contestants().gelu_naive->launch(call);
                                      }};
  contestants.gelu_naive = &naive;
  Flags flags;
  flags.mode = Mode::isolated;
  flags.seconds = 1e-3;
  flags.versus = {"naive", "fused"};
  const GpuMonitor monitor("no such GPU");
  const auto runner = make_timed_runner(backend, contestants, flags, monitor);
  const GeluRow row{.types = kF32, .form = GeluForm::tanh, .n = 1000};
  const auto records = runner->run(*gelu_problem(row));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_FALSE(records[0].versus);
  ASSERT_TRUE(records[1].versus) << records[1].note;
  EXPECT_EQ(records[1].role, "naive");
  EXPECT_NEAR(records[1].versus->ratio.median, 1.0 / 3, 0.01);
  flags.versus = {"fused", "cublaslt"};
  const auto without = runner->run(*gelu_problem(row));
  ASSERT_EQ(without.size(), 1u);
  EXPECT_NE(without[0].note.find("skipped: --ab needs fused and cublaslt; this row has fused"),
            std::string::npos)
      << without[0].note;
}

TEST(TimedGelu, TwoKernelsOfTheLibraryCanBeCompared) {
  const test::ProfileScope profile("h200");
  const Backend backend = timed_backend();
  const Contestants contestants = timed_contestants();
  Flags flags;
  flags.mode = Mode::isolated;
  flags.seconds = 1e-3;
  flags.versus = {"gelu_sm80", "fused"};
  const GpuMonitor monitor("no such GPU");
  const auto records = make_timed_runner(backend, contestants, flags, monitor)
                           ->run(*gelu_problem({.types = kF32, .form = GeluForm::tanh, .n = 1000}));
  ASSERT_EQ(records.size(), 2u) << records[0].note;
  EXPECT_EQ(records[0].kernel, "gelu_sm90");
  EXPECT_EQ(records[1].kernel, "gelu_sm80");
  ASSERT_TRUE(records[1].versus) << records[1].note;
  EXPECT_EQ(records[1].versus->kernel, "gelu_sm90");
}

TEST(TimedGelu, AWrongKernelIsNotTimed) {
  Backend backend = timed_backend();
  backend.gelu.run = [](const GeluCall&) {};  // leaves the output as it was: poisoned
  const auto records = time(backend, {.types = kF32, .form = GeluForm::erf, .n = 1000});
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records[0].role, "fused");
  EXPECT_TRUE(records[0].failed);
  EXPECT_FALSE(records[0].us);
  EXPECT_NE(records[0].note.find("WRONG"), std::string::npos) << records[0].note;
}

TEST(TimedGelu, TooLittleMemoryIsSaidInBytes) {
  const Backend backend = timed_backend();
  fake_device().fail_allocations = true;
  const auto records = time(backend, {.types = kF32, .form = GeluForm::erf, .n = 1000});
  fake_device().fail_allocations = false;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_FALSE(records[0].failed);
  EXPECT_NE(records[0].note.find("skipped: needs"), std::string::npos) << records[0].note;
}

}  // namespace
}  // namespace libkernels::bench
