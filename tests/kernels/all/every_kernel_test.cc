// Every kernel of the registry, of both backends, on every mix of its types: what holds of all of
// them, so that a kernel without tests of its own is covered by these. Cases bear the names of the
// public bugs whose kind they are. Cost: 3.5 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/all/any_call.h"

namespace libkernels::test {
namespace {

struct Param {
  Kernel kernel;
  AnyTypes types;
};
std::string show(const Param& p) {
  return std::string(p.kernel.backend->name) + "_" + p.kernel.info->name + "_" + show(p.types);
}
void PrintTo(const Param& p, std::ostream* out) { *out << show(p); }

std::vector<Param> all_params() {
  std::vector<Param> all;
  for (const Backend* backend : backends()) {
    for (const lk_kernel_info& info : backend->kernels()) {
      for (const AnyTypes& types : types_of(info.op)) all.push_back({{backend, &info}, types});
    }
  }
  return all;
}

// Small ones in every kind of view; long rows where a kernel may be made for these alone.
std::vector<AnyShape> shapes_of(lk_op op) {
  std::vector<AnyShape> shapes{
      {.rows = 1, .cols = 1},
      {.rows = 4, .cols = 64, .depth = 32},
      {.rows = 5, .cols = 33, .depth = 17, .offset = 1},
      {.rows = 130, .cols = 66, .depth = 9, .offset = 3, .gap = 1},
      {.rows = 3, .cols = 129, .depth = 40, .columns = true, .gap = 2},
  };
  shapes.push_back(op == LK_OP_MATMUL
                       ? AnyShape{.rows = 20, .cols = 24, .depth = 333, .offset = 1, .gap = 1}
                       : AnyShape{.rows = 1, .cols = 60001, .offset = 1});
  return shapes;
}

class EveryKernel : public testing::TestWithParam<Param> {
 protected:
  void SetUp() override {
    const std::string why = why_not_here(kernel());
    if (!why.empty()) GTEST_SKIP() << why;
    if (emulated()) profile_.emplace(profile_of(kernel()));
  }

  static const Kernel& kernel() { return GetParam().kernel; }
  static const Backend& backend() { return *kernel().backend; }
  static bool emulated() { return is_emulated(backend()); }
  static AnyOptions options(int max_sms = 0) {
    return {.max_sms = max_sms, .pin = kernel().info->name};
  }

  // body(call) for each shape that the kernel takes.
  template <class Body>
  static void for_each_shape(const Body& body) {
    int taken = 0;
    for (const AnyShape& shape : shapes_of(GetParam().types.op)) {
      SCOPED_TRACE(show(shape));
      AnyCall call(backend(), GetParam().types, shape);
      if (!call.supported(kernel().info->name)) continue;
      ++taken;
      call.draw(std::uint64_t(taken));
      body(call);
    }
    // Types that a kernel is not made for are others' affair; of its own it takes some view.
    if (taken == 0) GTEST_SKIP() << kernel().info->name << " takes no such types";
  }

 private:
  std::optional<ProfileScope> profile_;
};

// F7, E8, G5: inputs are read only, what lies around and between elements is NaN and stays so, and
// the output may have held anything.
TEST_P(EveryKernel, F7E8G5RightWithPoisonAroundAndInTheOutput) {
  for_each_shape([](AnyCall& call) {
    call.forbid_writes_to_inputs();
    call.run(options());
    EXPECT_TRUE(call.right());
    const Format f = format_of(GetParam().types.of.c);
    const Bits first = call.result();
    call.fill_output(f.infinity());
    call.run(options());
    EXPECT_EQ(call.result(), first);
  });
}

// J3: a wait that is missing or too weak shows as NaN, as a race or as other bits.
TEST_P(EveryKernel, J3SameBitsInEveryRun) {
  const SettingsScope restore;
  for_each_shape([](AnyCall& call) {
    call.run(options());
    const Bits first = call.result();
    const auto again = [&](emulator::Completion completion, std::uint64_t seed) {
      emulator::settings().completion = completion;
      emulator::settings().seed = seed;
      call.fill_output(0);
      call.run(options());
      EXPECT_EQ(call.result(), first) << int(completion) << " " << seed;
    };
    again(emulator::Completion::eager, 1);
    for (std::uint64_t seed = 1; seed <= (emulated() ? 1 : 20); ++seed) {
      again(emulator::Completion::random, seed);
    }
  });
}

// H7: any number of CTAs.
TEST_P(EveryKernel, H7SameBitsOnAnyNumberOfSms) {
  for_each_shape([](AnyCall& call) {
    call.run(options());
    const Bits first = call.result();
    for (const int sms : {1, 3}) {
      call.fill_output(0);
      call.run(options(sms));
      EXPECT_EQ(call.result(), first) << sms;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, EveryKernel, testing::ValuesIn(all_params()),
                         [](const auto& info) { return show(info.param); });

// The cases above skip types that a kernel refuses; none may refuse all of them.
class EveryKernelIsCovered : public testing::TestWithParam<Kernel> {};

TEST_P(EveryKernelIsCovered, TakesSomeCall) {
  const std::string why = why_not_here(GetParam());
  if (!why.empty()) GTEST_SKIP() << why;
  std::optional<ProfileScope> profile;
  if (is_emulated(*GetParam().backend)) profile.emplace(profile_of(GetParam()));
  int taken = 0;
  for (const AnyTypes& types : types_of(GetParam().info->op)) {
    for (const AnyShape& shape : shapes_of(types.op)) {
      taken += AnyCall(*GetParam().backend, types, shape).supported(GetParam().info->name);
    }
  }
  EXPECT_GT(taken, 0) << "shapes_of() has no view for this kernel";
}

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  for (const lk_op op : kAllOps) {
    for (const Kernel& kernel : kernels_of(op)) all.push_back(kernel);
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(, EveryKernelIsCovered, testing::ValuesIn(all_kernels()),
                         [](const auto& info) { return show(info.param); });

}  // namespace
}  // namespace libkernels::test
