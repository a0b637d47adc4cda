// The emulator must refuse broken kernels, say what is wrong and where, and go on; and it must
// accept their correct twins, in every order of execution. Cost: 0.3 s.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "tests/kernels/ptx/emu_fault_cases.h"
#include "tests/kernels/ptx/emu_support.h"

namespace libkernels::test {
namespace {

using emulator::Completion;

// What the text of a fault must say, besides the kernel's name.
struct Expected {
  const char* name;
  cudaError_t error;
  bool needs_hooks;
  std::vector<std::string> parts;
};

const std::vector<Expected>& expectations() {
  static const std::vector<Expected> all = {
    {"read_past_end",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: read of 4 bytes", "0 bytes past the end of a buffer of 512 bytes",
      "CTA (0, 0, 0), thread (127, 0, 0): warp 3, lane 31"}},
    {"write_before_begin",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: write of 4 bytes", "4 bytes before a buffer of 512 bytes",
      "thread (0, 0, 0)"}},
    {"instruction_past_end",
     cudaErrorIllegalAddress,
     false,
     {"out of bounds: write of 4 bytes", "0 bytes past the end", "thread (0, 0, 0)"}},
    {"copy_past_end",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: write", "past the end of a buffer of 512 bytes", "thread (0, 0, 0)"}},
    {"memset_past_end",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: write of 516 bytes", "past the end", "thread (0, 0, 0)"}},
    {"null_pointer", cudaErrorIllegalAddress, false, {"a null pointer", "thread (40, 0, 0)"}},
    {"unseen_null_pointer",
     cudaErrorIllegalAddress,
     false,
     {"a null pointer", "thread (40, 0, 0)"}},
    {"write_to_input",
     cudaErrorIllegalAddress,
     true,
     {"write of 4 bytes", "read-only", "thread (3, 0, 0)"}},
    {"misaligned_instruction",
     cudaErrorMisalignedAddress,
     false,
     {"misaligned: read of 16 bytes", "expected a multiple of 16", "thread (1, 0, 0)"}},
    {"misaligned_dereference",
     cudaErrorMisalignedAddress,
     true,
     {"misaligned: ", "expected a multiple of 16", "emu_fault_kernels.cu", "thread (1, 0, 0)"}},
#if !defined(__clang__)
    {"misaligned_copy",
     cudaErrorMisalignedAddress,
     true,
     {"misaligned: ", "expected a multiple of 16", "thread (1, 0, 0)"}},
#endif
    {"pointer_to_foreign_local",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: write of 4 bytes", "thread (64, 0, 0)"}},
    {"past_shared",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: write of 4 bytes at offset 528 of shared memory", "528 bytes of the launch",
      "thread (5, 0, 0)"}},
    {"uninitialised_shared",
     cudaErrorLaunchFailure,
     true,
     {"uninitialised shared memory: read of 4 bytes at offset 28", "thread (7, 0, 0)"}},
    {"smem_larger_than_launch",
     cudaErrorIllegalAddress,
     false,
     {"dynamic_smem() of 1024 bytes", "528 bytes of the launch"}},
    {"exited_lane",
     cudaErrorLaunchFailure,
     false,
     {"lane 31 exited, but is missing in shfl.sync.bfly", "lanes 0-30 wait"}},
    {"exited_first_lane",
     cudaErrorLaunchFailure,
     false,
     {"shfl.sync.bfly with membermask 0xffffffff: a lane is missing, lane 0: exited",
      "thread (33, 0, 0)"}},
    {"not_a_member",
     cudaErrorLaunchFailure,
     false,
     {"shfl.sync.bfly with membermask 0x0000ffff on lane 16, which is not a member",
      "thread (16, 0, 0)"}},
    {"reads_non_member",
     cudaErrorLaunchFailure,
     false,
     {"lane 0 reads lane 16, which is not a member"}},
    {"two_collectives",
     cudaErrorLaunchFailure,
     false,
     {"vote.sync.ballot", "lanes 0-15 wait in shfl.sync.bfly", "thread (16, 0, 0)"}},
    {"two_places",
     cudaErrorLaunchFailure,
     true,
     {"shfl.sync.idx", "at another place of the program", "thread (16, 0, 0)"}},
    {"divergent_barrier",
     cudaErrorLaunchFailure,
     false,
     {"divergent barrier", "threads 0-99 wait in bar.sync 0 (128 threads), 100 arrived",
      "threads 100-127 have exited"}},
    {"half_warps_at_barrier",
     cudaErrorLaunchFailure,
     false,
     {"divergent barrier: of warp 0 only lanes 0-15 arrived at barrier 1"}},
    {"mismatching_counts",
     cudaErrorLaunchFailure,
     false,
     {"bar.sync 1 for 64 threads", "64 threads have arrived that expect 128", "thread (64, 0, 0)"}},
    {"crossed_barriers",
     cudaErrorLaunchFailure,
     false,
     {"deadlock", "warps 0-1 wait in bar.sync 1 (128 threads), 64 arrived",
      "warps 2-3 wait in bar.sync 2 (128 threads), 64 arrived"}},
    {"barrier_against_shfl",
     cudaErrorLaunchFailure,
     false,
     {"lane 5 went to a barrier, but is missing in shfl.sync.idx", "lanes 0-4 wait"}},
    {"missing_syncthreads",
     cudaErrorLaunchFailure,
     true,
     {"race on shared memory: ", "of 4 bytes", "expected a CTA barrier"}},
    {"missing_second_syncthreads",
     cudaErrorLaunchFailure,
     true,
     {"race on shared memory: read of 4 bytes at offset 508",
      "after a write by CTA (0, 0, 0), thread (127, 0, 0)", "expected a CTA barrier"}},
    {"missing_syncwarp",
     cudaErrorLaunchFailure,
     true,
     {"race on shared memory: write of 4 bytes at offset 4",
      "after a read by CTA (0, 0, 0), thread (0, 0, 0)", "expected __syncwarp()",
      "thread (1, 0, 0): warp 0, lane 1"}},
    {"syncwarp_of_too_few",
     cudaErrorLaunchFailure,
     true,
     {"race on shared memory", "expected __syncwarp()"}},
    {"ctas_write_one_element",
     cudaErrorLaunchFailure,
     true,
     {"race on global memory (buffer of 1024 bytes at ", "write of 4 bytes at offset 0",
      "after a write by CTA (0, 0, 0), thread (0, 0, 0)", "CTAs of a grid are not ordered",
      "CTA (1, 0, 0), thread (0, 0, 0)"}},
    {"cta_reads_neighbour",
     cudaErrorLaunchFailure,
     true,
     {"race on global memory", "read of 4 bytes at offset 0", "after a write by CTA (0, 0, 0)",
      "CTA (1, 0, 0)"}},
    {"consumer_does_not_wait",
     cudaErrorLaunchFailure,
     true,
     {"race on shared memory", "expected a CTA barrier"}},
    {"nc_load_of_written",
     cudaErrorLaunchFailure,
     false,
     {"ld.global.nc of 4 bytes", "which this launch has written", "thread (0, 0, 0)"}},
    {"stack_overflow", cudaErrorLaunchFailure, false, {"stack overflow", "thread (9, 0, 0)"}},
    {"division_by_zero",
     cudaErrorLaunchFailure,
     false,
     {"integer division by zero", "thread (9, 0, 0)"}},
    {"reads_host_memory",
     cudaErrorIllegalAddress,
     true,
     {"out of bounds: read of 4 bytes", "host", "thread (2, 0, 0)"}},
  };
  return all;
}

const FaultCase& find_case(std::string_view name) {
  for (const FaultCase& c : test_faults::cases()) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no kernel " + std::string(name));
}

// Device memory of exactly what the kernels may touch; the input is read-only.
class Memory {
 public:
  explicit Memory(unsigned ctas) : input_(ctas * kFaultThreads, 1.0f) {
    EXPECT_EQ(emulator::memory_allocate(&data_, ctas * kFaultThreads * sizeof(float)), cudaSuccess);
    emulator::register_buffer(input_.data(), input_.size() * sizeof(float), false);
  }
  ~Memory() {
    emulator::unregister_buffer(input_.data());
    EXPECT_EQ(emulator::memory_free(data_), cudaSuccess);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  FaultParams params() const { return {static_cast<float*>(data_), input_.data()}; }

 private:
  void* data_ = nullptr;
  std::vector<float> input_;
};

class Fault : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (GetParam().needs_hooks && !test_faults::hooked()) {
      GTEST_SKIP() << "kernels built without hooks";
    }
  }
  // One call of the broken kernel. Some mistakes are in the arguments.
  static cudaError_t run_broken(const FaultCase& c) {
    const Memory memory(c.ctas);
    FaultParams p = memory.params();
    const std::vector<float> host(kFaultThreads, 1.0f);
    if (std::string(c.name) == "reads_host_memory") p.input = host.data();
    return c.broken(p);
  }
};

TEST_P(Fault, IsReportedAndItsTwinRuns) {
  const KeepSettings keep;
  emulator::settings().completion = Completion::late;
  const Expected& e = GetParam();
  const FaultCase& c = find_case(e.name);
  ASSERT_EQ(run_broken(c), e.error) << emulator::last_fault();
  const std::string text = emulator::last_fault();
  EXPECT_NE(text.find(std::string("in kernel libkernels::emu::test_faults::") + e.name + "<true>"),
            std::string::npos)
      << text;
  for (const std::string& part : e.parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\n" << text;
  }
  // Twice, because launches are ordered: the second may touch what the first wrote.
  const Memory memory(c.ctas);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(c.correct(memory.params()), cudaSuccess) << emulator::last_fault();
    EXPECT_EQ(emulator::last_fault(), "");
  }
}

TEST_P(Fault, IsReportedInEveryOrder) {
  const KeepSettings keep;
  const FaultCase& c = find_case(GetParam().name);
  for (const Completion completion : {Completion::eager, Completion::random}) {
    for (std::uint64_t seed = 1; seed <= (completion == Completion::random ? 20 : 1); ++seed) {
      emulator::settings().completion = completion;
      emulator::settings().seed = seed;
      EXPECT_NE(run_broken(c), cudaSuccess) << "seed " << seed;
      const Memory memory(c.ctas);
      EXPECT_EQ(c.correct(memory.params()), cudaSuccess) << emulator::last_fault();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, Fault, testing::ValuesIn(expectations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Faults, EveryBrokenKernelIsTested) {
  for (const FaultCase& c : test_faults::cases()) {
    bool found = false;
    for (const Expected& e : expectations()) found |= std::string(e.name) == c.name;
    EXPECT_TRUE(found) << c.name;
  }
}

// The mistake is in what the host does with its memory.
TEST(Faults, UseAfterFree) {
  if (!test_faults::hooked()) GTEST_SKIP() << "kernels built without hooks";
  const FaultCase& c = find_case("read_past_end");
  FaultParams stale{};
  {
    const Memory memory(1);
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
  const Memory memory(1);
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

}  // namespace
}  // namespace libkernels::test
