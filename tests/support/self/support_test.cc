// The helpers must be able to fail: each is shown a wrong result.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"
#include "tests/support/strided.h"

namespace libkernels::test {
namespace {

Device& emulated() { return emu_backend().device(); }

// A child of this style is this program, started again.
TEST(Main, TheUsersEnvironmentIsForgotten) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const names[] = {"LIBKERNELS_FORCE", "LIBKERNELS_CHECK", "LK_EMU_DEVICE"};
  if (!testing::internal::InDeathTestChild()) {
    for (const char* name : names) setenv(name, "nonsense", 1);
  }
  const auto statement = [&] {
    int set = 0;
    for (const char* name : names) set += std::getenv(name) != nullptr;
    std::_Exit(set);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
  for (const char* name : names) unsetenv(name);
}

TEST(Compare, BitsEqualSeesOneBitAndOneNaN) {
  const std::vector<std::uint32_t> a{1, 2, 3};
  EXPECT_TRUE(bits_equal(a, a, DType::f32));
  EXPECT_FALSE(bits_equal(a, {1, 2, 4}, DType::f32));
  EXPECT_FALSE(bits_equal(a, {1, 2}, DType::f32));
  EXPECT_FALSE(bits_equal({0x7fc00000u}, {0x7fffffffu}, DType::f32));
  EXPECT_TRUE(bits_equal({0x7fc00000u}, {0x7fffffffu}, DType::f32, NaNs::same_class));
  EXPECT_FALSE(bits_equal({0x7f800000u}, {0x7fffffffu}, DType::f32, NaNs::same_class));
}

TEST(Compare, ReportsAtMostFiveAndTheCount) {
  const std::vector<std::uint32_t> zeros(20, 0), ones(20, 1);
  const testing::AssertionResult result = bits_equal(zeros, ones, DType::f32);
  const std::string text = result.message();
  EXPECT_NE(text.find("20 of 20 elements"), std::string::npos) << text;
  EXPECT_NE(text.find("[4]"), std::string::npos) << text;
  EXPECT_EQ(text.find("[5]"), std::string::npos) << text;
  EXPECT_NE(text.find("and 15 more"), std::string::npos) << text;
}

TEST(Compare, WithinBoundIsTheBound) {
  const auto twice = [](double x) { return 2 * x; };
  const auto check = [&](float got, double allowed) {
    return within_bound({bits_of(1.5f)}, DType::f32, {bits_of(got)}, DType::f32, twice,
                        [&](double, double) { return allowed; });
  };
  EXPECT_TRUE(check(3.0f, 0));
  EXPECT_TRUE(check(3.5f, 0.5));
  EXPECT_FALSE(check(3.5f, 0.49));
  EXPECT_FALSE(check(std::nanf(""), 1e30));
  const auto infinite = [](double) { return HUGE_VAL; };
  EXPECT_FALSE(within_bound({0}, DType::f32, {bits_of(3e38f)}, DType::f32, infinite,
                            [](double, double) { return HUGE_VAL; }));
}

TEST(DeviceBuffer, ACanaryCatchesEachSide) {
  const ProfileScope profile("emu80");
  for (const std::ptrdiff_t at : {-1, 10, -256, 10 + 255}) {
    DeviceBuffer buffer(emulated(), 10, 6);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 6u);
    EXPECT_TRUE(buffer.canaries_intact());
    static_cast<std::uint8_t*>(buffer.data())[at] = 0;  // emulated memory is host memory
    EXPECT_FALSE(buffer.canaries_intact()) << at;
    buffer.leave_unchecked();
  }
}

// The emulator knows exactly the payload.
TEST(DeviceBuffer, TheEmulatorGuardsTheExactBytes) {
  DeviceBuffer buffer(emulated(), 10, 6);
  const emulator::Buffer seen = emulator::find_buffer(buffer.data());
  EXPECT_TRUE(seen.found);
  EXPECT_EQ(seen.data, buffer.data());
  EXPECT_EQ(seen.bytes, 10u);
  const DeviceBuffer moved = std::move(buffer);
  EXPECT_TRUE(emulator::find_buffer(moved.data()).found);
}

TEST(StridedMatrix, ReadsBackWhatItWroteAndSeesGaps) {
  const Layout layouts[] = {row_major(3, 5),  row_major(3, 5, 7, 1), col_major(3, 5, 4, 3),
                            {3, 5, 20, 3, 5}, {0, 5, 5, 1},          {1, 1, 0, 0}};
  for (const Layout& layout : layouts) {
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      const auto bits = normal_bits(std::size_t(layout.elements()), type, 1);
      StridedMatrix m(emulated(), type, layout, bits);
      EXPECT_EQ(m.read(), bits) << show(layout);
      EXPECT_TRUE(m.gaps_intact()) << show(layout);
    }
  }
  StridedMatrix m(emulated(), DType::f16, {2, 2, 8, 3, 1});
  const std::uint16_t other = 0;
  for (const std::size_t element : {1u, 2u, 4u, 7u, 9u}) {
    StridedMatrix fresh(emulated(), DType::f16, {2, 2, 8, 3, 1});
    fresh.buffer().copy_in(&other, 2, 2 * element);
    EXPECT_FALSE(fresh.gaps_intact()) << element;
  }
  m.buffer().copy_in(&other, 2, 2 * 8);  // element (1, 0)
  EXPECT_TRUE(m.gaps_intact());
}

TEST(StridedMatrix, BroadcastHoldsOneRow) {
  StridedMatrix m(emulated(), DType::f32, {3, 2, 0, 1}, {1, 2, 1, 2, 1, 2});
  EXPECT_EQ(m.buffer().bytes(), 8u);
  EXPECT_EQ(m.read(), (std::vector<std::uint32_t>{1, 2, 1, 2, 1, 2}));
}

TEST(Poison, IsNaNInEveryType) {
  std::uint8_t bytes[8];
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = poison_byte(i);
  for (const std::size_t at : {0u, 2u, 4u}) {
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      EXPECT_TRUE(is_nan(load_element(bytes + at, type), type));
    }
  }
}

TEST(Backends, KernelsAreListedAndRunUnderTheirGeneration) {
  const std::vector<Kernel> kernels = kernels_of(LK_OP_GELU);
  int emulated_rows = 0;
  for (const Kernel& kernel : kernels) {
    if (!is_emulated(*kernel.backend)) continue;
    ++emulated_rows;
    EXPECT_EQ(why_not_here(kernel), "");
    const std::string before = emulator::current_profile().name;
    {
      const ProfileScope profile(profile_of(kernel));
      EXPECT_EQ(emulator::current_profile().cc_major * 10, kernel.info->arch);
    }
    EXPECT_EQ(emulator::current_profile().name, before);
  }
  EXPECT_GE(emulated_rows, 3);
}

TEST(Backends, AnOperationWithoutKernelsSaysWhereTheyAreListed) {
  std::string text;
  try {
    kernels_of(99);
  } catch (const std::exception& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "no kernel of operation 99 is registered: src/registry.cc, kOperations");
}

}  // namespace
}  // namespace libkernels::test
