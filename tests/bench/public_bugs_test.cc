// The cases of kind L of the list of public bugs: what benchmark programs got wrong in public. What
// needs a GPU is in gpu_validity_test.cc, and L8 (a second profiler) in lkbench_test.py.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "bench/gelu_rows.h"
#include "bench/harness.h"
#include "bench/records.h"
#include "bench/report.h"
#include "bench/runner.h"
#include "bench/statistics.h"
#include "tests/bench/fake_device.h"

namespace libkernels::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Contestant taking(FakeDevice& device, double ms) {
  return {.name = "k", .launches = 1, .bytes = 0, .call = [&device, ms](int, cudaStream_t) {
            device.work(ms);
          }};
}

constexpr std::size_t kL2 = 60 << 20;

// Repeated runs hit the L2 and overstated the bandwidth.
TEST(PublicBugs, L2_ColdMeansColdAndWarmIsCalledWarm) {
  for (const std::int64_t cols : {1024, 4096, 16384}) {
    const std::int64_t bytes = 2 * 4096 * cols * 2;
    const int sets = sets_for_cold(bytes, kL2);
    EXPECT_TRUE(is_cold(bytes, sets, kL2)) << cols;
    EXPECT_GE(double(bytes) * sets, 2.0 * kL2) << cols;
  }
  EXPECT_FALSE(is_cold(4096, sets_for_cold(4096, kL2), kL2));  // too many sets: then it says so
  EXPECT_FALSE(is_cold(1 << 20, 1, kL2));
}

// The flush of the cache fell inside the timed window.
TEST(PublicBugs, L3_WhatGoesBeforeIsNotInTheTime) {
  for (const double before_ms : {0.0, 5.0}) {
    FakeDevice device(emu_device());
    const Contestant tiny = taking(device, 0.005);
    TimingOptions options;
    options.mode = Mode::isolated;
    options.seconds = 1e-3;
    options.block = [&](double, cudaStream_t) { device.work(before_ms); };
    const auto samples = time_interleaved(device, nullptr, std::span(&tiny, 1), options);
    EXPECT_NEAR(summarize(samples[0]).median, 5e-6, 1e-8) << before_ms;
  }
}

// All samples of a cold GPU were thrown away: an empty result, or an endless loop.
TEST(PublicBugs, L4_ALowClockIsANoteAndNeverAnEmptyRow) {
  FakeDevice device(emu_device());
  const Contestant tiny = taking(device, 0.002);
  TimingOptions options;
  options.seconds = 1e-3;  // less than one round may take
  const auto samples = time_interleaved(device, nullptr, std::span(&tiny, 1), options);
  Record record;
  set_time(&record, samples[0], 0.005);
  GpuFacts facts;
  facts.max_sm_mhz = 1980;
  add_note(&record, clock_note({.sm_mhz = 345,
                                .memory_mhz = 3201,
                                .watts = 75,
                                .celsius = 30,
                                .throttle_reasons = "idle"},
                               facts));
  EXPECT_GE(record.us->samples, 6u);
  EXPECT_EQ(record.note, "low SM clock: 345 of 1980 MHz");
  EXPECT_FALSE(record.failed);
}

// The first configuration was noisier, and one measurement changed the next. The device here needs
// 20 ms of work until its clock is up.
TEST(PublicBugs, L5_FirstLastAndAloneAgree) {
  const auto median_of_run = [](int rows_before, Mode mode) {
    FakeDevice device(emu_device());
    const double begin = now();
    const Contestant row{.name = "row", .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t) {
                           device.work(now() - begin < 0.02 ? 0.4 : 0.2);
                         }};
    TimingOptions options;
    options.mode = mode;
    options.seconds = 0.005;
    options.max_rounds = 20;
    double median = 0;
    for (int i = 0; i <= rows_before; ++i) {
      median = summarize(time_interleaved(device, nullptr, std::span(&row, 1), options)[0]).median;
    }
    return median;
  };
  for (int trial = 0; trial < 5; ++trial) {
    EXPECT_NEAR(median_of_run(0, Mode::isolated), 2e-4, 0.03 * 2e-4);
    EXPECT_NEAR(median_of_run(1, Mode::isolated), 2e-4, 0.03 * 2e-4);
  }
}

// Iterations were counted by CPU time, or by the small time of the kernel: run time without bound.
TEST(PublicBugs, L6_WallTimeIsBounded) {
  FakeDevice device(emu_device());
  const Contestant slow_to_set_up{
      .name = "k", .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(500));
        device.work(0.002);
      }};
  TimingOptions options;
  options.mode = Mode::isolated;
  options.seconds = 0.1;
  options.max_rounds = 1 << 30;
  double begin = now();
  const auto timed = time_interleaved(device, nullptr, std::span(&slow_to_set_up, 1), options);
  EXPECT_LT(now() - begin, 5 * options.seconds);
  EXPECT_LT(timed[0].size(), 400u);
  options.max_rounds = 10;
  options.seconds = 600;
  begin = now();
  EXPECT_EQ(time_interleaved(device, nullptr, std::span(&slow_to_set_up, 1), options)[0].size(),
            10u);
  EXPECT_LT(now() - begin, 2);
}

FakeDevice& fake() {
  static FakeDevice device(emu_device());
  return device;
}

// Events around one short kernel contain launch gaps: two figures, apart and labelled.
TEST(PublicBugs, L7_SingleCallsHaveAColumnOfTheirOwn) {
  Backend backend = emu_backend();
  backend.device = []() -> Device& { return fake(); };
  backend.gelu.run = [](const GeluCall& call) {
    emu_backend().gelu.run(call);
    fake().work(1e-3);
  };
  Flags flags;
  flags.seconds = 1e-3;
  flags.max_samples = 7;
  flags.warm = true;  // one set: a graph of few calls, each of which is emulated
  const GpuMonitor monitor("no such GPU");
  const auto runner = make_timed_runner(backend, emu_contestants(), flags, monitor);
  const auto problem =
      gelu_problem({.types = {DType::f32, DType::f32}, .form = GeluForm::tanh, .n = 32});
  const std::vector<Record> records = runner->run(*problem);
  ASSERT_FALSE(records.empty());
  const Record& fused = records[0];
  ASSERT_TRUE(fused.us && fused.isolated_us) << fused.note;
  EXPECT_EQ(fused.mode, "graph");
  EXPECT_EQ(fused.cache, "warm");
  const std::string table = measured_table({.context = {}, .records = records});
  const std::string head = table.substr(0, table.find('\n'));
  EXPECT_NE(head.find("us warm"), std::string::npos) << head;
  EXPECT_NE(head.find("single"), std::string::npos) << head;
}

// Records with start = end = 0, or lost ones, led to division by zero.
TEST(PublicBugs, L9_WhatIsNoDurationIsDroppedAndCounted) {
  const double inf = std::numeric_limits<double>::infinity();
  const Summary s = summarize({0, 2, -1, 3, inf, -inf, inf - inf, 4});
  EXPECT_EQ(s.samples, 3u);
  EXPECT_EQ(s.dropped, 5u);
  EXPECT_EQ(s.median, 3);
  Record record;
  record.floor_bytes = 1000;
  set_time(&record, {0, 0, 0}, 0.005);
  EXPECT_EQ(record.note, "dropped 3 samples");
  EXPECT_FALSE(record.gb_per_s);
  set_byte_ceiling(&record, "copy", "copy_v16", 4e12);
  EXPECT_FALSE(record.ceiling_fraction);
  const std::string text = measured_table({.context = {}, .records = {record}}) +
                           to_json({.context = {}, .records = {record}});
  EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  EXPECT_EQ(text.find("inf,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"dropped\": 3"), std::string::npos) << text;
}

// The program itself multiplied B M K in 32 bits.
TEST(PublicBugs, L10_CountsAreOf64Bits) {
  Case softmax{.op = "softmax", .types = "f16", .form = "", .shape = {65536, 65537}};
  const std::int64_t n = elements(softmax);
  EXPECT_EQ(n, 4295032832);
  softmax.floor = {.read_bytes = 2 * n, .written_bytes = 2 * n};
  const Record record = record_of(softmax, "fused", "softmax", "graph");
  EXPECT_EQ(record.floor_bytes, 17180131328);
  Case product{.op = "matmul", .types = "bf16", .form = "", .shape = {524288, 8192, 8192}};
  product.flops = 2.0 * 64 * 8192 * 8192 * 8192;
  const std::string json =
      to_json({.context = {}, .records = {record_of(product, "fused", "matmul", "graph"), record}});
  EXPECT_NE(json.find("\"flops\": 7.03687442e+13"), std::string::npos) << json;
  EXPECT_NE(json.find("\"floor_bytes\": 17180131328"), std::string::npos) << json;
  const BufferSpec huge{.use = BufferUse::input, .bytes = std::size_t(8) << 30};
  const std::vector<BufferSpec> three{huge, huge, huge};
  EXPECT_EQ(workplace_bytes(three, 2), std::size_t(48) << 30);
}

}  // namespace
}  // namespace libkernels::bench
