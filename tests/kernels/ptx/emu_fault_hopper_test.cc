// The emulator must refuse broken kernels of sm_90, say what is wrong and where; and accept their
// correct twins; both in every order of completion. Cost: 2 s.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "tests/kernels/ptx/emu_fault_hopper_cases.h"
#include "tests/kernels/ptx/emu_fault_hopper_expect.h"
#include "tests/kernels/ptx/emu_fault_wgmma_expect.h"
#include "tests/kernels/ptx/emu_support.h"

namespace libkernels::test {
namespace {

using emulator::Completion;
using test_hopper::Case;
using test_hopper::Params;

constexpr int kCtas = 2;  // at most

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const std::span<const Case> some :
       {test_hopper::cases(), test_hopper::address_cases(), test_hopper::cluster_cases(),
        test_hopper::wgmma_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<HopperExpected> all_expectations() {
  std::vector<HopperExpected> all = hopper_expectations();
  all.insert(all.end(), wgmma_expectations().begin(), wgmma_expectations().end());
  return all;
}

Case find_case(std::string_view name) {
  for (const Case& c : all_cases()) {
    if (name == c.name) return c;
  }
  throw std::runtime_error("no kernel " + std::string(name));
}

// input: one CTA's words; data: all CTAs'. Exactly what the kernels may touch.
class Memory {
 public:
  Memory() : data_(kCtas * kHopperWords), input_(kHopperWords) {
    for (std::size_t i = 0; i < kHopperWords; ++i) input_[i] = std::uint32_t(i);
  }
  Params params() const {
    Params p{};
    p.data = data_.data();
    p.input = input_.data();
    ptx::TiledTensor t{.base = p.input,
                       .type = ptx::TensorType::bf16,
                       .rank = 2,
                       .extents = {64, kHopperRows},
                       .strides = {128},
                       .box = {64, kHopperRows},
                       .swizzle = ptx::Swizzle::b128};
    EXPECT_EQ(ptx::encode_tiled(&p.map, t), cudaSuccess);
    t.extents[0] = 60;
    EXPECT_EQ(ptx::encode_tiled(&p.map_ragged, t), cudaSuccess);
    t.extents[0] = 64, t.extents[1] = kHopperRows + 2;
    EXPECT_EQ(ptx::encode_tiled(&p.map_wrong, t), cudaSuccess);
    return p;
  }

 private:
  Words data_, input_;
};

class HopperFault : public testing::TestWithParam<HopperExpected> {
 protected:
  void SetUp() override {
    if (GetParam().needs_hooks && !test_hopper::hooked()) {
      GTEST_SKIP() << "kernels built without hooks";
    }
    emulator::set_current_profile(*emulator::find_profile("emu90"));
    emulator::settings().patience = std::uint64_t(1) << 22;
  }
  static cudaError_t run(cudaError_t (*kernel)(const Params&)) {
    const Memory memory;
    return kernel(memory.params());
  }

 private:
  const KeepSettings keep_{};
};

TEST_P(HopperFault, IsReportedAndItsTwinRuns) {
  emulator::settings().completion = Completion::late;
  const HopperExpected& e = GetParam();
  const Case c = find_case(e.name);
  ASSERT_NE(run(c.broken), cudaSuccess);
  std::vector<std::string> parts = e.parts;
  parts.push_back(std::string(e.name) + "<true>");
  parts.push_back("CTA (");
  for (const std::string& part : parts) {
    EXPECT_NE(emulator::last_fault().find(part), std::string::npos) << "missing: " << part << "\n"
                                                                    << emulator::last_fault();
  }
  EXPECT_EQ(run(c.correct), cudaSuccess) << emulator::last_fault();
}

TEST_P(HopperFault, IsReportedInEveryOrder) {
  constexpr std::uint64_t kSeeds = 12;
  const Case c = find_case(GetParam().name);
  for (std::uint64_t seed = 0; seed <= kSeeds; ++seed) {
    emulator::settings().completion = seed == 0 ? Completion::eager : Completion::random;
    emulator::settings().seed = seed;
    EXPECT_NE(run(c.broken), cudaSuccess) << "seed " << seed;
    EXPECT_EQ(run(c.correct), cudaSuccess) << "seed " << seed << "\n" << emulator::last_fault();
  }
}

INSTANTIATE_TEST_SUITE_P(, HopperFault, testing::ValuesIn(all_expectations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(HopperFaults, EveryBrokenKernelIsTested) {
  const std::vector<HopperExpected> all = all_expectations();
  for (const Case& c : all_cases()) {
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const HopperExpected& e) {
      return e.name == std::string(c.name);
    })) << c.name;
  }
}

}  // namespace
}  // namespace libkernels::test
