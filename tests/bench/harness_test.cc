#include "bench/harness.h"

#include <gtest/gtest.h>

#include "bench/ceilings.h"
#include "tests/bench/fake_device.h"

namespace libkernels::bench {
namespace {

TEST(Plans, SetsExceedTwiceTheL2) {
  constexpr std::size_t kL2 = 60 << 20;
  for (const std::int64_t bytes : {262144, 1 << 22, 1 << 26, 1 << 30}) {
    const int sets = sets_for_cold(bytes, kL2);
    EXPECT_GE(double(sets) * double(bytes), 300e6) << bytes;
    EXPECT_GE(double(sets) * double(bytes), 2.0 * kL2) << bytes;
  }
  EXPECT_EQ(sets_for_cold(std::int64_t{1} << 32, kL2), 1);
  EXPECT_GT(sets_for_cold(1 << 26, 400 << 20), sets_for_cold(1 << 26, kL2));
  EXPECT_GT(sets_for_cold(0, kL2), 0);
}

TEST(Plans, GraphsRotateWholeRounds) {
  EXPECT_EQ(calls_per_graph(500e-6, 1, 1), 2);
  EXPECT_EQ(calls_per_graph(1.3e-6, 1145, 1), 1145);
  EXPECT_EQ(calls_per_graph(16e-6, 5, 1) % 5, 0);
  EXPECT_EQ(calls_per_graph(10, 1, 1), 1);
  EXPECT_LE(calls_per_graph(12e-6, 1145, 9) * 9, 4096);
  EXPECT_GE(calls_per_graph(0, 1, 100000), 1);
}

TEST(Plans, RoundsFitTheBudget) {
  EXPECT_EQ(rounds_within(0.3, 0.01), 30);
  EXPECT_GE(rounds_within(0.3, 10), 3);  // quartiles need some
  EXPECT_LE(rounds_within(600, 1e-9), 100000);
  EXPECT_GE(rounds_within(0.3, 0), 3);
}

TEST(Ceilings, CopyMovesWhatTheOperationMoves) {
  EXPECT_EQ(copy_bytes_for(2 * 65536), 65536u);
  EXPECT_EQ(copy_bytes_for(6 * 65536), 3u * 65536);  // bf16 in, f32 out
  EXPECT_EQ(copy_bytes_for(4 * 16777215), 33554432u);
  EXPECT_EQ(copy_bytes_for(1), 16u);
}

TEST(Ceilings, TheFastestCopyCounts) {
  const std::vector<Contestant> copies{{.name = "slow", .call = {}}, {.name = "fast", .call = {}}};
  const std::vector<std::vector<double>> samples{{2e-6, 2e-6}, {1e-6, 1e-6, 9e-6}};
  const auto results = copy_results(copies, samples, 1000);
  ASSERT_NE(best(results), nullptr);
  EXPECT_EQ(best(results)->kernel, "fast");
  EXPECT_DOUBLE_EQ(best(results)->bytes_per_s, 2e9);
  EXPECT_DOUBLE_EQ(fraction_of_ceiling(1000, 1e-6, 2e9), 0.5);
  EXPECT_EQ(fraction_of_ceiling(1000, 0, 2e9), 0);
  EXPECT_EQ(best({}), nullptr);
}

class Interleaving : public testing::TestWithParam<Mode> {};

// A device whose clock moves by what each call costs.
TEST_P(Interleaving, GivesEachContestantItsOwnTime) {
  FakeDevice device(emu_device());
  std::vector<int> sets;  // of all calls, in order
  const auto make = [&](const char* name, double ms) {
    return Contestant{.name = name,
                      .launches = 1,
                      .bytes = 1 << 20,
                      .call = [&device, &sets, ms](int set, cudaStream_t) {
                        sets.push_back(set);
                        device.work(ms);
                      }};
  };
  const std::vector<Contestant> contestants{make("a", 0.25), make("b", 1.5), make("c", 0.5)};
  int looks = 0;
  const TimingOptions options{
      .mode = GetParam(), .seconds = 0.02, .sets = 3, .while_busy = [&] { ++looks; }};
  const auto samples = time_interleaved(device, nullptr, contestants, options);
  ASSERT_EQ(samples.size(), 3u);
  const double expected[] = {0.25e-3, 1.5e-3, 0.5e-3};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_GE(samples[i].size(), 7u);
    EXPECT_EQ(samples[i].size(), samples[0].size());
    for (const double s : samples[i]) EXPECT_NEAR(s, expected[i], 1e-8);
  }
  // Cold: no two calls in a row share a set, whoever makes them. A graph starts with the first.
  for (std::size_t i = 1; i < sets.size(); ++i) {
    if (GetParam() == Mode::graph && sets[i] == 0) continue;
    ASSERT_EQ(sets[i], (sets[i - 1] + 1) % options.sets) << i;
  }
  EXPECT_GT(looks, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, Interleaving, testing::Values(Mode::graph, Mode::isolated),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Memory, SaysHowMuchIsMissing) {
  FakeDevice device(emu_device());
  device.fail_allocations = true;
  try {
    DeviceMemory memory(device, 123456789);
    FAIL() << "allocated";
  } catch (const SkipRow& reason) {
    EXPECT_NE(std::string(reason.what()).find("123456789"), std::string::npos) << reason.what();
  }
}

}  // namespace
}  // namespace libkernels::bench
