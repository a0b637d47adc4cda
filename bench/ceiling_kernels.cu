// Copy kernels: dst[i] = src[i], the practical ceiling of every kernel that reads as many bytes as
// it writes.
//
// Traffic: each byte read once and written once. Default cache hints: on an H200 (CUDA 13.0,
// 2026-11-29) they equalled or beat the streaming hints. There, one 16-byte vector a thread in CTAs
// of 128-512 threads reached 4.26-4.30 TB/s from 512 MB on, two vectors 4.17-4.27, four 4.0-4.15,
// persistent grids 2.6-4.0; the losers stay in the table because the order may differ elsewhere.
#include <algorithm>
#include <type_traits>

#include "bench/device_tables.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

struct CopyConfig {
  int vector_bytes;  // of one load
  int unroll;        // loads in flight a thread
  int threads;
  bool persistent;  // as many CTAs as fit at once, looping; else one CTA a piece
};

constexpr CopyConfig kConfigs[] = {
    {.vector_bytes = 16, .unroll = 1, .threads = 128, .persistent = false},
    {.vector_bytes = 16, .unroll = 1, .threads = 256, .persistent = false},
    {.vector_bytes = 16, .unroll = 1, .threads = 512, .persistent = false},
    {.vector_bytes = 16, .unroll = 2, .threads = 256, .persistent = false},
    {.vector_bytes = 16, .unroll = 4, .threads = 256, .persistent = false},
    {.vector_bytes = 16, .unroll = 4, .threads = 512, .persistent = true},
    {.vector_bytes = 8, .unroll = 2, .threads = 256, .persistent = false},
    {.vector_bytes = 4, .unroll = 4, .threads = 256, .persistent = false},
};

template <int kBytes>
struct Vector;
template <>
struct Vector<4> {
  using Type = std::uint32_t;
};
template <>
struct Vector<8> {
  using Type = uint2;
};
template <>
struct Vector<16> {
  using Type = uint4;
};

struct CopyParams {
  const unsigned char* src;
  unsigned char* dst;
  std::int64_t vectors;
};

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads) copy_kernel(CopyParams p) {
  constexpr int kThreads = Cfg::value.threads;
  constexpr int kUnroll = Cfg::value.unroll;
  using T = typename Vector<Cfg::value.vector_bytes>::Type;
  const T* src = reinterpret_cast<const T*>(p.src);
  T* dst = reinterpret_cast<T*>(p.dst);
  constexpr std::int64_t kPiece = std::int64_t(kThreads) * kUnroll;
  const std::int64_t step = Cfg::value.persistent ? kPiece * gridDim.x : p.vectors;
  for (std::int64_t base = kPiece * blockIdx.x; base < p.vectors; base += step) {
    const std::int64_t first = base + threadIdx.x;
    T v[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < p.vectors) v[u] = ptx::ld_global_nc(src + first + u * kThreads);
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (first + u * kThreads < p.vectors) ptx::st_global(dst + first + u * kThreads, v[u]);
    }
  }
}

template <int kIndex>
cudaError_t launch_copy(const bench::CopyCall& call) {
  using Cfg = std::integral_constant<CopyConfig, kConfigs[kIndex]>;
  const CopyConfig& c = kConfigs[kIndex];
  const std::int64_t vectors = std::int64_t(call.bytes) / c.vector_bytes;
  const std::int64_t piece = std::int64_t(c.threads) * c.unroll;
  std::int64_t grid = (vectors + piece - 1) / piece;
  if (c.persistent) {
    const int resident = call.properties->max_threads_per_sm / c.threads;
    grid = std::min<std::int64_t>(grid, std::int64_t(resident) * call.properties->sm_count);
  }
  const CopyParams params{.src = static_cast<const unsigned char*>(call.src),
                          .dst = static_cast<unsigned char*>(call.dst),
                          .vectors = vectors};
  return ptx::launch(&copy_kernel<Cfg>,
                     {.grid = dim3(unsigned(grid)), .block = dim3(unsigned(c.threads))},
                     call.stream, params);
}

template <int kIndex>
constexpr bench::CopyKernel row(const char* name) {
  constexpr CopyConfig c = kConfigs[kIndex];
  return {.name = name,
          .vector_bytes = c.vector_bytes,
          .unroll = c.unroll,
          .threads = c.threads,
          .persistent = c.persistent,
          .launch = &launch_copy<kIndex>};
}

std::span<const bench::CopyKernel> copy_kernels() {
  static const bench::CopyKernel rows[] = {
      row<0>("copy_v16_u1_t128"), row<1>("copy_v16_u1_t256"), row<2>("copy_v16_u1_t512"),
      row<3>("copy_v16_u2_t256"), row<4>("copy_v16_u4_t256"), row<5>("copy_v16_u4_t512_persistent"),
      row<6>("copy_v8_u2_t256"),  row<7>("copy_v4_u4_t256"),
  };
  static_assert(std::size(rows) == std::size(kConfigs));
  return rows;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
