// What the tests of broken kernels share: running them and their twins, and reading the fault.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "tests/kernels/ptx/emu_fault_cases.h"
#include "tests/kernels/ptx/emu_support.h"

namespace libkernels::test {

inline const FaultCase& find_case(std::span<const FaultCase> cases, std::string_view name) {
  for (const FaultCase& c : cases) {
    if (c.name == name) return c;
  }
  throw std::runtime_error("no kernel " + std::string(name));
}

// Device memory of exactly what the kernels may touch; the input is read-only.
class FaultMemory {
 public:
  explicit FaultMemory(unsigned ctas) : input_(ctas * kFaultThreads, 1.0f) {
    EXPECT_EQ(emulator::memory_allocate(&data_, ctas * kFaultThreads * sizeof(float)), cudaSuccess);
    emulator::register_buffer(input_.data(), input_.size() * sizeof(float), false);
  }
  ~FaultMemory() {
    emulator::unregister_buffer(input_.data());
    EXPECT_EQ(emulator::memory_free(data_), cudaSuccess);
  }
  FaultMemory(const FaultMemory&) = delete;
  FaultMemory& operator=(const FaultMemory&) = delete;
  FaultParams params() const { return {static_cast<float*>(data_), input_.data()}; }

 private:
  void* data_ = nullptr;
  std::vector<float> input_;
};

// One call of the broken kernel. Some mistakes are in the arguments.
inline cudaError_t run_broken(const FaultCase& c) {
  const FaultMemory memory(c.ctas);
  FaultParams p = memory.params();
  const std::vector<float> host(kFaultThreads, 1.0f);
  if (std::string(c.name) == "reads_host_memory") p.input = host.data();
  return c.broken(p);
}

inline void expect_reported(const FaultCase& c, const Expected& e) {
  const KeepSettings keep;
  emulator::settings().completion = emulator::Completion::late;
  ASSERT_EQ(run_broken(c), e.error) << emulator::last_fault();
  const std::string text = emulator::last_fault();
  EXPECT_NE(text.find(std::string("in kernel libkernels::emu::test_faults::") + e.name + "<true>"),
            std::string::npos)
      << text;
  for (const std::string& part : e.parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\n" << text;
  }
  // Twice, because launches are ordered: the second may touch what the first wrote.
  const FaultMemory memory(c.ctas);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(c.correct(memory.params()), cudaSuccess) << emulator::last_fault();
    EXPECT_EQ(emulator::last_fault(), "");
  }
}

inline void expect_reported_in_every_order(const FaultCase& c) {
  using emulator::Completion;
  const KeepSettings keep;
  for (const Completion completion : {Completion::eager, Completion::random}) {
    for (std::uint64_t seed = 1; seed <= (completion == Completion::random ? 20 : 1); ++seed) {
      emulator::settings().completion = completion;
      emulator::settings().seed = seed;
      EXPECT_NE(run_broken(c), cudaSuccess) << "seed " << seed;
      const FaultMemory memory(c.ctas);
      EXPECT_EQ(c.correct(memory.params()), cudaSuccess) << emulator::last_fault();
    }
  }
}

// Skips where what the kernel does wrong cannot be seen.
class Fault : public testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    if (GetParam().needs_hooks && !test_faults::hooked()) {
      GTEST_SKIP() << "kernels built without hooks";
    }
  }
};

inline void expect_all_tested(std::span<const FaultCase> cases,
                              const std::vector<Expected>& expectations) {
  for (const FaultCase& c : cases) {
    bool found = false;
    for (const Expected& e : expectations) found |= std::string(e.name) == c.name;
    EXPECT_TRUE(found) << c.name;
  }
}

}  // namespace libkernels::test
