// Row-sum's host layer through a Backend object and the C ABI: what it accepts, refuses, chooses
// and explains. What its kernels compute is tested beside the kernels. Cost: 0.2 s.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
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
using test::is_invalid;
using test::ProfileScope;
using test::refusal;

const Backend& emu() { return emu_backend(); }

using Call = test::SmallCall<RowSumCall, lk_row_sum_options, 1>;

// A row long enough to be split.
struct LongCall {
  static constexpr std::int64_t kCols = 100000;
  DeviceBuffer x_memory{emu().device(), kCols * sizeof(float)}, y_memory{emu().device(), 4};
  lk_cmatrix x{x_memory.data(), LK_F32, 1, kCols, kCols, 1};
  lk_matrix y{y_memory.data(), LK_F32, 1, 1, 1, 1};
  lk_row_sum_options options = LK_OPTIONS_INIT(lk_row_sum_options);

  LongCall() { x_memory.copy_in(std::vector<float>(kCols, 1.0f).data(), kCols * sizeof(float)); }
  RowSumCall operator()() const { return {&x, &y, &options}; }
  float result() const {
    float r = 0;
    y_memory.copy_out(&r, sizeof(r));
    return r;
  }
};

TEST(RowSumHostTest, EveryMixOfTypesIsOfferedOrRefusedByName) {
  test::check_types_of_x_and_y<Call>(emu().row_sum, "row_sum");
}

TEST(RowSumHostTest, RefusalsNameTheArgumentAndTouchNothing) {
  struct Case {
    std::function<void(Call&)> change;
    const char* text;
  };
  const Case cases[] = {
      {[](Call& c) { c.y.rows = 3; },
       "row_sum: x is 4 x 8 and y is 3 x 1; y needs as many rows as x and one column"},
      {[](Call& c) { c.y = {c.y.data, LK_F32, 1, 4, 4, 1}; },
       "row_sum: x is 4 x 8 and y is 1 x 4; y needs as many rows as x and one column"},
      {[](Call& c) { c.y.cols = 0; }, "row_sum: x is 4 x 8 and y is 4 x 0; y needs"},
      {[](Call& c) { c.x.rows = -1; }, "row_sum: x.rows is -1"},
      {[](Call& c) { c.x.row_stride = -8; }, "row_sum: x.row_stride is -8 with 4 rows"},
      {[](Call& c) { c.x.dtype = 0; }, "row_sum: x.dtype is 0"},
      {[](Call& c) { c.x.data = nullptr; }, "row_sum: x.data is null with 4 x 8 elements"},
      {[](Call& c) { c.x.data = static_cast<const char*>(c.x.data) + 2; },
       "which is not aligned to one element (4 bytes of f32)"},
      {[](Call& c) { c.y.row_stride = 0; }, "row_sum: y.row_stride is 0 with 4 rows"},
      {[](Call& c) { c.y.dtype = 9; }, "row_sum: y.dtype is 9"},
      {[](Call& c) { c.options.call.max_sms = -3; }, "row_sum: options.call.max_sms is -3"},
      {[](Call& c) { c.options.call.pdl = 2; }, "row_sum: options.call.pdl is 2"},
      {[](Call& c) { c.options.call.size = 4; }, "row_sum: options.call.size is 4"},
      {[](Call& c) { c.options.call.workspace_bytes = 4; },
       "row_sum: options.call.workspace is null with options.call.workspace_bytes 4"},
      // In place is not for a reduction.
      {[](Call& c) { c.y.data = c.x_memory.data(); }, "row_sum: the output y (bytes "},
      {[](Call& c) { c.y = {c.x_memory.data(), LK_F32, 4, 1, 8, 1}; }, "they must be disjoint. "},
      {[](Call& c) { c.pin = "row_sum_sm70"; },
       "row_sum: the caller's pin names 'row_sum_sm70', which is none of its kernels: row_sum_sm"},
  };
  for (const Case& k : cases) {
    Call c;
    k.change(c);
    test::expect_invalid(emu().row_sum, c(), k.text);
    EXPECT_TRUE(c.y_untouched()) << k.text;
  }
  test::check_null_views<Call>(emu().row_sum, "row_sum");
}

TEST(RowSumHostTest, NothingIsLaunchedWithoutRows) {
  const ProfileScope profile("emu80");
  for (const std::int64_t cols : {0, 8}) {
    const lk_cmatrix x{nullptr, LK_F16, 0, cols, cols, 1};
    const lk_matrix y{nullptr, LK_F32, 0, 1, 1, 1};
    const RowSumCall call{&x, &y, nullptr};
    test::expect_nothing_launched(emu().row_sum, call, "rows");
  }
}

TEST(RowSumHostTest, ARowWithoutColumnsIsZeroWhateverItsStrides) {
  const ProfileScope profile("emu80");
  for (const std::int64_t stride : {std::int64_t{0}, INT64_MAX}) {
    Call c;
    c.x = {nullptr, LK_F32, 4, 0, stride, stride};
    emu().row_sum.run(c());
    EXPECT_EQ(c.result(), std::vector<float>(4, 0.0f));
  }
}

TEST(RowSumHostTest, RunsOnEveryDevice) {
  for (const char* device : {"emu80", "emu90", "emu100", "a100", "h200", "rtx4090"}) {
    const ProfileScope profile(device);
    Call c;
    emu().row_sum.run({&c.x, &c.y, nullptr});
    EXPECT_EQ(c.result(), std::vector<float>(4, 8.0f)) << device;
    c.pin = "row_sum_sm80";
    const CallResources r = emu().row_sum.resources(c());
    EXPECT_STREQ(r.kernel, "row_sum_sm80") << device;
    EXPECT_GT(r.threads_per_cta, 0);
  }
}

TEST(RowSumHostTest, ADeviceBelow80IsUnsupported) {
  test::check_a_device_below_80<Call>(emu().row_sum, "row_sum");
}

TEST(RowSumHostTest, AnEmulatedFaultIsToldWithItsText) {
  test::check_an_emulated_fault<Call>(emu().row_sum, "row_sum");
}

TEST(RowSumHostTest, AWorkspaceServesOrIsRefused) {
  const ProfileScope profile("emu80");
  LongCall c;
  const std::size_t needed = emu().row_sum.workspace(c());
  EXPECT_GE(needed, LongCall::kCols * sizeof(float) / (32 << 10) * sizeof(float));
  EXPECT_LE(needed, 1024u);
  DeviceBuffer small(emu().device(), needed - 1), enough(emu().device(), needed);
  c.options.call.workspace = small.data();
  c.options.call.workspace_bytes = small.bytes();
  EXPECT_TRUE(is_invalid(refusal([&] { emu().row_sum.run(c()); }),
                         "row_sum: options.call.workspace_bytes is " + std::to_string(needed - 1) +
                             "; this call needs " + std::to_string(needed) +
                             " (lk_row_sum_workspace_size), or a null workspace"));
  EXPECT_TRUE(std::isnan(c.result()));
  c.options.call.workspace = static_cast<char*>(enough.data()) + 4;
  c.options.call.workspace_bytes = needed;
  EXPECT_TRUE(is_invalid(refusal([&] { emu().row_sum.run(c()); }), "an alignment of 256 bytes"));
  c.options.call.workspace = enough.data();
  EXPECT_TRUE(is_accepted(refusal([&] { emu().row_sum.run(c()); })));
  EXPECT_EQ(c.result(), float(LongCall::kCols));
  EXPECT_NE(emu().row_sum.explain(c()).find("bytes, in the caller's workspace\n"),
            std::string::npos);
  c.options.call.workspace = nullptr;
  c.options.call.workspace_bytes = 0;
  EXPECT_NE(emu().row_sum.explain(c()).find("allocated on the stream (no workspace given)\n"),
            std::string::npos);
  // Short rows need none, and take any.
  Call brief;
  EXPECT_EQ(emu().row_sum.workspace(brief()), 0u);
  brief.options.call.workspace = enough.data();
  brief.options.call.workspace_bytes = 1;
  EXPECT_TRUE(is_accepted(refusal([&] { emu().row_sum.run(brief()); })));
}

TEST(RowSumHostTest, ExplainsProblemDeviceWalkPlanAndScratch) {
  const ProfileScope profile("h200");
  Call c;
  c.options.call.max_sms = 10;
  c.pin = "row_sum_sm80";
  const std::string text = emu().row_sum.explain(c());
  for (const char* part :
       {"row_sum\nx: f32, 4 x 8, strides 8 and 1\ny: f32, 4 x 1, stride 1\ndevice: ",
        "compute capability 9.0, 10 of 132 SMs\nkernels, best first:\n",
        "  row_sum_sm80: chosen: named by the caller's pin\n",
        "plan:\n  path: 1 lane(s) a row, 128 row(s) a warp\n  launch: grid 1, block 128\n",
        "\nscratch: none\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\nin: " << text;
  }
  EXPECT_TRUE(c.y_untouched());
  const LongCall split;
  EXPECT_NE(emu().row_sum.explain(split()).find("chunks of 25600 columns"), std::string::npos);
}

// The C ABI passes everything on.
TEST(RowSumHostTest, TheCAbiIsTheSame) {
  const ProfileScope profile("emu80");
  Call c;
  ASSERT_EQ(lk_row_sum(&c.x, &c.y, &c.options, nullptr), LK_SUCCESS) << lk_last_error_message();
  EXPECT_EQ(c.result(), std::vector<float>(4, 8.0f));
  std::size_t bytes = 1, length = 0;
  EXPECT_EQ(lk_row_sum_workspace_size(&c.x, &c.y, nullptr, &bytes), LK_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(lk_row_sum_explain(&c.x, &c.y, nullptr, nullptr, 0, &length), LK_SUCCESS);
  EXPECT_EQ(length, emu().row_sum.explain({&c.x, &c.y, nullptr}).size());
  c.y.rows = 3;
  EXPECT_EQ(lk_row_sum(&c.x, &c.y, nullptr, nullptr), LK_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lk_last_error_message()).find("row_sum: x is 4 x 8"), std::string::npos);
  EXPECT_EQ(lk_preload(LK_OP_ROW_SUM), LK_SUCCESS) << lk_last_error_message();
}

}  // namespace
}  // namespace libkernels
