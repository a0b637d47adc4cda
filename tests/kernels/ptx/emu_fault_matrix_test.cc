// Broken kernels around cp.async, ldmatrix and mma.sync: see emu_fault_test.cc.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_fault_fixture.h"

namespace libkernels::test {
namespace {

const std::vector<Expected>& matrix_expectations() {
  static const std::vector<Expected> all = {
      {"copy_not_waited",
       cudaErrorLaunchFailure,
       true,
       {"read of 4 bytes at offset 4 of shared memory", "the destination of a cp.async of 16 bytes",
        "thread (0, 0, 0) has issued and committed but not waited for",
        "expected cp.async.wait_group or cp.async.wait_all before it", "thread (0, 0, 0)"}},
      {"copy_not_committed",
       cudaErrorLaunchFailure,
       true,
       {"destination of a cp.async", "thread (0, 0, 0) has issued but not committed to a group"}},
      {"wait_group_of_too_many",
       cudaErrorLaunchFailure,
       true,
       {"read of 4 bytes at offset 2052", "cp.async of 16 bytes at offset 2048",
        "committed but not waited for"}},
      {"copy_without_barrier",
       cudaErrorLaunchFailure,
       true,
       {"race on shared memory: read of 4 bytes at offset 4",
        "after a write by CTA (0, 0, 0), thread (0, 0, 0)", "expected __syncwarp()",
        "thread (1, 0, 0)"}},
      {"barrier_before_wait",
       cudaErrorLaunchFailure,
       true,
       {"cp.async of 16 bytes at offset 1008 that thread (63, 0, 0) has issued and committed",
        "by that thread, and a CTA barrier", "thread (127, 0, 0)"}},
      {"copy_over_copy",
       cudaErrorLaunchFailure,
       false,
       {"write of 16 bytes at offset 0 of shared memory", "destination of a cp.async of 16 bytes",
        "thread (0, 0, 0)"}},
      {"store_over_copy",
       cudaErrorLaunchFailure,
       true,
       {"write of 4 bytes at offset 12", "destination of a cp.async of 16 bytes at offset 0"}},
      {"copy_over_readers",
       cudaErrorLaunchFailure,
       true,
       {"race on shared memory: write of 16 bytes at offset 1552",
        "after a read by CTA (0, 0, 0), thread (96, 0, 0)"}},
      {"source_written_in_flight",
       cudaErrorLaunchFailure,
       false,
       {"the source of a cp.async of 4 bytes", "has been written before the copy was waited for",
        "thread (0, 0, 0)"}},
      {"copy_from_misaligned",
       cudaErrorMisalignedAddress,
       false,
       {"misaligned: cp.async.cg of 16 bytes", "expected multiples of 16", "thread (0, 0, 0)"}},
      {"copy_to_misaligned",
       cudaErrorMisalignedAddress,
       false,
       {"misaligned: cp.async.ca of 8 bytes", "expected multiples of 8", "thread (0, 0, 0)"}},
      {"src_size_too_large",
       cudaErrorLaunchFailure,
       false,
       {"cp.async.cg of 16 bytes with src_size 17; expected at most 16"}},
      {"copy_source_past_end",
       cudaErrorIllegalAddress,
       false,
       {"out of bounds: read of 1 bytes", "thread (32, 0, 0)"}},
      {"copy_past_shared",
       cudaErrorIllegalAddress,
       false,
       {"out of bounds: write of 16 bytes at offset 4096 of shared memory", "thread (127, 0, 0)"}},
      {"copy_to_global",
       cudaErrorIllegalAddress,
       false,
       {"cp.async.cg to 0x", "expected the CTA's shared memory"}},
      {"copy_from_shared",
       cudaErrorIllegalAddress,
       false,
       {"read of 16 bytes of shared memory through ld/st.global"}},
      {"row_misaligned",
       cudaErrorMisalignedAddress,
       false,
       {"misaligned: ldmatrix of a row at 0x", "expected a multiple of 16", "thread (13, 0, 0)"}},
      {"row_of_global", cudaErrorIllegalAddress, false, {"expected the CTA's shared memory"}},
      {"row_without_barrier",
       cudaErrorLaunchFailure,
       true,
       {"race on shared memory: read of 16 bytes", "expected a CTA barrier"}},
      {"row_uninitialised",
       cudaErrorLaunchFailure,
       true,
       {"uninitialised shared memory: read of 16 bytes at offset 1120", "thread (70, 0, 0)"}},
      {"row_in_flight",
       cudaErrorLaunchFailure,
       false,
       {"read of 16 bytes at offset 0 of shared memory", "destination of a cp.async of 16 bytes"}},
      {"lane_misses_ldmatrix",
       cudaErrorLaunchFailure,
       false,
       {"lane 9 exited, but is missing in ldmatrix with membermask 0xffffffff",
        "lanes 0-8 wait; expected every lane of the mask"}},
      {"lane_misses_mma",
       cudaErrorLaunchFailure,
       false,
       {"lane 31 exited, but is missing in mma.sync", "lanes 0-30 wait"}},
      {"half_warps_multiply", cudaErrorLaunchFailure, false, {"mma.sync", "expected all lanes of"}},
      {"mma_against_shfl",
       cudaErrorLaunchFailure,
       false,
       {"shfl.sync.idx", "lanes 0-29 wait in mma.sync", "thread (30, 0, 0)"}},
  };
  return all;
}

class MatrixFault : public Fault {};

TEST_P(MatrixFault, IsReportedAndItsTwinRuns) {
  expect_reported(find_case(test_faults::matrix_cases(), GetParam().name), GetParam());
}
TEST_P(MatrixFault, IsReportedInEveryOrder) {
  expect_reported_in_every_order(find_case(test_faults::matrix_cases(), GetParam().name));
}
INSTANTIATE_TEST_SUITE_P(, MatrixFault, testing::ValuesIn(matrix_expectations()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MatrixFaults, EveryBrokenKernelIsTested) {
  expect_all_tested(test_faults::matrix_cases(), matrix_expectations());
}

// ---- Not mistakes of a kernel's text ----------------------------------------------------------

struct Sum {
  float* out;
};
void multiply_kernel(Sum s) {
  const std::uint32_t a[4] = {}, b[2] = {};
  float d[4] = {1, 1, 1, 1};
  ptx::mma_sync<16, 8, 16, ptx::MmaType::f16>(d, a, b, d);
  s.out[threadIdx.x] = d[0];
}

TEST(MatrixFaults, WarpsAreWhole) {
  const FaultMemory memory(1);
  const Sum sum{memory.params().data};
  const auto run = [&](unsigned threads) {
    return ptx::launch(&multiply_kernel, {.grid = dim3(1), .block = dim3(threads)}, nullptr, sum);
  };
  EXPECT_EQ(run(64), cudaSuccess) << emulator::last_fault();
  EXPECT_EQ(run(48), cudaErrorLaunchFailure);
  EXPECT_NE(emulator::last_fault().find("mma.sync in a warp of fewer than 32 threads"),
            std::string::npos)
      << emulator::last_fault();
}

// A thread may exit with copies under way: nobody can use their bytes, and the next CTA and the
// next launch find nothing of them.
struct Row {
  float4 v[32];
};
void leaving_kernel(FaultParams p) {
  auto& row = ptx::dynamic_smem<Row>();
  if (p.zero == 0) {
    ptx::cp_async_cg_shared_global(&row.v[threadIdx.x], p.input);
    return;
  }
  ptx::st_shared(reinterpret_cast<std::uint32_t*>(&row.v[threadIdx.x]), 1u);
}

TEST(MatrixFaults, CopiesMayOutliveTheirThread) {
  const FaultMemory memory(1);
  FaultParams p = memory.params();
  for (const int zero : {0, 1, 0}) {
    p.zero = zero;
    EXPECT_EQ(ptx::launch(&leaving_kernel,
                          {.grid = dim3(20), .block = dim3(32), .smem = sizeof(Row)}, nullptr, p),
              cudaSuccess)
        << emulator::last_fault();
  }
}

}  // namespace
}  // namespace libkernels::test
