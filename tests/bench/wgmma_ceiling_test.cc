// The wgmma ceiling does the FLOPs that it says. Cost: 1 s emulated.
#include "bench/wgmma_ceiling.h"

#include <gtest/gtest.h>

#include "kernels/ptx/emu/emulator.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"

namespace libkernels {
namespace test {
namespace {

TEST(WgmmaCeiling, CountsItsFlops) {
  const SettingsScope keep;
  const ProfileScope profile("emu90");
  emulator::settings().count = true;
  for (const auto& c : emu::bench_device::wgmma_ceilings()) {
    DeviceBuffer sink(emu_device(), 4);
    emulator::reset_counters();
    require(emu_device(), c.launch(static_cast<std::uint32_t*>(sink.data()), 2, 3, nullptr),
            c.name);
    EXPECT_EQ(double(emulator::counters().mma_flops), c.flops(2, 3)) << c.name;
    EXPECT_EQ(emulator::counters().global_bytes_written, 0u) << c.name;
  }
}

}  // namespace
}  // namespace test
}  // namespace libkernels
