// GeLU's host layer through a Backend object: what it accepts, refuses, chooses and explains. What
// its kernels compute is tested beside the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/host_layer.h"
#include "tests/support/refusal.h"
#include "tests/support/small_call.h"

namespace libkernels {
namespace {

using test::is_accepted;
using test::is_unsupported;
using test::ProfileScope;
using test::refusal;

const Backend& emu() { return emu_backend(); }

using Call = test::SmallCall<GeluCall, lk_gelu_options>;

TEST(GeluHostTest, EveryMixOfTypesIsOfferedOrRefusedByName) {
  test::check_types_of_x_and_y<Call>(emu().gelu, "gelu");
}

TEST(GeluHostTest, RefusalsNameTheArgumentAndTouchNothing) {
  struct Case {
    std::function<void(Call&)> change;
    const char* text;
  };
  const Case cases[] = {
      {[](Call& c) { c.y.rows = 3; }, "gelu: x is 4 x 8 and y is 3 x 8"},
      {[](Call& c) { c.x.rows = -1; }, "gelu: x.rows is -1"},
      {[](Call& c) { c.y.col_stride = 0; }, "gelu: y.col_stride is 0 with 8 columns"},
      {[](Call& c) { c.y.dtype = 9; }, "gelu: y.dtype is 9"},
      {[](Call& c) { c.options.form = 2; },
       "gelu: options.form is 2; 0 (LK_GELU_TANH) or 1 (LK_GELU_ERF)"},
      {[](Call& c) { c.options.form = -1; }, "gelu: options.form is -1"},
      {[](Call& c) { c.options.call.max_sms = -3; }, "gelu: options.call.max_sms is -3"},
      {[](Call& c) { c.x.data = static_cast<char*>(c.y.data) + 4; }, "gelu: the output y (bytes "},
      {[](Call& c) { c.pin = "gelu_sm70"; },
       "gelu: the caller's pin names 'gelu_sm70', which is none of its kernels: gelu_sm100, "
       "gelu_sm90, gelu_sm80"},
  };
  for (const Case& k : cases) {
    Call c;
    k.change(c);
    test::expect_invalid(emu().gelu, c(), k.text);
    EXPECT_TRUE(c.y_untouched()) << k.text;
  }
  Call c;
  c.options.reserved = 1;
  EXPECT_TRUE(is_unsupported(refusal([&] { emu().gelu.run(c()); }), "gelu: options.reserved is 1"));
  test::check_null_views<Call>(emu().gelu, "gelu");
}

TEST(GeluHostTest, NothingIsLaunchedWithoutElements) {
  const ProfileScope profile("emu80");
  for (const auto& [rows, cols] : {std::pair{0, 8}, {8, 0}, {0, 0}}) {
    const lk_cmatrix x{nullptr, LK_F16, rows, cols, cols, 1};
    const lk_matrix y{nullptr, LK_F32, rows, cols, cols, 1};
    const GeluCall call{&x, &y, nullptr};
    test::expect_nothing_launched(emu().gelu, call, "elements");
  }
}

TEST(GeluHostTest, RunsAndDefaultsToTanh) {
  for (const char* device : {"emu80", "emu90", "emu100"}) {
    const ProfileScope profile(device);
    Call c;
    emu().gelu.run({&c.x, &c.y, nullptr});
    for (float v : c.result()) EXPECT_NEAR(v, 0.841192f, 1e-6) << device;
    c.options.form = LK_GELU_ERF;
    emu().gelu.run(c());
    for (float v : c.result()) EXPECT_NEAR(v, 0.841345f, 1e-6) << device;
  }
}

TEST(GeluHostTest, RunsInPlace) {
  const ProfileScope profile("emu80");
  Call c;
  c.x.data = c.y.data;
  c.y_memory.copy_in(std::vector<float>(32, 1.0f).data(), Call::kBytes);
  emu().gelu.run(c());
  for (float v : c.result()) EXPECT_NEAR(v, 0.841192f, 1e-6);
}

TEST(GeluHostTest, IgnoredStridesReachTheKernelAsDenseOnes) {
  const ProfileScope profile("emu80");
  Call c;
  c.x = {c.x.data, LK_F32, 1, 32, -77, 1};
  c.y = {c.y.data, LK_F32, 1, 32, 0, 1};
  emu().gelu.run(c());
  for (float v : c.result()) EXPECT_NEAR(v, 0.841192f, 1e-6);
  c.x = {c.x.data, LK_F32, 32, 1, 1, -5};
  c.y = {c.y.data, LK_F32, 32, 1, 1, 0};
  EXPECT_TRUE(is_accepted(refusal([&] { emu().gelu.run(c()); })));
}

TEST(GeluHostTest, EachDeviceTakesItsKernel) {
  const std::pair<const char*, const char*> expected[] = {
      {"a100", "gelu_sm80"},    {"rtx3090", "gelu_sm80"}, {"rtx4090", "gelu_sm80"},
      {"h200", "gelu_sm90"},    {"b200", "gelu_sm100"},   {"b300", "gelu_sm100"},
      {"rtx5090", "gelu_sm80"},
  };
  for (const auto& [device, kernel] : expected) {
    const ProfileScope profile(device);
    Call c;
    EXPECT_STREQ(emu().gelu.resources(c()).kernel, kernel) << device;
    c.pin = "gelu_sm80";
    EXPECT_STREQ(emu().gelu.resources(c()).kernel, "gelu_sm80") << device;
  }
  const ProfileScope profile("a100");
  Call c;
  c.pin = "gelu_sm100";
  EXPECT_TRUE(is_unsupported(refusal([&] { emu().gelu.run(c()); }),
                             "gelu: gelu_sm100 (the caller's pin) cannot run this call"));
  EXPECT_TRUE(c.y_untouched());
}

TEST(GeluHostTest, ADeviceBelow80IsUnsupported) {
  test::check_a_device_below_80<Call>(emu().gelu, "gelu");
}

TEST(GeluHostTest, AnEmulatedFaultIsToldWithItsText) {
  test::check_an_emulated_fault<Call>(emu().gelu, "gelu");
}

TEST(GeluHostTest, ExplainsProblemDeviceWalkPlanAndScratch) {
  const ProfileScope profile("h200");
  Call c;
  c.options.call.max_sms = 10;
  c.options.form = LK_GELU_ERF;
  const std::string text = emu().gelu.explain(c());
  for (const char* part :
       {"gelu, erf form\nx: f32, 4 x 8, strides 8 and 1\ny: f32, 4 x 8, strides 8 and 1\ndevice: ",
        "compute capability 9.0, 10 of 132 SMs\nkernels, best first:\n",
        "  gelu_sm100: skipped: sm100 kernels do not run on compute capability 9.0\n",
        "  gelu_sm90: chosen\n  gelu_sm80: not needed\nplan:\n  ", "\nscratch: none\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin: " << text;
  }
  EXPECT_TRUE(c.y_untouched());
}

// Environment variables are read once: each case needs a process of its own.
class GeluEnvironmentTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// Exits with 0 if the call was refused (or, for "", accepted) as expected, else prints why.
[[noreturn]] void exit_with(const test::Refusal& r, const std::string& part) {
  const bool good = part.empty() ? r.status == LK_SUCCESS : r.text.find(part) != std::string::npos;
  if (!good) std::fprintf(stderr, "status %d: %s\n", r.status, r.text.c_str());
  std::_Exit(good ? 0 : 1);
}

TEST_F(GeluEnvironmentTest, ForcePinsARow) {
  const auto statement = [] {
    setenv("LIBKERNELS_FORCE", "gelu_sm80", 1);
    const ProfileScope profile("h200");
    const Call c;
    const bool forced = std::string(emu().gelu.resources(c()).kernel) == "gelu_sm80";
    setenv("LIBKERNELS_FORCE", "gelu_sm90", 1);  // too late
    const bool once = std::string(emu().gelu.resources(c()).kernel) == "gelu_sm80";
    const bool told =
        emu().gelu.explain(c()).find("chosen: named by LIBKERNELS_FORCE") != std::string::npos;
    std::_Exit(forced && once && told ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

TEST_F(GeluEnvironmentTest, ForceFailsLoudly) {
  const auto unknown = [] {
    setenv("LIBKERNELS_FORCE", "gelu_sm81", 1);
    const Call c;
    refusal([&] { emu().gelu.run(c()); });
    exit_with(refusal([&] { emu().gelu.run(c()); }),
              "gelu: LIBKERNELS_FORCE names 'gelu_sm81', which is no kernel of this build; the "
              "kernels are gelu_sm100, gelu_sm90, gelu_sm80");
  };
  EXPECT_EXIT(unknown(), testing::ExitedWithCode(0), "");
  const auto impossible = [] {
    setenv("LIBKERNELS_FORCE", "gelu_sm100", 1);
    const ProfileScope profile("h200");
    const Call c;
    exit_with(refusal([&] { emu().gelu.run(c()); }),
              "gelu: gelu_sm100 (LIBKERNELS_FORCE) cannot run this call");
  };
  EXPECT_EXIT(impossible(), testing::ExitedWithCode(0), "");
}

// Is every call refused, with a text that begins with the operation? Each is made twice.
bool every_call_is_refused(lk_status status, const std::string& text) {
  bool good = true;
  const auto expect = [&](const std::string& op, const test::Refusal& r) {
    if (r.status == status && r.text.rfind(op + ": ", 0) == 0 &&
        r.text.find(text) != std::string::npos) {
      return;
    }
    std::fprintf(stderr, "status %d: %s\n", r.status, r.text.c_str());
    good = false;
  };
  Call c;
  const lk_cmatrix no_x{nullptr, LK_F32, 0, 8, 8, 1};
  const lk_matrix no_y{nullptr, LK_F32, 0, 8, 8, 1};
  Call pinned;
  pinned.pin = "gelu_sm80";
  for (int i = 0; i < 2; ++i) {
    for (const GeluCall& call : {c(), pinned(), GeluCall{&no_x, &no_y, nullptr}}) {
      // The emulator's own variables are of no concern to calls that ask no device.
      if (status == LK_CUDA_ERROR && call.x == &no_x) continue;
      expect("gelu", refusal([&] { emu().gelu.run(call); }));
      expect("gelu", refusal([&] { emu().gelu.workspace(call); }));
      expect("gelu", refusal([&] { emu().gelu.explain(call); }));
      expect("gelu", refusal([&] { emu().gelu.resources(call); }));
    }
    const std::string op = status == LK_CUDA_ERROR ? "gelu" : "preload";
    expect(op, refusal([] { emu().preload(LK_OP_ALL); }));
    expect(op, refusal([] { emu().preload(LK_OP_GELU); }));
  }
  return good && c.y_untouched();
}

TEST_F(GeluEnvironmentTest, AWrongVariableFailsEveryCall) {
  struct Case {
    const char *variable, *value;
    lk_status status;
    const char* text;
  };
  const Case cases[] = {
      {"LIBKERNELS_FORCE", "gelu_sm81", LK_INVALID_ARGUMENT,
       "LIBKERNELS_FORCE names 'gelu_sm81', which is no kernel"},
      {"LIBKERNELS_FORCE", "gelu_sm80,gelu_sm90", LK_INVALID_ARGUMENT,
       "LIBKERNELS_FORCE names both gelu_sm80 and gelu_sm90"},
      {"LIBKERNELS_CHECK", "yes", LK_INVALID_ARGUMENT,
       "LIBKERNELS_CHECK is 'yes'; it is 1 (every call looks at the memory of its views) or 0, "
       "empty or unset (none does)"},
      {"LIBKERNELS_CHECK", "2", LK_INVALID_ARGUMENT, "LIBKERNELS_CHECK is '2'"},
      {"LIBKERNELS_CHECK", " 1", LK_INVALID_ARGUMENT, "LIBKERNELS_CHECK is ' 1'"},
      {"LIBKERNELS_CHECK", "on", LK_INVALID_ARGUMENT, "LIBKERNELS_CHECK is 'on'"},
      {"LK_EMU_ULP", "wrost", LK_CUDA_ERROR,
       "LK_EMU_ULP is 'wrost'; it is nearest (the default: correctly rounded) or worst"},
      {"LK_EMU_SEED", "x", LK_CUDA_ERROR, "LK_EMU_SEED is 'x'; it is a number"},
      {"LK_EMU_SEED", "7 ", LK_CUDA_ERROR, "LK_EMU_SEED is '7 '"},
      {"LK_EMU_SEED", "-1", LK_CUDA_ERROR, "LK_EMU_SEED is '-1'"},
      {"LK_EMU_SEED", "18446744073709551616", LK_CUDA_ERROR, "LK_EMU_SEED is '1844"},
      {"LK_EMU_COMPLETION", "soon", LK_CUDA_ERROR,
       "LK_EMU_COMPLETION is 'soon'; it is late (the default), eager or random"},
      {"LK_EMU_DEVICE", "h300", LK_CUDA_ERROR,
       "LK_EMU_DEVICE is 'h300'; it is one of emu80, emu90, emu100, a100"},
  };
  for (const Case& c : cases) {
    const auto statement = [&] {
      setenv(c.variable, c.value, 1);
      std::_Exit(every_call_is_refused(c.status, c.text) ? 0 : 1);
    };
    EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "") << c.variable << "=" << c.value;
  }
}

// A launch that does not come through a Device (a test's, the bench's) asks for the settings.
TEST_F(GeluEnvironmentTest, AWrongVariableOfTheEmulatorFailsItsSettings) {
  const auto statement = [] {
    setenv("LK_EMU_ULP", "1", 1);
    for (int i = 0; i < 2; ++i) {
      try {
        emulator::settings();
        std::_Exit(1);
      } catch (const std::invalid_argument& e) {
        if (std::string(e.what()).rfind("LK_EMU_ULP is '1'; ", 0) != 0) std::_Exit(1);
      }
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

TEST_F(GeluEnvironmentTest, EmptyAndDefaultValuesAreAccepted) {
  const auto empty = [] {
    for (const char* name : {"LIBKERNELS_FORCE", "LIBKERNELS_CHECK", "LK_EMU_ULP", "LK_EMU_SEED",
                             "LK_EMU_COMPLETION", "LK_EMU_DEVICE"}) {
      setenv(name, "", 1);
    }
    const Call c;
    exit_with(refusal([&] { emu().gelu.run(c()); }), "");
  };
  EXPECT_EXIT(empty(), testing::ExitedWithCode(0), "");
  const auto set = [] {
    setenv("LIBKERNELS_CHECK", "0", 1);
    setenv("LK_EMU_ULP", "worst", 1);
    setenv("LK_EMU_SEED", "0xffffffffffffffff", 1);
    setenv("LK_EMU_COMPLETION", "random", 1);
    setenv("LK_EMU_DEVICE", "h200", 1);
    const emulator::Settings& s = emulator::settings();
    if (!s.worst_ulp || s.seed != ~std::uint64_t{0} ||
        s.completion != emulator::Completion::random) {
      std::_Exit(1);
    }
    const Call c;
    exit_with(refusal([&] { emu().gelu.run(c()); }), "");
  };
  EXPECT_EXIT(set(), testing::ExitedWithCode(0), "");
}

TEST_F(GeluEnvironmentTest, CheckLooksAtTheMemory) {
  const auto foreign = [] {
    setenv("LIBKERNELS_CHECK", "1", 1);
    Call c;
    static const float host[32] = {};
    c.x.data = host;
    exit_with(refusal([&] { emu().gelu.run(c()); }),
              "which the device cannot access; device memory is needed");
  };
  EXPECT_EXIT(foreign(), testing::ExitedWithCode(0), "");
  const auto beyond = [] {
    setenv("LIBKERNELS_CHECK", "1", 1);
    Call c;
    c.x.row_stride = c.y.row_stride = 1000;
    c.x.data = c.y.data;  // in place: apart they would overlap
    exit_with(refusal([&] { emu().gelu.run(c()); }), "gelu: x takes 12032 bytes from ");
  };
  EXPECT_EXIT(beyond(), testing::ExitedWithCode(0), "");
  const auto fine = [] {
    setenv("LIBKERNELS_CHECK", "1", 1);
    const Call c;
    exit_with(refusal([&] { emu().gelu.run(c()); }), "");
  };
  EXPECT_EXIT(fine(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace libkernels
