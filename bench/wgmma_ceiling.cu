// wgmma out of shared memory that is filled once: two warpgroups an SM, each with its 64 rows of A
// and all of B, the largest shape, groups of four products with one in flight.
//
// Traffic: none. Operands are random bits of mixed signs and near exponents: zeros would need less
// power and clock higher.
#include "bench/wgmma_ceiling.h"

#include "kernels/common/bits.cuh"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace {

using ptx::MmaType;
using ptx::Swizzle;

constexpr int kGroups = 2, kGroupThreads = 128, kThreads = kGroups * kGroupThreads;
constexpr int kM = 64, kN = 256, kStepBytes = 32, kRowBytes = 128;
constexpr int kSteps = kRowBytes / kStepBytes;

struct Smem {
  alignas(1024) std::uint32_t a[kGroups][kM * kRowBytes / 4];
  alignas(1024) std::uint32_t b[kN * kRowBytes / 4];
};

struct Params {
  std::uint32_t* sink;
  int iterations;
  float never;  // what no sum of the results equals
};

// All signs, the lower half of the fraction or all of it, and an exponent of 2^-1 or 2^-2.
template <MmaType kType>
LK_DEVICE std::uint32_t operand_word(std::uint32_t i) {
  std::uint32_t x = (i + blockIdx.x * 7919u) * 2654435761u;
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  x ^= x >> 13;
  switch (kType) {
    case MmaType::f16:
      return (x & 0x87ff87ffu) | 0x34003400u;
    case MmaType::bf16:
      return (x & 0x80ff80ffu) | 0x3e803e80u;
    case MmaType::tf32:
      return (x & 0x80ffffffu) | 0x3e800000u;
    case MmaType::e4m3:
      return (x & 0x8f8f8f8fu) | 0x28282828u;
    default:
      return (x & 0x87878787u) | 0x34343434u;
  }
}

template <class Type>
__global__ void __launch_bounds__(kThreads, 1) wgmma_ceiling_kernel(Params p) {
  constexpr MmaType kType = Type::value;
  constexpr int kK = kStepBytes / ptx::mma_bytes(kType);
  auto& s = ptx::dynamic_smem<Smem>();
  auto* words = &s.a[0][0];
  for (unsigned i = threadIdx.x; i < sizeof(Smem) / 4; i += kThreads) {
    words[i] = operand_word<kType>(i);
  }
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  const ptx::DescriptorFields fields = ptx::k_major_tile(Swizzle::b128);
  const auto a = ptx::matrix_descriptor_at(s.a[threadIdx.x / kGroupThreads], fields);
  const auto b = ptx::matrix_descriptor_at(s.b, fields);
  float d[kN / 2];
#pragma unroll
  for (int v = 0; v < kN / 2; ++v) d[v] = 0;
  ptx::wgmma_fence(d);
  for (int n = 0; n < p.iterations; ++n) {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const std::uint32_t bytes = std::uint32_t(k * kStepBytes);
      ptx::wgmma_mma_async<kM, kN, kK, kType>(d, a.advanced(bytes), b.advanced(bytes), true);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>(d);
  float sum = 0;
#pragma unroll
  for (int v = 0; v < kN / 2; ++v) sum += d[v];
  if (sum == p.never) ptx::st_global(p.sink, 1u);
}

template <MmaType kType>
double flops(int sm_count, int iterations) {
  constexpr int kK = kStepBytes / ptx::mma_bytes(kType);
  return 2.0 * kM * kN * kK * kSteps * kGroups * sm_count * iterations;
}
template <MmaType kType>
cudaError_t launch(std::uint32_t* sink, int sm_count, int iterations, cudaStream_t stream) {
  return ptx::launch(
      &wgmma_ceiling_kernel<std::integral_constant<MmaType, kType>>,
      {.grid = dim3(unsigned(sm_count)), .block = dim3(kThreads), .smem = sizeof(Smem)}, stream,
      Params{.sink = sink, .iterations = iterations, .never = -1.0f});
}

}  // namespace

std::span<const WgmmaCeiling> wgmma_ceilings() {
  static constexpr WgmmaCeiling kCeilings[] = {
      {"wgmma_m64n256k16_bf16", "wgmma bf16", &flops<MmaType::bf16>, &launch<MmaType::bf16>},
      {"wgmma_m64n256k16_f16", "wgmma f16", &flops<MmaType::f16>, &launch<MmaType::f16>},
      {"wgmma_m64n256k8_tf32", "wgmma tf32", &flops<MmaType::tf32>, &launch<MmaType::tf32>},
      {"wgmma_m64n256k32_e4m3", "wgmma e4m3", &flops<MmaType::e4m3>, &launch<MmaType::e4m3>},
  };
  return kCeilings;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
