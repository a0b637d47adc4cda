// Softmax's host layer through a Backend object: what it accepts, refuses, chooses and explains.
// What its kernels compute is tested beside the kernels; what all operations share, with GeLU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/host_layer.h"
#include "tests/support/refusal.h"
#include "tests/support/small_call.h"

namespace libkernels {
namespace {

using test::DeviceBuffer;
using test::is_accepted;
using test::is_cuda_error;
using test::is_invalid;
using test::is_unsupported;
using test::ProfileScope;
using test::refusal;

const Functions<SoftmaxCall>& emu() { return emu_backend().softmax; }

using Call = test::SmallCall<SoftmaxCall, lk_softmax_options>;

TEST(SoftmaxHostTest, EveryMixOfTypesIsOfferedOrRefusedByName) {
  test::check_types_of_x_and_y<Call>(emu(), "softmax");
}

TEST(SoftmaxHostTest, RefusalsNameTheArgumentAndTouchNothing) {
  struct Case {
    std::function<void(Call&)> change;
    const char* text;
  };
  const auto scaled = [](float scale) {
    return [scale](Call& c) {
      c.options.scale = scale;
      c.options.has_scale = 1;
    };
  };
  const Case cases[] = {
      {[](Call& c) { c.y.rows = 3; },
       "softmax: x is 4 x 8 and y is 3 x 8; both need the same shape"},
      {[](Call& c) { c.x.rows = -1; }, "softmax: x.rows is -1"},
      {[](Call& c) { c.x.col_stride = -1; }, "softmax: x.col_stride is -1"},
      {[](Call& c) { c.y.col_stride = 0; }, "softmax: y.col_stride is 0 with 8 columns"},
      {[](Call& c) { c.y.dtype = 9; }, "softmax: y.dtype is 9"},
      {[](Call& c) { c.x.data = static_cast<char*>(c.x.data == nullptr ? nullptr : c.y.data) + 4; },
       "softmax: the output y (bytes "},
      {[](Call& c) { c.options.log = 2; },
       "softmax: options.log is 2; 0 (softmax) or 1 (its logarithm)"},
      {[](Call& c) { c.options.neg_inf_row = -1; },
       "softmax: options.neg_inf_row is -1; 0 (LK_NEG_INF_ROW_NAN) or 1 (LK_NEG_INF_ROW_ZERO)"},
      {[](Call& c) { c.options.has_scale = 3; },
       "softmax: options.has_scale is 3; 0 (no scale) or 1 (options.scale is one)"},
      {[](Call& c) { c.options.scale = 2; },
       "softmax: options.scale is 2, but options.has_scale is 0; a scale needs has_scale = 1"},
      {scaled(std::nanf("")), "softmax: options.scale is nan; a finite number"},
      {scaled(std::numeric_limits<float>::infinity()),
       "softmax: options.scale is inf; a finite number"},
      {scaled(-std::numeric_limits<float>::infinity()),
       "softmax: options.scale is -inf; a finite number"},
      {[](Call& c) { c.options.call.max_sms = -3; }, "softmax: options.call.max_sms is -3"},
      {[](Call& c) { c.pin = "softmax_sm70"; },
       "softmax: the caller's pin names 'softmax_sm70', which is none of its kernels: "},
  };
  for (const Case& k : cases) {
    Call c;
    k.change(c);
    test::expect_invalid(emu(), c(), k.text);
    EXPECT_TRUE(c.y_untouched()) << k.text;
  }
  test::check_null_views<Call>(emu(), "softmax");
}

TEST(SoftmaxHostTest, NothingIsLaunchedWithoutElements) {
  const ProfileScope profile("emu80");
  for (const auto& [rows, cols] : {std::pair{0, 8}, {8, 0}, {0, 0}, {0, 1000000}}) {
    const lk_cmatrix x{nullptr, LK_F16, rows, cols, cols, 1};
    const lk_matrix y{nullptr, LK_F32, rows, cols, cols, 1};
    const SoftmaxCall call{&x, &y, nullptr};
    test::expect_nothing_launched(emu(), call, "elements");
  }
}

TEST(SoftmaxHostTest, DefaultsAndOptionsReachTheKernel) {
  for (const char* device : {"emu80", "emu90", "emu100", "rtx4090"}) {
    const ProfileScope profile(device);
    Call c;
    emu().run({&c.x, &c.y, nullptr});
    for (const float v : c.result()) EXPECT_EQ(v, 0.125f) << device;
    c.options.log = 1;
    emu().run(c());
    for (const float v : c.result()) EXPECT_NEAR(v, -2.0794415f, 1e-6) << device;
    // One element of a row at 1 + 2, scale -0.5: exp(-1) beside seven ones.
    const float three = 3;
    c.x_memory.copy_in(&three, sizeof(three));
    c.options.log = 0;
    c.options.scale = -0.5f;
    c.options.has_scale = 1;
    emu().run(c());
    EXPECT_NEAR(c.result()[0], 0.0499302f, 1e-6);
    EXPECT_NEAR(c.result()[1], 0.135724f, 1e-6);
    const std::vector<float> masked(8, -std::numeric_limits<float>::infinity());
    c.x_memory.copy_in(masked.data(), 32);
    c.options.has_scale = 0;
    c.options.scale = 0;
    emu().run(c());
    EXPECT_TRUE(std::isnan(c.result()[0]));
    c.options.neg_inf_row = LK_NEG_INF_ROW_ZERO;
    emu().run(c());
    EXPECT_EQ(c.result()[0], 0.0f);
    EXPECT_EQ(c.result()[8], 0.125f);
  }
}

TEST(SoftmaxHostTest, EachViewTakesItsKernel) {
  const ProfileScope profile("a100");
  Call c;
  EXPECT_STREQ(emu().resources(c()).kernel, "softmax_sm80");
  EXPECT_EQ(emu().workspace(c()), 0u);
  c.x = {c.x.data, LK_F32, 1, 1025, 1025, 1};
  c.y = {reinterpret_cast<void*>(std::uintptr_t{1} << 40), LK_F32, 1, 1025, 1025, 1};
  EXPECT_STREQ(emu().resources(c()).kernel, "softmax_sm80_block");
  EXPECT_EQ(emu().workspace(c()), 0u);
  c.x = {c.x.data, LK_F32, 1, 100000, 100000, 1};
  c.y = {reinterpret_cast<void*>(std::uintptr_t{1} << 40), LK_F32, 1, 100000, 100000, 1};
  EXPECT_STREQ(emu().resources(c()).kernel, "softmax_sm80_split");
  EXPECT_EQ(emu().workspace(c()), (13 + 1) * 8u);  // chunks of 8192 columns, tickets
  c.x.rows = c.y.rows = 7;
  EXPECT_EQ(emu().workspace(c()), (7 * 13 + 1) * 8u);
  c.x.row_stride = 1;
  c.x.col_stride = 7;
  EXPECT_STREQ(emu().resources(c()).kernel, "softmax_sm80_strided");
  EXPECT_EQ(emu().workspace(c()), 7 * 391 * 8u);  // chunks of 256 columns
  c.pin = "softmax_sm80";
  EXPECT_TRUE(is_unsupported(
      refusal([&] { emu().run(c()); }),
      "softmax_sm80: skipped: needs unit column strides and rows that a warp can hold"));
  c.pin = "softmax_sm80_block";
  EXPECT_TRUE(is_unsupported(refusal([&] { emu().run(c()); }),
                             "softmax_sm80_block: skipped: needs unit column strides and rows "
                             "that a CTA can hold and a warp cannot"));
  c.pin = "softmax_sm80_split";
  EXPECT_TRUE(is_unsupported(refusal([&] { emu().run(c()); }),
                             "softmax_sm80_split: skipped: needs unit column strides and rows "
                             "longer than a CTA can hold"));
  Call unit;
  unit.pin = "softmax_sm80_strided";
  EXPECT_TRUE(
      is_unsupported(refusal([&] { emu().run(unit()); }),
                     "softmax_sm80_strided: skipped: is for views without unit column stride"));
  EXPECT_TRUE(unit.y_untouched());
}

// A wrong workspace is refused; that a right one suffices is tested beside the kernels.
TEST(SoftmaxHostTest, WorkspacesAreChecked) {
  const ProfileScope profile("emu80");
  DeviceBuffer x(emu_backend().device(), 4 * 60000), y(emu_backend().device(), 4 * 60000);
  const lk_cmatrix xv{x.data(), LK_F32, 1, 60000, 60000, 1};
  const lk_matrix yv{y.data(), LK_F32, 1, 60000, 60000, 1};
  lk_softmax_options options = LK_OPTIONS_INIT(lk_softmax_options);
  const SoftmaxCall call{&xv, &yv, &options};
  ASSERT_EQ(emu().workspace(call), 72u);
  DeviceBuffer scratch(emu_backend().device(), 512);
  options.call.workspace = scratch.data();
  options.call.workspace_bytes = 71;
  EXPECT_TRUE(is_invalid(refusal([&] { emu().run(call); }), "softmax: options.call.workspace"));
  options.call.workspace = static_cast<char*>(scratch.data()) + 8;
  options.call.workspace_bytes = 400;
  EXPECT_TRUE(is_invalid(refusal([&] { emu().run(call); }), "softmax: options.call.workspace"));
  EXPECT_NE(emu().explain({&xv, &yv, nullptr}).find("scratch: 72 bytes, allocated on the stream"),
            std::string::npos);
}

// The text says which of two launches failed.
TEST(SoftmaxHostTest, AFailedLaunchIsNamed) {
  const ProfileScope profile("emu80");
  alignas(256) static float host[60000];
  DeviceBuffer memory(emu_backend().device(), sizeof(host));
  const lk_cmatrix foreign_x{host, LK_F32, 1, 60000, 60000, 1};
  const lk_matrix foreign_y{host, LK_F32, 1, 60000, 60000, 1};
  const lk_cmatrix x{memory.data(), LK_F32, 1, 60000, 60000, 1};
  const lk_matrix y{memory.data(), LK_F32, 1, 60000, 60000, 1};
  lk_softmax_options foreign_scratch = LK_OPTIONS_INIT(lk_softmax_options);
  foreign_scratch.call.workspace = host;
  foreign_scratch.call.workspace_bytes = sizeof(host);
  EXPECT_TRUE(is_cuda_error(refusal([&] {
                              emu().run({&x, &y, &foreign_scratch});
                            }),
                            "softmax: launching softmax_sm80_split (the first of its two launches, "
                            "which clears scratch) failed: cudaError"));
  for (const SoftmaxCall& call :
       {SoftmaxCall{&foreign_x, &y, nullptr}, SoftmaxCall{&x, &foreign_y, nullptr}}) {
    EXPECT_TRUE(is_cuda_error(refusal([&] { emu().run(call); }),
                              "softmax: launching softmax_sm80_split (the second of its two "
                              "launches) failed: cudaError"));
  }
  Call one;
  one.y.data = host;
  EXPECT_TRUE(is_cuda_error(refusal([&] { emu().run(one()); }),
                            "softmax: launching softmax_sm80 failed: cudaError"));
}

TEST(SoftmaxHostTest, ExplainsProblemDeviceWalkPlanAndScratch) {
  const ProfileScope profile("h200");
  Call c;
  c.options.call.max_sms = 10;
  c.options.log = 1;
  c.options.scale = 0.5f;
  c.options.has_scale = 1;
  const std::string text = emu().explain(c());
  for (const char* part :
       {"log-softmax, scale 0.5, rows of only -inf become NaN\n"
        "x: f32, 4 x 8, strides 8 and 1\ny: f32, 4 x 8, strides 8 and 1\ndevice: ",
        "compute capability 9.0, 10 of 132 SMs\nkernels, best first:\n", "  softmax_sm80: chosen\n",
        "  softmax_sm80_strided: skipped: is for views without unit column strides\nplan:\n"
        "  path: 2 lane(s) a row, 1 vector(s) of 4 columns each; rows of x and y are aligned\n"
        "  launch: grid 1, block 128, shared memory 0\n",
        "\nscratch: none\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin: " << text;
  }
  EXPECT_TRUE(c.y_untouched());
  c.x.data = c.y.data;
  c.options.neg_inf_row = LK_NEG_INF_ROW_ZERO;
  EXPECT_NE(emu().explain(c()).find("rows of only -inf become -inf, in place\n"),
            std::string::npos);
}

TEST(SoftmaxHostTest, PreloadLoadsItsKernels) {
  const ProfileScope profile("emu80");
  EXPECT_TRUE(is_accepted(refusal([] { emu_backend().preload(LK_OP_SOFTMAX); })));
}

}  // namespace
}  // namespace libkernels
