// The emulator must refuse broken kernels, say what is wrong and where, and go on; and it must
// accept their correct twins, in every order of execution. Cost: 6 s.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_fault_cases.h"
#include "tests/kernels/ptx/emu_fault_expect.h"
#include "tests/kernels/ptx/emu_fault_fixture.h"

namespace libkernels::test {
namespace {

using emulator::Completion;

const FaultCase& find_case(std::string_view name) {
  return test::find_case(test_faults::cases(), name);
}

TEST_P(Fault, IsReportedAndItsTwinRuns) { expect_reported(find_case(GetParam().name), GetParam()); }

TEST_P(Fault, IsReportedInEveryOrder) {
  expect_reported_in_every_order(find_case(GetParam().name));
}

INSTANTIATE_TEST_SUITE_P(, Fault, testing::ValuesIn(fault_expectations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Faults, EveryBrokenKernelIsTested) {
  expect_all_tested(test_faults::cases(), fault_expectations());
}

// The mistake is in what the host does with its memory.
TEST(Faults, UseAfterFree) {
  if (!test_faults::hooked()) GTEST_SKIP() << "kernels built without hooks";
  const FaultCase& c = find_case("read_past_end");
  FaultParams stale{};
  {
    const FaultMemory memory(1);
    stale = memory.params();
    emulator::register_buffer(stale.input, kFaultThreads * sizeof(float));
  }
  std::vector<float> input(kFaultThreads);
  emulator::register_buffer(input.data(), input.size() * sizeof(float));
  stale.input = input.data();
  EXPECT_EQ(c.correct(stale), cudaErrorIllegalAddress);
  EXPECT_NE(emulator::last_fault().find("0 bytes into a buffer of 512 bytes"), std::string::npos)
      << emulator::last_fault();
  EXPECT_NE(emulator::last_fault().find("that was freed"), std::string::npos);
  emulator::unregister_buffer(input.data());
}

// A buffer that ends within a word: the last bytes are legal, the next is not.
TEST(Faults, BoundsAreExactToTheByte) {
  if (!test_faults::hooked()) GTEST_SKIP() << "kernels built without hooks";
  const FaultCase& c = find_case("memset_past_end");
  void* data = nullptr;
  ASSERT_EQ(emulator::memory_allocate(&data, kFaultThreads * sizeof(float) - 1), cudaSuccess);
  EXPECT_EQ(c.correct({static_cast<float*>(data), nullptr}), cudaErrorIllegalAddress);
  EXPECT_EQ(emulator::memory_free(data), cudaSuccess);
}

// Not a fault, but it needs kernels with hooks: y[i] = x[i] by plain loads and stores.
TEST(Faults, PlainAccessesAreCounted) {
  if (!test_faults::hooked()) GTEST_SKIP() << "kernels built without hooks";
  const KeepSettings keep;
  const FaultMemory memory(1);
  emulator::settings().count = true;
  emulator::reset_counters();
  ASSERT_EQ(find_case("read_past_end").correct(memory.params()), cudaSuccess);
  const emulator::Counters k = emulator::counters();
  EXPECT_EQ(k.global_read_requests, 4u);
  EXPECT_EQ(k.global_bytes_read, 512u);
  EXPECT_EQ(k.global_write_requests, 4u);
  EXPECT_EQ(k.global_write_sectors, 16u);
  emulator::reset_counters();
  ASSERT_EQ(find_case("missing_syncthreads").correct(memory.params()), cudaSuccess);
  EXPECT_EQ(emulator::counters().shared_write_requests, 8u);
  EXPECT_EQ(emulator::counters().shared_read_requests, 4u);
  EXPECT_EQ(emulator::counters().shared_wavefronts, 12u);
  EXPECT_EQ(emulator::counters().shared_bank_conflicts, 0u);
}

// ---- Waiting for other CTAs -------------------------------------------------------------------

struct GridParams {
  std::uint32_t* data;  // a word a thread and round
  std::uint32_t* flags;
  int rounds;
};

cudaError_t run(void (*kernel)(GridParams), unsigned ctas, unsigned threads, const GridParams& p,
                std::size_t smem = 0) {
  return ptx::launch(kernel, {.grid = dim3(ctas), .block = dim3(threads), .smem = smem}, nullptr,
                     p);
}

void wait_for(const std::uint32_t* flag, std::uint32_t value) {
  while (ptx::ld_acquire_gpu_global(flag) < value) {
  }
}

// Every CTA waits for every other one.
void barrier_of_all(const GridParams& p, std::uint32_t round) {
  __syncthreads();
  if (threadIdx.x == 0) ptx::st_release_gpu_global(p.flags + blockIdx.x, round);
  for (unsigned c = threadIdx.x; c < gridDim.x; c += blockDim.x) wait_for(p.flags + c, round);
  __syncthreads();
}
// Through CTA 0, whose flag is the last to rise: what the others did is known at second hand.
void barrier_by_first(const GridParams& p, std::uint32_t round) {
  __syncthreads();
  if (blockIdx.x == 0) {
    for (unsigned c = 1 + threadIdx.x; c < gridDim.x; c += blockDim.x) wait_for(p.flags + c, round);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    ptx::st_release_gpu_global(p.flags + blockIdx.x, round);
    wait_for(p.flags, round);
  }
  __syncthreads();
}

// Each round, each thread sums what it finds in up to kSummed CTAs from its own on.
constexpr unsigned kSummed = 8;
template <void (*kBarrier)(const GridParams&, std::uint32_t)>
__global__ void sum_of_ctas(GridParams p) {
  const unsigned threads = gridDim.x * blockDim.x;
  std::uint32_t sum = 1;
  for (int round = 0; round < p.rounds; ++round) {
    std::uint32_t* data = p.data + unsigned(round) * threads;  // [gridDim.x, blockDim.x]
    ptx::st_global(data + blockIdx.x * blockDim.x + threadIdx.x, sum);
    kBarrier(p, std::uint32_t(round) + 1);
    sum = 0;
    for (unsigned c = 0; c < gridDim.x && c < kSummed; ++c) {
      const unsigned cta = (blockIdx.x + c) % gridDim.x;
      sum += ptx::ld_global(data + cta * blockDim.x + threadIdx.x);
    }
  }
}

constexpr std::size_t kOneCtaAnSm = 200 * 1024;
constexpr unsigned kSms = 6;

void expect_grid_sums(void (*kernel)(GridParams), unsigned ctas, unsigned threads,
                      std::size_t smem) {
  constexpr unsigned kRounds = 3;
  const Words data(kRounds * ctas * threads), flags(ctas);
  std::fill_n(flags.data(), ctas, 0u);
  ASSERT_EQ(run(kernel, ctas, threads, {data.data(), flags.data(), kRounds}, smem), cudaSuccess)
      << emulator::last_fault();
  for (unsigned i = 0; i < kRounds * ctas * threads; ++i) {
    const unsigned round = i / (ctas * threads), n = std::min(ctas, kSummed);
    ASSERT_EQ(data[i], round == 0 ? 1 : round == 1 ? n : n * n) << i;
  }
}

// Calls check() in every order of execution: late, eager, and random with a few seeds.
template <class Check>
void in_every_order(Check check) {
  constexpr std::uint64_t kSeeds = 5;
  const KeepSettings keep;
  emulator::set_current_profile(*emulator::find_profile("emu100"));
  for (std::uint64_t seed = 0; seed < 2 + kSeeds; ++seed) {
    emulator::settings().completion = seed == 0   ? Completion::late
                                      : seed == 1 ? Completion::eager
                                                  : Completion::random;
    emulator::settings().seed = seed;
    SCOPED_TRACE("seed " + std::to_string(seed));
    check();
  }
}

TEST(EmuGrid, AllCtasMeet) {
  for (void (*kernel)(GridParams) :
       {&sum_of_ctas<barrier_of_all>, &sum_of_ctas<barrier_by_first>}) {
    in_every_order([&] {
      expect_grid_sums(kernel, kSms, 64, kOneCtaAnSm);
      expect_grid_sums(kernel, 48, 256, 0);  // all of the device's threads
      expect_grid_sums(kernel, 70, 32, 0);
    });
  }
}

void expect_fault(const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(emulator::last_fault().find(part), std::string::npos) << "missing: " << part << "\n"
                                                                    << emulator::last_fault();
  }
}

TEST(EmuGrid, MoreCtasThanTheDeviceHoldsNeverMeet) {
  const KeepSettings keep;
  emulator::set_current_profile(*emulator::find_profile("emu100"));
  for (const Completion completion : {Completion::late, Completion::eager, Completion::random}) {
    emulator::settings().completion = completion;
    const Words data(2 * kSms * 64), flags(2 * kSms);
    std::fill_n(flags.data(), 2 * kSms, 0u);
    EXPECT_EQ(run(&sum_of_ctas<barrier_by_first>, kSms + 2, 64, {data.data(), flags.data(), 1},
                  kOneCtaAnSm),
              cudaErrorLaunchFailure);
    expect_fault(
        {"deadlock: threads spin, and nobody has stored anything or exited for as long as 1342",
         "2 of 8 CTAs have not started: the device holds 6 at once", "thread 0 spin, after ",
         " accesses, at ", "threads 1-63 wait in bar.sync 0", "and 2 more CTAs",
         "in kernel libkernels::test::", "sum_of_ctas", "thread (0, 0, 0): warp 0, lane 0"});
  }
}

__global__ void wait_forever(GridParams p) {
  if (threadIdx.x == 5) wait_for(p.flags, 1);
  __syncthreads();
}
__global__ void vote_forever(GridParams p) {
  while (!ptx::vote_sync_any(ptx::ld_acquire_gpu_global(p.flags) != 0)) {
  }
}
__global__ void meet_forever(GridParams p) {
  while (ptx::ld_global(p.flags) == 0) __syncthreads();
}

TEST(EmuGrid, WaitingForNobodyIsAFault) {
  const Words flags(1);
  flags[0] = 0;
  for (void (*kernel)(GridParams) : {&wait_forever, &vote_forever, &meet_forever}) {
    in_every_order([&] {
      emulator::settings().patience = 1 << 20;
      EXPECT_EQ(run(kernel, 2, 64, {nullptr, flags.data(), 0}), cudaErrorLaunchFailure);
      expect_fault({"deadlock: threads spin", "CTA (0, 0, 0):", "CTA (1, 0, 0):", "spin, after"});
    });
  }
}

// What is wrong within a CTA is said at once and in its own words, though others wait for it.
__global__ void partner_deadlocks(GridParams p) {
  if (blockIdx.x == 0) wait_for(p.flags, 1);
  if (threadIdx.x < 32) ptx::bar_sync(3, 64);
}

TEST(EmuGrid, DeadlockWithinACtaIsFoundAtOnce) {
  in_every_order([] {
    const Words flags(1);
    flags[0] = 0;
    EXPECT_EQ(run(&partner_deadlocks, 2, 64, {nullptr, flags.data(), 0}), cudaErrorLaunchFailure);
    expect_fault({"deadlock, divergent barrier", "warp 0 wait in bar.sync 3 (64 threads), 32",
                  "warp 1 have exited", "CTA (1, 0, 0)"});
  });
}

// Many loads are not a deadlock; nor does it matter that they make way.
__global__ void long_sum(GridParams p) {
  std::uint32_t sum = 0;
  for (int i = 0; i < p.rounds; ++i) sum += ptx::ld_global(p.flags + i);
  ptx::st_global(p.data + blockIdx.x * blockDim.x + threadIdx.x, sum);
}

TEST(EmuGrid, LongLoopsOfLoadsFinish) {
  constexpr int kLoads = 70000;
  const Words data(2 * 32), flags(kLoads);
  std::fill_n(flags.data(), kLoads, 3u);
  in_every_order([&] {
    std::fill_n(data.data(), 2 * 32, 0u);
    ASSERT_EQ(run(&long_sum, 2, 32, {data.data(), flags.data(), kLoads}), cudaSuccess)
        << emulator::last_fault();
    for (unsigned i = 0; i < 2 * 32; ++i) ASSERT_EQ(data[i], 3u * kLoads);
  });
  const KeepSettings keep;
  emulator::settings().count = true;
  emulator::reset_counters();
  ASSERT_EQ(run(&long_sum, 1, 32, {data.data(), flags.data(), kLoads}), cudaSuccess);
  EXPECT_EQ(emulator::counters().global_read_requests, std::uint64_t(kLoads));
}

}  // namespace
}  // namespace libkernels::test
