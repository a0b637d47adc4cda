// Arithmetic out of registers: how many FLOPs a second the units deliver when nothing has to be
// fetched. No product is expected to be faster than the best of its kind.
//
// Traffic: none. Operands differ between lanes and are no round numbers: zeros would need less
// power and clock higher. Each warp has enough independent accumulators to cover the latency.
#include "bench/device_tables.h"
#include "kernels/common/storage.cuh"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace {

constexpr int kThreads = 256;

struct MathParams {
  std::uint32_t* sink;
  int iterations;
  float never;  // what no sum of the results equals
};

// Between 0.5 and 1, another value in each lane.
LK_DEVICE float lane_value(int salt) {
  const unsigned mixed = (threadIdx.x * 2654435761u) ^ (unsigned(salt) * 40503u + blockIdx.x);
  return 0.5f + float(mixed & 0xffffu) * (0.5f / 65536.0f);
}

// Two of them as a pair of bf16.
LK_DEVICE std::uint32_t lane_bf16x2(int salt) {
  const float pair[2] = {lane_value(salt), lane_value(salt + 1)};
  return Storage<DType::bf16>::pack(pair);
}

// ---- fp32 FMA -----------------------------------------------------------------------------------

constexpr int kFmaChains = 16;
constexpr int kFmaCtasPerSm = 4;

__global__ void __launch_bounds__(kThreads, kFmaCtasPerSm) fma_f32_kernel(MathParams p) {
  float acc[kFmaChains];
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) acc[i] = lane_value(i);
  const float a = lane_value(101), b = lane_value(102);  // acc tends to b / (1 - a)
  for (int n = 0; n < p.iterations; ++n) {
#pragma unroll
    for (int i = 0; i < kFmaChains; ++i) acc[i] = fmaf(acc[i], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) sum += acc[i];
  if (sum == p.never) ptx::st_global(p.sink, 1u);
}

double fma_f32_flops(const bench::MathCall& call) {
  return 2.0 * kFmaChains * kThreads * kFmaCtasPerSm * call.properties->sm_count * call.iterations;
}

template <int kCtasPerSm>
cudaError_t launch(void (*kernel)(MathParams), const bench::MathCall& call) {
  return ptx::launch(
      kernel,
      {.grid = dim3(unsigned(kCtasPerSm * call.properties->sm_count)), .block = dim3(kThreads)},
      call.stream, MathParams{.sink = call.sink, .iterations = call.iterations, .never = -1.0f});
}

cudaError_t launch_fma_f32(const bench::MathCall& call) {
  return launch<kFmaCtasPerSm>(&fma_f32_kernel, call);
}

// ---- mma.sync -----------------------------------------------------------------------------------

constexpr int kMmaM = 16, kMmaN = 8, kMmaK = 16;
constexpr int kMmaCtasPerSm = 2;
constexpr int kFragments = 4;  // of A and of B: each pair has an accumulator of its own

__global__ void __launch_bounds__(kThreads, kMmaCtasPerSm) mma_bf16_kernel(MathParams p) {
  std::uint32_t a[kFragments][4], b[kFragments][2];
  float acc[kFragments][kFragments][4];
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int r = 0; r < 4; ++r) a[i][r] = lane_bf16x2(8 * i + 2 * r);
#pragma unroll
    for (int r = 0; r < 2; ++r) b[i][r] = lane_bf16x2(64 + 4 * i + 2 * r) ^ 0x80000000u;
#pragma unroll
    for (int j = 0; j < kFragments; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) acc[i][j][r] = 0;
    }
  }
  for (int n = 0; n < p.iterations; ++n) {
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
#pragma unroll
      for (int j = 0; j < kFragments; ++j) {
        ptx::mma_sync<kMmaM, kMmaN, kMmaK, ptx::MmaType::bf16>(acc[i][j], a[i], b[j], acc[i][j]);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j) {
#pragma unroll
      for (int r = 0; r < 4; ++r) sum += acc[i][j][r];
    }
  }
  if (sum == p.never) ptx::st_global(p.sink, 1u);
}

double mma_bf16_flops(const bench::MathCall& call) {
  constexpr double kOneMma = 2.0 * kMmaM * kMmaN * kMmaK;
  return kOneMma * kFragments * kFragments * (kThreads / 32) * kMmaCtasPerSm *
         call.properties->sm_count * call.iterations;
}

cudaError_t launch_mma_bf16(const bench::MathCall& call) {
  return launch<kMmaCtasPerSm>(&mma_bf16_kernel, call);
}

}  // namespace

std::span<const bench::MathKernel> math_kernels() {
  static const bench::MathKernel kKernels[] = {
      {.name = "fma_f32_c16",
       .unit = "fma f32",
       .cc_major = 8,
       .cc_major_last = 99,
       .flops = &fma_f32_flops,
       .launch = &launch_fma_f32},
      {.name = "mma_m16n8k16_bf16_c16",
       .unit = "mma.sync bf16",
       .cc_major = 8,
       .cc_major_last = 99,
       .flops = &mma_bf16_flops,
       .launch = &launch_mma_bf16},
  };
  return kKernels;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
