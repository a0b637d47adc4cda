// The walk down a table, on fake devices with fake kernels.
#include "src/dispatch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "include/libkernels/arch.h"
#include "tests/support/backends.h"
#include "tests/support/refusal.h"

namespace libkernels {
namespace {

using test::is_accepted;
using test::is_cuda_error;
using test::is_invalid;
using test::is_unsupported;
using test::refusal;

struct FakeProblem {
  bool unit_stride = true;
  std::size_t scratch = 0;
  cudaError_t launch_error = cudaSuccess;
};

// What the last fake launch was given.
struct Seen {
  const char* kernel = nullptr;
  int max_sms = 0;
  bool pdl = false;
  void* workspace = nullptr;
  cudaStream_t stream = nullptr;
} seen;

const char* supports_all(const FakeProblem&, const DeviceProperties&) { return nullptr; }
const char* supports_unit_stride(const FakeProblem& p, const DeviceProperties&) {
  return p.unit_stride ? nullptr : "needs a unit column stride";
}
std::string describe(const FakeProblem&, const LaunchContext& c) {
  return "a plan for " + std::to_string(c.max_sms) + " SMs\nin two lines\n";
}
std::size_t scratch(const FakeProblem& p, const DeviceProperties&) { return p.scratch; }
cudaError_t resources(const FakeProblem&, KernelResources* out) {
  *out = {.threads_per_cta = 128,
          .registers = 40,
          .registers_exact = true,
          .smem_bytes = 1024,
          .local_bytes = 0};
  return cudaSuccess;
}
cudaError_t preload() { return cudaSuccess; }

template <int N>
cudaError_t launch_fake(const FakeProblem& p, const LaunchContext& c) {
  static constexpr const char* kNames[] = {"fake_sm100", "fake_sm90", "fake_sm80"};
  seen = {kNames[N], c.max_sms, c.pdl, c.workspace, c.stream};
  return p.launch_error;
}

using Row = KernelRow<FakeProblem>;
constexpr Row kSm100{"fake_sm100", Arch::sm100, supports_all, launch_fake<0>,
                     describe,     scratch,     resources,    preload};
constexpr Row kSm90{"fake_sm90",    Arch::sm90, supports_unit_stride,
                    launch_fake<1>, describe,   scratch,
                    resources,      preload};
constexpr Row kSm80{"fake_sm80", Arch::sm80, supports_all, launch_fake<2>,
                    describe,    scratch,    resources,    preload};
constexpr std::array<const Row*, 3> kRows{&kSm100, &kSm90, &kSm80};
const KernelTable<FakeProblem> kFakes{kRows};

DeviceProperties fake_device(int major, int minor) {
  DeviceProperties p;
  std::strcpy(p.name, "Fake");
  p.cc_major = major;
  p.cc_minor = minor;
  p.sm_count = 100;
  return p;
}

std::string chosen(int major, int minor, const FakeProblem& problem = {}, const Pin& pin = {}) {
  return choose_pinned(LK_OP_GELU, kFakes, problem, fake_device(major, minor), pin, nullptr).name;
}

TEST(DispatchTest, EachDeviceGetsItsGeneration) {
  EXPECT_EQ(chosen(8, 0), "fake_sm80");
  EXPECT_EQ(chosen(8, 6), "fake_sm80");
  EXPECT_EQ(chosen(8, 9), "fake_sm80");
  EXPECT_EQ(chosen(9, 0), "fake_sm90");
  EXPECT_EQ(chosen(10, 0), "fake_sm100");
  EXPECT_EQ(chosen(10, 3), "fake_sm100");
  EXPECT_EQ(chosen(11, 0), "fake_sm80");
  EXPECT_EQ(chosen(12, 0), "fake_sm80");
}

TEST(DispatchTest, ADeviceOlderThanEveryKernelIsRefusedWithEachReason) {
  const auto r = refusal([] { chosen(7, 5); });
  EXPECT_TRUE(
      is_unsupported(r, "gelu: no kernel can run this call on Fake (compute capability 7.5)"));
  EXPECT_TRUE(
      is_unsupported(r, "fake_sm100: skipped: sm100 kernels do not run on compute capability 7.5"));
  EXPECT_TRUE(
      is_unsupported(r, "fake_sm80: skipped: sm80 kernels do not run on compute capability 7.5"));
}

TEST(DispatchTest, AKernelThatCannotIsSkippedWithItsReason) {
  std::string walk;
  const auto* row =
      &choose_pinned(LK_OP_GELU, kFakes, {.unit_stride = false}, fake_device(9, 0), {}, &walk);
  EXPECT_STREQ(row->name, "fake_sm80");
  EXPECT_EQ(walk,
            "  fake_sm100: skipped: sm100 kernels do not run on compute capability 9.0\n"
            "  fake_sm90: skipped: needs a unit column stride\n"
            "  fake_sm80: chosen\n");
  walk.clear();
  choose_pinned(LK_OP_GELU, kFakes, {}, fake_device(9, 0), {}, &walk);
  EXPECT_NE(walk.find("fake_sm90: chosen\n  fake_sm80: not needed\n"), std::string::npos) << walk;
}

TEST(DispatchTest, APinRunsOrFailsLoudly) {
  const Pin sm80{"fake_sm80", "the caller's pin"};
  EXPECT_EQ(chosen(9, 0, {}, sm80), "fake_sm80");
  const Pin sm90{"fake_sm90", "LIBKERNELS_FORCE"};
  EXPECT_TRUE(is_unsupported(refusal([&] { chosen(8, 0, {}, sm90); }),
                             "gelu: fake_sm90 (LIBKERNELS_FORCE) cannot run this call on Fake"));
  EXPECT_TRUE(is_unsupported(refusal([&] { chosen(9, 0, {.unit_stride = false}, sm90); }),
                             "fake_sm90: skipped: needs a unit column stride"));
  EXPECT_TRUE(is_invalid(refusal([&] {
                           chosen(9, 0, {}, {"gelu", "the caller's pin"});
                         }),
                         "gelu: the caller's pin names 'gelu', which is none of its kernels: "
                         "fake_sm100, fake_sm90, fake_sm80"));
  std::string walk;
  choose_pinned(LK_OP_GELU, kFakes, {}, fake_device(9, 0), sm80, &walk);
  EXPECT_EQ(walk,
            "  fake_sm100: not looked at: the caller's pin names fake_sm80\n"
            "  fake_sm90: not looked at: the caller's pin names fake_sm80\n"
            "  fake_sm80: chosen: named by the caller's pin\n");
}

TEST(DispatchTest, AnEmptyTableIsRefused) {
  EXPECT_TRUE(is_unsupported(refusal([] {
                               choose_pinned(LK_OP_MATMUL, KernelTable<FakeProblem>{}, {},
                                             fake_device(9, 0), {}, nullptr);
                             }),
                             "matmul: no kernel can run this call"));
}

// ---- Launching --------------------------------------------------------------------------------

void launch_with(const lk_call_options& options, const FakeProblem& problem = {}, int major = 9) {
  seen = {};
  launch(LK_OP_GELU, kSm90, problem, fake_device(major, 0), options,
         reinterpret_cast<cudaStream_t>(0x30));
}

TEST(DispatchLaunchTest, ContextFollowsTheOptions) {
  launch_with({});
  EXPECT_STREQ(seen.kernel, "fake_sm90");
  EXPECT_EQ(seen.max_sms, 100);
  EXPECT_FALSE(seen.pdl);
  EXPECT_EQ(seen.workspace, nullptr);
  EXPECT_EQ(seen.stream, reinterpret_cast<cudaStream_t>(0x30));
  launch_with({.size = 0, .max_sms = 7, .pdl = 1, .workspace = nullptr, .workspace_bytes = 0});
  EXPECT_EQ(seen.max_sms, 7);
  EXPECT_TRUE(seen.pdl);
  launch_with({.size = 0, .max_sms = 101, .pdl = 1, .workspace = nullptr, .workspace_bytes = 0}, {},
              8);
  EXPECT_EQ(seen.max_sms, 100);
  EXPECT_FALSE(seen.pdl) << "dependent launches begin with 9.0";
}

TEST(DispatchLaunchTest, ScratchIsTheCallersOrComesFromTheStream) {
  lk_call_options own{};
  own.workspace = reinterpret_cast<void*>(0x1000);
  own.workspace_bytes = 4096;
  launch_with(own, {.scratch = 4096});
  EXPECT_EQ(seen.workspace, own.workspace);
  EXPECT_TRUE(is_invalid(refusal([&] { launch_with(own, {.scratch = 4097}); }),
                         "options.call.workspace_bytes is 4096; this call needs 4097"));
  EXPECT_EQ(seen.kernel, nullptr) << "nothing may be launched";

  launch_with({}, {.scratch = 4096});
  ASSERT_NE(seen.workspace, nullptr);
  Device::PointerInfo info;
  ASSERT_EQ(device().pointer_info(seen.workspace, &info), cudaSuccess);
  EXPECT_FALSE(info.device_accessible) << "released after the launch";
}

TEST(DispatchLaunchTest, AFailedLaunchNamesTheKernel) {
  EXPECT_TRUE(is_cuda_error(
      refusal([] { launch_with({}, {.launch_error = cudaErrorInvalidConfiguration}); }),
      "gelu: launching fake_sm90 failed: cudaErrorInvalidConfiguration"));
}

TEST(DispatchLaunchTest, ResourcesCarryTheKernelsName) {
  const CallResources r = call_resources(LK_OP_GELU, kSm80, FakeProblem{});
  EXPECT_STREQ(r.kernel, "fake_sm80");
  EXPECT_EQ(r.registers, 40);
  EXPECT_TRUE(r.registers_exact);
}

TEST(DispatchLaunchTest, ThePlanIsIndentedWhateverItsLastLineEndsWith) {
  EXPECT_EQ(describe_plan("one\n\ntwo"), "plan:\n  one\n  two\n");
  const test::ProfileScope profile("emu90");
  const std::string text =
      explain_dispatch(LK_OP_GELU, kFakes, FakeProblem{.scratch = 64}, {}, "fake_sm80");
  EXPECT_NE(text.find("6 of 6 SMs\nkernels, best first:\n  fake_sm100: "), std::string::npos)
      << text;
  EXPECT_NE(text.find("plan:\n  a plan for 6 SMs\n  in two lines\nscratch: 64 bytes, allocated"),
            std::string::npos)
      << text;
}

TEST(DispatchLaunchTest, ScratchIsExplained) {
  lk_call_options o{};
  EXPECT_EQ(describe_scratch(o, 0), "scratch: none\n");
  EXPECT_EQ(describe_scratch(o, 64),
            "scratch: 64 bytes, allocated on the stream (no workspace given)\n");
  o.workspace = reinterpret_cast<void*>(0x1000);
  EXPECT_EQ(describe_scratch(o, 64), "scratch: 64 bytes, in the caller's workspace\n");
}

// ---- LIBKERNELS_FORCE -------------------------------------------------------------------------

constexpr lk_kernel_info kKnown[] = {
    {"gelu_sm90", LK_OP_GELU, 90, "emu"},
    {"gelu_sm80", LK_OP_GELU, 80, "emu"},
    {"softmax_sm80", LK_OP_SOFTMAX, 80, "emu"},
};

TEST(ForceTest, TouchesOnlyTheOperationsItNames) {
  const ForceList one("gelu_sm80", kKnown);
  EXPECT_EQ(one.row(LK_OP_GELU), "gelu_sm80");
  EXPECT_EQ(one.row(LK_OP_SOFTMAX), "");
  const ForceList two(" softmax_sm80 ,gelu_sm90, ", kKnown);
  EXPECT_EQ(two.row(LK_OP_GELU), "gelu_sm90");
  EXPECT_EQ(two.row(LK_OP_SOFTMAX), "softmax_sm80");
  for (const char* nothing : {"", " ", ",", " , ,"}) {
    EXPECT_EQ(ForceList(nothing, kKnown).row(LK_OP_GELU), "");
  }
  EXPECT_EQ(ForceList("gelu_sm80,gelu_sm80", kKnown).row(LK_OP_GELU), "gelu_sm80");
}

TEST(ForceTest, UnknownAndContradictoryNamesFailLoudly) {
  EXPECT_TRUE(
      is_invalid(refusal([] { ForceList("gelu_sm80,gelu_sm70", kKnown); }),
                 "LIBKERNELS_FORCE names 'gelu_sm70', which is no kernel of this build; the "
                 "kernels are gelu_sm90, gelu_sm80, softmax_sm80"));
  EXPECT_TRUE(is_invalid(refusal([] { ForceList("gelu sm80", kKnown); }), "'gelu sm80'"));
  EXPECT_TRUE(is_invalid(refusal([] { ForceList("gelu_sm80,gelu_sm90", kKnown); }),
                         "LIBKERNELS_FORCE names both gelu_sm80 and gelu_sm90 for gelu"));
}

}  // namespace
}  // namespace libkernels
