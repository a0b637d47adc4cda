// What any operation's counted and timed rows are made of.
#include "bench/counted.h"

#include <gtest/gtest.h>

#include "bench/records.h"

namespace libkernels::bench {
namespace {

const DeviceProperties& h200() { return *emulator::find_profile("h200"); }

emulator::Counters two_launches() {
  emulator::Counters c;
  c.launches = 2;
  c.ctas = 2 * 132 * 4;
  c.global_bytes_read = 3000000;
  c.global_bytes_written = 1800000;
  c.global_read_sectors = 160;
  c.global_read_requests = 10;
  return c;
}

TEST(Counted, WithExactRegistersNothingIsARange) {
  const CallResources resources{.kernel = "k",
                                .threads_per_cta = 512,
                                .registers = 64,
                                .registers_exact = true,
                                .smem_bytes = 0,
                                .local_bytes = 0};
  const Counted c = counted_of(h200(), resources, two_launches(), {});
  EXPECT_EQ(c.device, "h200");
  EXPECT_EQ(c.registers, 64);
  EXPECT_TRUE(c.registers_exact);
  EXPECT_EQ(c.ctas_per_sm, 2);  // 64 registers * 512 threads are half the register file
  EXPECT_EQ(c.ctas_per_sm_most, 2);
  EXPECT_EQ(c.waves, 4);
  EXPECT_EQ(c.waves_least, 4);
  EXPECT_EQ(c.read_sectors_per_request, 16);
  EXPECT_FALSE(c.write_sectors_per_request);
  ASSERT_EQ(c.modelled_us.size(), 4u);
  EXPECT_NEAR(c.modelled_us[2].second, 1.0, 1e-9);  // 4.8 MB at 4.8 TB/s
}

TEST(Counted, WithoutResourcesTheLaunchTellsTheThreadsAndTheRestIsARange) {
  const emulator::LastLaunch last{.grid = {528, 1, 1}, .block = {16, 32, 1}, .smem = 0};
  const Counted c = counted_of(h200(), std::nullopt, two_launches(), last);
  EXPECT_FALSE(c.registers_exact);
  EXPECT_EQ(c.registers, 128);
  EXPECT_EQ(c.ctas_per_sm, 1);
  EXPECT_EQ(c.ctas_per_sm_most, 4);
  EXPECT_EQ(c.waves, 8);
  EXPECT_EQ(c.waves_least, 2);
}

TEST(Counted, EachDeviceGetsARecordWhateverHappensThere) {
  const std::string before = emulator::current_profile().name;
  Record row;
  row.role = "fused";
  const auto records = count_on_devices({"h200", "z9000", "a100"}, row, [&] {
    EXPECT_TRUE(emulator::settings().count);
    if (emulator::current_profile().name == std::string("a100")) throw SkipRow("too small");
    Record r = row;
    count_call(&r, std::nullopt, [] {});
    return std::vector{r};
  });
  EXPECT_EQ(emulator::current_profile().name, before);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].launches, 0);
  ASSERT_TRUE(records[0].counted);
  EXPECT_EQ(records[0].counted->device, "h200");
  EXPECT_EQ(records[1].note, "FAILED on z9000: no emulated device z9000");
  EXPECT_TRUE(records[1].failed);
  EXPECT_EQ(records[2].note, "skipped on a100: too small");
  EXPECT_FALSE(records[2].failed);
  for (const Record& r : records) EXPECT_EQ(r.mode, "counted");
}

TEST(Records, TimesBecomeRatesFractionsAndRatios) {
  std::vector<Record> records(3);
  const char* roles[] = {"fused", "naive", "unfused"};
  for (int i = 0; i < 2; ++i) {  // the third is not timed
    records[i].role = roles[i];
    records[i].floor_bytes = 2000000;
    set_time(&records[i], {1e-6 * (i + 1), 1e-6 * (i + 1)}, 0);
    set_byte_ceiling(&records[i], "copy", "copy_v16", 4e12);
  }
  set_byte_ceiling(&records[2], "copy", "copy_v16", 4e12);
  set_speedups(&records);
  EXPECT_DOUBLE_EQ(records[0].us->median, 1);
  EXPECT_DOUBLE_EQ(*records[0].gb_per_s, 2000);
  EXPECT_DOUBLE_EQ(*records[0].ceiling_fraction, 0.5);
  EXPECT_DOUBLE_EQ(*records[0].speedup_naive, 2);
  EXPECT_FALSE(records[0].speedup_unfused);
  EXPECT_FALSE(records[2].ceiling_fraction);
  EXPECT_FALSE(records[2].speedup_naive);
  EXPECT_FALSE(records[0].speedup_peer);
}

TEST(Records, TheFastestPeerIsTheOneToBeat) {
  std::vector<Record> records(4);
  const char* roles[] = {"fused", "cublas", "cublaslt", "naive"};
  const double us[] = {2, 5, 3, 1};
  for (int i = 0; i < 4; ++i) {
    records[i].role = roles[i];
    records[i].kernel = roles[i];
    records[i].flops = 6e6;
    set_time(&records[i], {1e-6 * us[i]}, 0);
    set_math_ceiling(&records[i], "wgmma bf16", 6e12);
  }
  set_speedups(&records);
  EXPECT_EQ(records[0].peer, "cublaslt");
  EXPECT_DOUBLE_EQ(*records[0].speedup_peer, 1.5);
  EXPECT_DOUBLE_EQ(*records[0].tflops, 3);
  EXPECT_DOUBLE_EQ(*records[0].ceiling_fraction, 0.5);
}

TEST(Records, SayWhetherTheMedianConverged) {
  Record r;
  set_time(&r, std::vector<double>(20, 1e-6), 0.005);
  EXPECT_TRUE(*r.converged);
  set_time(&r, {1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6, 7e-6, 8e-6}, 0.005);
  EXPECT_FALSE(*r.converged);
  set_time(&r, {1e-6, 1e-6}, 0.005);  // no interval
  EXPECT_FALSE(*r.converged);
}

}  // namespace
}  // namespace libkernels::bench
