#include "bench/gpu_state.h"

#include <gtest/gtest.h>

namespace libkernels::bench {
namespace {

TEST(GpuStates, ThrottleReasonsInWords) {
  EXPECT_EQ(throttle_words(0), "none");
  EXPECT_EQ(throttle_words(0x4), "power-cap");
  EXPECT_EQ(throttle_words(0x4 | 0x20), "power-cap+thermal");
}

TEST(GpuStates, MergedFromTheSamplesOfARow) {
  EXPECT_FALSE(merge({}));
  const GpuState low{
      .sm_mhz = 345, .memory_mhz = 3201, .watts = 90, .celsius = 30, .throttle_reasons = "idle"};
  const GpuState high{
      .sm_mhz = 1980, .memory_mhz = 3201, .watts = 600, .celsius = 50, .throttle_reasons = "none"};
  const GpuState capped{.sm_mhz = 1700,
                        .memory_mhz = 3201,
                        .watts = 700,
                        .celsius = 60,
                        .throttle_reasons = "power-cap"};
  const GpuState all = *merge({low, high, capped});
  EXPECT_EQ(all.sm_mhz, 1700u);
  EXPECT_EQ(all.watts, 600);
  EXPECT_EQ(all.celsius, 50u);
  EXPECT_EQ(all.throttle_reasons, "idle+power-cap");
  EXPECT_EQ(merge({high})->throttle_reasons, "none");
}

TEST(GpuStates, NotesLowClocksAndWhatThrottles) {
  GpuFacts facts;
  facts.max_sm_mhz = 1980;
  facts.max_memory_mhz = 3201;
  GpuState state{
      .sm_mhz = 1980, .memory_mhz = 3201, .watts = 500, .celsius = 40, .throttle_reasons = "none"};
  EXPECT_EQ(clock_note(state, facts), "");
  state.throttle_reasons = "application-clocks";
  EXPECT_EQ(clock_note(state, facts), "");
  state.throttle_reasons = "idle+thermal+power-cap";
  EXPECT_EQ(clock_note(state, facts), "throttled: power-cap+thermal");
  state.sm_mhz = 1200;
  EXPECT_EQ(clock_note(state, facts),
            "low SM clock: 1200 of 1980 MHz; throttled: power-cap+thermal");
  EXPECT_EQ(clock_note(state, GpuFacts{}), "throttled: power-cap+thermal");  // no maximum known
}

TEST(GpuStates, WithoutNvmlThereAreNoFigures) {
  const GpuMonitor monitor("no such GPU");
  EXPECT_FALSE(monitor.sample());
  EXPECT_FALSE(monitor.joules());
  EXPECT_EQ(monitor.facts().power_cap_watts, 0);
}

}  // namespace
}  // namespace libkernels::bench
