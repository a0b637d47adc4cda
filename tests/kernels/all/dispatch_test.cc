// Which kernel each operation takes on each device, emulated profiles and made-up ones: the cases
// of kind H that need no GPU. Cost: 0.8 s emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/kernels/all/any_call.h"
#include "tests/support/refusal.h"

namespace libkernels::test {
namespace {

// A device of no profile: the limits of a compute capability, as CUDA's tables give them.
DeviceProperties made_up(int major, int minor, int smem_per_sm_kib, int threads_per_sm) {
  DeviceProperties p = *emulator::find_profile("a100");
  std::snprintf(p.name, sizeof(p.name), "made-up %d.%d", major, minor);
  p.cc_major = major;
  p.cc_minor = minor;
  p.sm_count = 20;
  p.max_threads_per_sm = threads_per_sm;
  p.smem_per_sm = std::size_t(smem_per_sm_kib) << 10;
  p.smem_per_cta_optin = p.smem_per_sm - 1024;
  return p;
}

std::vector<DeviceProperties> devices() {
  std::vector<DeviceProperties> all = emulator::profiles();
  all.push_back(made_up(8, 7, 164, 1536));
  all.push_back(made_up(10, 1, 228, 1536));
  all.push_back(made_up(11, 0, 228, 1536));
  all.push_back(made_up(12, 1, 100, 1536));
  return all;
}

// Every step of the ladders, skinny and square, aligned and not.
std::vector<AnyShape> shapes() {
  std::vector<AnyShape> all;
  for (const auto& [rows, cols, depth] :
       {std::tuple{1, 1, 1}, std::tuple{64, 64, 64}, std::tuple{3, 1000, 64},
        std::tuple{500, 500, 500}, std::tuple{1793, 1793, 1793}, std::tuple{8192, 8192, 8192},
        std::tuple{7, 30000, 20}, std::tuple{16, 57344, 7}, std::tuple{1, 131072, 4096},
        std::tuple{1 << 20, 5, 1 << 20}, std::tuple{2, 1 << 24, 3}}) {
    for (const bool columns : {false, true}) {
      for (const std::int64_t offset : {0, 1}) {
        all.push_back(
            {.rows = rows, .cols = cols, .depth = depth, .columns = columns, .offset = offset});
      }
    }
  }
  return all;
}

const lk_kernel_info& info_of(const char* name) {
  for (const lk_kernel_info& info : emu_backend().kernels()) {
    if (std::string(info.name) == name) return info;
  }
  throw std::runtime_error(std::string("not in the registry: ") + name);
}

// f(device, kernel's info, its resources) for each device, type and shape.
template <class F>
void for_each_choice(const F& f) {
  for (const DeviceProperties& device : devices()) {
    const ProfileScope profile(device);
    for (const AnyTypes& types : all_types()) {
      for (const AnyShape& shape : shapes()) {
        SCOPED_TRACE(std::string(device.name) + " " + show(types) + " " + show(shape));
        const CallResources r = far_views(types, shape).resources(emu_backend());
        f(device, info_of(r.kernel), r);
      }
    }
  }
}

TEST(DispatchOfAll, H1SharedMemoryThreadsAndRegistersAreWithinEveryDevice) {
  for_each_choice([](const DeviceProperties& d, const lk_kernel_info&, const CallResources& r) {
    ASSERT_LE(r.smem_bytes, d.smem_per_cta_optin) << r.kernel;
    ASSERT_LE(r.threads_per_cta, d.max_threads_per_cta) << r.kernel;
    ASSERT_LE(r.threads_per_cta * r.registers, d.registers_per_sm) << r.kernel;
  });
}

// H1, with the launches, which the emulator refuses beyond the device's limit.
TEST(DispatchOfAll, H1LaunchesWithin99Kilobytes) {
  for (const char* name : {"rtx3090", "rtx4090", "rtx5090"}) {
    const ProfileScope profile(name);
    for (const AnyTypes& types : all_types()) {
      SCOPED_TRACE(std::string(name) + " " + show(types));
      const bool row_wise = types.op == LK_OP_SOFTMAX || types.op == LK_OP_ROW_SUM;
      AnyCall call(emu_backend(), types,
                   row_wise ? AnyShape{.rows = 1, .cols = 30000}
                            : AnyShape{.rows = 65, .cols = 70, .depth = 33},
                   1);
      ASSERT_NO_THROW(call.run());
      EXPECT_TRUE(call.right());
    }
  }
}

// H3, H4: one function says which generation runs where, and every device from 8.0 on is served.
TEST(DispatchOfAll, H3H4EveryDeviceTakesAKernelThatItCanLoad) {
  for_each_choice([](const DeviceProperties& d, const lk_kernel_info& k, const CallResources&) {
    ASSERT_TRUE(runs_on(Arch(k.arch), d.cc_major, d.cc_minor)) << k.name;
  });
}

// H4: the results there, all ones and integers.
TEST(DispatchOfAll, H4ResultsWhereCapabilitiesAreEasilyMistaken) {
  for (const DeviceProperties& device : devices()) {
    const bool plain = device.cc_minor == 0 && device.cc_major < 11;
    if (plain) continue;
    const ProfileScope profile(device);
    for (const AnyTypes& types : all_types()) {
      SCOPED_TRACE(std::string(device.name) + " " + show(types));
      AnyCall call(emu_backend(), types, {.rows = 17, .cols = 20, .depth = 40}, 1);
      ASSERT_NO_THROW(call.run());
      EXPECT_TRUE(call.right());
    }
  }
}

// H5: 11.0 and 12.x have neither wgmma nor tcgen05.
TEST(DispatchOfAll, H5NewerDevicesWithoutTensorMemoryTakeThePortableKernels) {
  int seen = 0;
  for_each_choice([&](const DeviceProperties& d, const lk_kernel_info& k, const CallResources&) {
    if (d.cc_major < 11) return;
    ASSERT_EQ(k.arch, 80) << k.name;
    ++seen;
  });
  EXPECT_GT(seen, 0);
}

// H3: below 8.0 nothing was built, and the call says so.
TEST(DispatchOfAll, H3OlderDevicesAreRefusedByName) {
  const ProfileScope profile(made_up(7, 5, 64, 1024));
  for (const AnyTypes& types : all_types()) {
    AnyCall call(emu_backend(), types, {.rows = 4, .cols = 8, .depth = 8}, 1);
    const Refusal r = refusal([&] { call.run(); });
    EXPECT_TRUE(is_unsupported(r, op_name(types.op) + ": no kernel can run this call on made-up"));
    EXPECT_TRUE(is_unsupported(r, "sm80 kernels do not run on compute capability 7.5"));
    EXPECT_NE(call.result()[0], 0u) << "the output was written";
  }
}

// H7: a device's SMs are its own, asked for in every call.
TEST(DispatchOfAll, H7TheNumberOfSmsIsTheCurrentDevices) {
  for (const AnyTypes& types : all_types()) {
    const AnyViews views = far_views(types, {.rows = 4096, .cols = 4096, .depth = 64});
    for (const char* name : {"h200", "emu90", "a100", "h200"}) {
      const ProfileScope profile(name);
      const std::string sms = std::to_string(emulator::current_profile().sm_count);
      const std::string text = views.explain(emu_backend());
      EXPECT_NE(text.find(sms + " of " + sms + " SMs"), std::string::npos) << text;
      const std::string capped = views.explain(emu_backend(), {.max_sms = 1});
      EXPECT_NE(capped.find("1 of " + sms + " SMs"), std::string::npos) << capped;
    }
  }
}

}  // namespace
}  // namespace libkernels::test
