// The backends of a differential test, as GoogleTest parameters: the same drawn problems go to each
// side and to a scalar reference. On the emulator every problem runs in three orders of completion.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/ptx/emu/emulator.h"
#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/fill.h"

namespace libkernels::test {

// `Kernels` is what a family's .cu file offers.
template <class Kernels>
struct Side {
  const Backend* backend;
  const Kernels* kernels;
  emulator::Completion completion;  // emulated alone
  const char* name;
};
template <class Kernels>
void PrintTo(const Side<Kernels>& side, std::ostream* out) {
  *out << side.name;
}

// Of compute capability 9.0: the emulator in each order, and the GPU where the build has it.
template <class Kernels>
std::vector<Side<Kernels>> sides([[maybe_unused]] const Kernels& emulated,
                                 [[maybe_unused]] const Kernels* cuda) {
  using emulator::Completion;
  std::vector<Side<Kernels>> all{{&emu_backend(), &emulated, Completion::late, "emu_late"},
                                 {&emu_backend(), &emulated, Completion::eager, "emu_eager"},
                                 {&emu_backend(), &emulated, Completion::random, "emu_random"}};
#if defined(LK_HAVE_CUDA)
  all.push_back({&cuda_backend(), cuda, Completion::late, "cuda"});
#endif
  return all;
}

template <class Kernels>
class SidesTest : public testing::TestWithParam<Side<Kernels>> {
 protected:
  void SetUp() override {
    const Side<Kernels>& side = this->GetParam();
    if (is_emulated(*side.backend)) {
      emulator::set_current_profile(*emulator::find_profile("emu90"));
      emulator::settings().completion = side.completion;
      return;
    }
    const std::string why = why_no_device(*side.backend);
    if (!why.empty()) GTEST_SKIP() << why;
    const DeviceProperties* p = nullptr;
    ASSERT_EQ(side.backend->device().properties(&p), cudaSuccess);
    if (p->cc_major != 9) GTEST_SKIP() << "compiled for compute capability 9.0 alone";
  }
  Device& device() const { return this->GetParam().backend->device(); }
  const Kernels& kernels() const { return *this->GetParam().kernels; }
  bool emulated() const { return is_emulated(*this->GetParam().backend); }
  // A GPU gets more.
  int draws(int emulated_draws, int gpu_draws) const {
    return emulated() ? emulated_draws : gpu_draws;
  }
  // For what a launch returned.
  std::string why(cudaError_t error) const {
    return emulated() ? emulator::last_fault() : device().describe(error);
  }

 private:
  const SettingsScope settings_;
  const ProfileScope profile_{"emu90"};
};

// A stream of small random numbers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  // From lo to hi, both included.
  int roll(int lo, int hi) {
    return lo + int(random_bits(seed_, count_++) % std::uint64_t(hi - lo + 1));
  }
  bool chance(int one_in) { return roll(1, one_in) == 1; }

 private:
  std::uint64_t seed_, count_ = 0;
};

}  // namespace libkernels::test
