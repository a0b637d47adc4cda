#include "bench/harness.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <thread>

#include "bench/statistics.h"
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
  EXPECT_EQ(rounds_within(0.3, 0.01, 400), 30);
  EXPECT_GE(rounds_within(0.3, 10, 400), 6);  // the median's interval needs some
  EXPECT_EQ(rounds_within(600, 1e-9, 400), 400);
  EXPECT_GE(rounds_within(0.3, 0, 400), 6);
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
  TimingOptions options;
  options.mode = GetParam();
  options.seconds = 0.02;
  options.sets = 3;
  options.while_busy = [&] { ++looks; };
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

// A contestant whose calls take between `low` and `high` ms.
Contestant noisy(FakeDevice& device, double low, double high, bool coarse = false) {
  const auto engine = std::make_shared<std::mt19937_64>(3);
  return {.name = "noisy",
          .launches = 1,
          .bytes = 0,
          .call =
              [&device, low, high, engine](int, cudaStream_t) {
                device.work(std::uniform_real_distribution<double>(low, high)(*engine));
              },
          .coarse = coarse};
}

std::size_t rounds_until_converged(std::vector<Contestant> contestants, FakeDevice& device,
                                   double precision) {
  TimingOptions options;
  options.mode = Mode::isolated;
  options.seconds = 10;
  options.max_rounds = 300;
  options.precision = precision;
  return time_interleaved(device, nullptr, contestants, options)[0].size();
}

TEST(Convergence, EndsRoundsOnceTheMedianIsKnown) {
  FakeDevice device(emu_device());
  EXPECT_LE(rounds_until_converged({noisy(device, 0.5, 0.5001)}, device, 0.005), 12u);
  // Spread over 10%: half a percent takes some 350 samples, a fifth few.
  EXPECT_GT(rounds_until_converged({noisy(device, 0.5, 0.55)}, device, 0.005), 100u);
  EXPECT_LE(rounds_until_converged({noisy(device, 0.5, 0.55)}, device, 0.2), 12u);
  EXPECT_EQ(rounds_until_converged({noisy(device, 0.5, 1.5)}, device, 0.005), 300u);
}

TEST(Convergence, ACoarseContestantIsNotWaitedFor) {
  FakeDevice device(emu_device());
  EXPECT_LE(rounds_until_converged({noisy(device, 0.5, 0.5001), noisy(device, 0.5, 1.5, true)},
                                   device, 0.005),
            12u);
}

TEST(Convergence, WithoutAPrecisionRoundsFillTheBudget) {
  FakeDevice device(emu_device());
  TimingOptions options;
  options.mode = Mode::isolated;
  options.seconds = 0.05;
  options.max_rounds = 100000;
  const Contestant one = noisy(device, 0.5, 0.51);
  EXPECT_GT(time_interleaved(device, nullptr, std::span(&one, 1), options)[0].size(), 20u);
}

// Half as fast from the first 60 ms on: the power limit.
TEST(Endurance, TellsTheBurstFromTheRest) {
  FakeDevice device(emu_device());
  using Clock = std::chrono::steady_clock;
  const auto limited_from = Clock::now() + std::chrono::milliseconds(60);
  const Contestant hot{.name = "hot", .launches = 1, .bytes = 0, .call = [&](int, cudaStream_t) {
                         device.work(Clock::now() < limited_from ? 1 : 2);
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       }};
  TimingOptions options;
  options.mode = Mode::isolated;
  options.seconds = 0.2;
  std::vector<bool> looks;
  const Endurance e =
      time_endurance(device, nullptr, hot, options, 0.001, [&](bool end) { looks.push_back(end); });
  EXPECT_EQ(looks, (std::vector<bool>{false, true}));
  EXPECT_NEAR(summarize(e.burst).min, 1e-3, 1e-6);
  EXPECT_NEAR(summarize(e.sustained).median, 2e-3, 1e-6);
  EXPECT_EQ(e.sustained_calls, double(e.sustained.size()));
  EXPECT_GT(e.sustained_seconds, 0);
}

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
