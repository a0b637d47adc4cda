#include "bench/model.h"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include "kernels/ptx/emu/emulator.h"

namespace libkernels::bench {
namespace {

const DeviceProperties& profile(const char* name) {
  const DeviceProperties* p = emulator::find_profile(name);
  EXPECT_NE(p, nullptr) << name;
  return *p;
}

TEST(Model, FloorReadsAndWritesEachElementOnce) {
  const Floor same = gelu_floor(1000, DType::bf16, DType::bf16);
  EXPECT_EQ(same.read_bytes, 2000);
  EXPECT_EQ(same.written_bytes, 2000);
  const Floor wide = gelu_floor(std::int64_t{1} << 33, DType::bf16, DType::f32);
  EXPECT_EQ(wide.bytes(), (std::int64_t{1} << 33) * 6);  // beyond 32 bits
}

TEST(Model, OccupancyByRegisters) {
  const DeviceProperties& h200 = profile("h200");
  const Occupancy three = occupancy({.threads = 128, .registers = 160}, h200);
  EXPECT_EQ(three.ctas_per_sm, 3);
  EXPECT_EQ(three.warps_per_sm, 12);
  EXPECT_DOUBLE_EQ(three.fraction, 12.0 / 64);
  EXPECT_EQ(three.limit, Limit::registers);
  EXPECT_EQ(occupancy({.threads = 128, .registers = 168}, h200).ctas_per_sm, 3);
  EXPECT_EQ(occupancy({.threads = 256, .registers = 128}, h200).ctas_per_sm, 2);
  // 12 warp slots by registers, 8 a CTA: 4 are stranded.
  EXPECT_EQ(occupancy({.threads = 256, .registers = 136}, h200).ctas_per_sm, 1);
  EXPECT_EQ(occupancy({.threads = 384, .registers = 168}, h200).ctas_per_sm, 1);
  EXPECT_EQ(occupancy({.threads = 1024, .registers = 64}, h200).ctas_per_sm, 1);
  EXPECT_EQ(occupancy({.threads = 1024, .registers = 65}, h200).ctas_per_sm, 0);
}

TEST(Model, OccupancyByTheOtherLimits) {
  const DeviceProperties& h200 = profile("h200");
  EXPECT_EQ(occupancy({.threads = 256}, h200).ctas_per_sm, 8);
  EXPECT_EQ(occupancy({.threads = 256}, h200).limit, Limit::warps);
  EXPECT_EQ(occupancy({.threads = 32}, h200).ctas_per_sm, 32);
  EXPECT_EQ(occupancy({.threads = 32}, h200).limit, Limit::cta_slots);
  const Occupancy smem =
      occupancy({.threads = 128, .registers = 32, .smem_bytes = 100 << 10}, h200);
  EXPECT_EQ(smem.ctas_per_sm, 2);
  EXPECT_EQ(smem.limit, Limit::shared_memory);
  EXPECT_EQ(occupancy({.threads = 128, .smem_bytes = 228 << 10}, h200).ctas_per_sm, 0);
  EXPECT_EQ(occupancy({.threads = 2048}, h200).ctas_per_sm, 0);
  EXPECT_EQ(occupancy({.threads = 0}, h200).ctas_per_sm, 0);
}

TEST(Model, MostRegistersLetOneCtaStart) {
  const DeviceProperties& h200 = profile("h200");
  EXPECT_EQ(most_registers(128, h200), 255);
  EXPECT_EQ(most_registers(256, h200), 255);
  EXPECT_EQ(most_registers(1024, h200), 64);
  for (int threads = 32; threads <= 1024; threads += 32) {
    const int most = most_registers(threads, h200);
    EXPECT_GE(occupancy({.threads = threads, .registers = most}, h200).ctas_per_sm, 1) << threads;
    if (most < 255) {
      EXPECT_EQ(occupancy({.threads = threads, .registers = most + 1}, h200).ctas_per_sm, 0);
    }
  }
}

// The vendor's calculator as the second opinion.
int vendor_ctas_per_sm(const CtaResources& cta, const DeviceProperties& p) {
  cudaOccDeviceProp device;
  device.computeMajor = p.cc_major;
  device.computeMinor = p.cc_minor;
  device.maxThreadsPerBlock = p.max_threads_per_cta;
  device.maxThreadsPerMultiprocessor = p.max_threads_per_sm;
  device.regsPerBlock = p.registers_per_sm;
  device.regsPerMultiprocessor = p.registers_per_sm;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = p.smem_per_sm;
  device.numSms = p.sm_count;
  device.sharedMemPerBlockOptin = p.smem_per_cta_optin;
  device.reservedSharedMemPerBlock = 1024;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = p.max_threads_per_cta;
  kernel.numRegs = cta.registers;
  kernel.sharedSizeBytes = 0;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = p.smem_per_cta_optin;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, cta.threads,
                                              cta.smem_bytes) != CUDA_OCC_SUCCESS) {
    return -1;
  }
  return result.activeBlocksPerMultiprocessor;
}

TEST(Model, OccupancyAgreesWithTheVendorsCalculator) {
  for (const char* name : {"a100", "rtx3090", "rtx4090", "h200", "b200"}) {
    for (const int threads : {32, 64, 96, 128, 160, 256, 384, 512, 768, 1024}) {
      for (int registers = 16; registers <= 255; registers += 7) {
        for (const std::size_t smem : {0, 1, 1000, 16 << 10, 48 << 10, 99 << 10}) {
          const CtaResources cta{.threads = threads, .registers = registers, .smem_bytes = smem};
          ASSERT_EQ(occupancy(cta, profile(name)).ctas_per_sm,
                    vendor_ctas_per_sm(cta, profile(name)))
              << name << " threads " << threads << " registers " << registers << " smem " << smem;
        }
      }
    }
  }
}

TEST(Model, WavesRoundUp) {
  EXPECT_EQ(waves(160, 1, 148), 2);
  EXPECT_EQ(waves(148, 1, 148), 1);
  EXPECT_EQ(waves(149, 1, 148), 2);
  EXPECT_EQ(waves(1, 8, 132), 1);
  EXPECT_EQ(waves(0, 8, 132), 0);
  EXPECT_EQ(waves(std::int64_t{1} << 33, 8, 128), std::int64_t{1} << 23);
  EXPECT_EQ(waves(10, 0, 132), 0);  // does not fit: no number of waves
}

TEST(Model, RooflineIsTheLargerFloor) {
  const auto gpus = datasheets();
  ASSERT_EQ(gpus.size(), 4u);
  EXPECT_DOUBLE_EQ(roofline_seconds(4.8e12, 0, gpus[2]), 1.0);
  EXPECT_DOUBLE_EQ(roofline_seconds(1, 989e12, gpus[2]), 1.0);
  for (const Datasheet& gpu : gpus) EXPECT_GT(roofline_seconds(1, 1, gpu), 0);
}

}  // namespace
}  // namespace libkernels::bench
