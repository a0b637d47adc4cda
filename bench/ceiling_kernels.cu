// Streaming kernels: dst[i] = src[i], loads alone, stores alone. The practical ceilings of every
// kernel that moves as many bytes.
//
// Traffic: each byte once. Default cache hints: on an H200 (CUDA 13.0, 2026-11-29) they equalled or
// beat the streaming hints. There, one 16-byte vector a thread in CTAs of 128-512 threads copied
// 4.26-4.30 TB/s from 512 MB on, two vectors 4.17-4.27, four 4.0-4.15, persistent grids 2.6-4.0;
// loads alone reached 4.49 at 256 MB with eight vectors a thread. The losers stay in the table
// because the order may differ elsewhere.
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "bench/device_tables.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

using bench::Traffic;

struct StreamConfig {
  int vector_bytes;  // of one access
  int unroll;        // vectors in flight a thread
  int threads;
  bool persistent;  // as many CTAs as fit at once, looping; else one CTA a piece
};

struct Row {
  const char* name;
  StreamConfig config;
};

template <Traffic kTraffic>
struct Rows;

template <>
struct Rows<Traffic::copy> {
  static constexpr Row kRows[] = {
      {"copy_v16_u1_t128", {16, 1, 128, false}},
      {"copy_v16_u1_t256", {16, 1, 256, false}},
      {"copy_v16_u1_t512", {16, 1, 512, false}},
      {"copy_v16_u2_t256", {16, 2, 256, false}},
      {"copy_v16_u4_t256", {16, 4, 256, false}},
      {"copy_v16_u4_t512_persistent", {16, 4, 512, true}},
      {"copy_v8_u2_t256", {8, 2, 256, false}},
      {"copy_v4_u4_t256", {4, 4, 256, false}},
  };
};

template <>
struct Rows<Traffic::read> {
  static constexpr Row kRows[] = {
      {"read_v16_u1_t256", {16, 1, 256, false}},
      {"read_v16_u2_t256", {16, 2, 256, false}},
      {"read_v16_u4_t256", {16, 4, 256, false}},
      {"read_v16_u8_t256", {16, 8, 256, false}},
      {"read_v16_u8_t512", {16, 8, 512, false}},
      {"read_v16_u16_t128", {16, 16, 128, false}},
      {"read_v16_u8_t256_persistent", {16, 8, 256, true}},
      {"read_v16_u4_t512_persistent", {16, 4, 512, true}},
      {"read_v8_u8_t256", {8, 8, 256, false}},
  };
};

template <>
struct Rows<Traffic::write> {
  static constexpr Row kRows[] = {
      {"write_v16_u1_t256", {16, 1, 256, false}},
      {"write_v16_u1_t512", {16, 1, 512, false}},
      {"write_v16_u4_t256", {16, 4, 256, false}},
      {"write_v16_u4_t512_persistent", {16, 4, 512, true}},
  };
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

LK_DEVICE std::uint32_t fold(std::uint32_t v) { return v; }
LK_DEVICE std::uint32_t fold(const uint2& v) { return v.x ^ v.y; }
LK_DEVICE std::uint32_t fold(const uint4& v) { return v.x ^ v.y ^ v.z ^ v.w; }

struct StreamParams {
  const unsigned char* src;
  unsigned char* dst;
  std::int64_t vectors;
};

// No more than one thread in 2^32 stores, so that no load may be left out.
constexpr std::uint32_t kNeverFolded = 0x9e3779b9u;

template <class Cfg, Traffic kTraffic>
__global__ void __launch_bounds__(Cfg::value.threads) stream_kernel(StreamParams p) {
  constexpr int kThreads = Cfg::value.threads;
  constexpr int kUnroll = Cfg::value.unroll;
  using T = typename Vector<Cfg::value.vector_bytes>::Type;
  const T* src = reinterpret_cast<const T*>(p.src);
  T* dst = reinterpret_cast<T*>(p.dst);
  constexpr std::int64_t kPiece = std::int64_t(kThreads) * kUnroll;
  const std::int64_t step = Cfg::value.persistent ? kPiece * gridDim.x : p.vectors;
  std::uint32_t folded = 0;
  for (std::int64_t base = kPiece * blockIdx.x; base < p.vectors; base += step) {
    const std::int64_t first = base + threadIdx.x;
    T v[kUnroll] = {};
    if constexpr (kTraffic != Traffic::write) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (first + u * kThreads < p.vectors) v[u] = ptx::ld_global_nc(src + first + u * kThreads);
      }
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if constexpr (kTraffic == Traffic::read) {
        folded ^= fold(v[u]);
      } else if (first + u * kThreads < p.vectors) {
        ptx::st_global(dst + first + u * kThreads, v[u]);
      }
    }
  }
  if constexpr (kTraffic == Traffic::read) {
    if (folded == kNeverFolded) ptx::st_global(dst, T{});
  }
}

template <class Cfg, Traffic kTraffic>
cudaError_t launch_stream(const bench::StreamCall& call) {
  constexpr StreamConfig c = Cfg::value;
  const std::int64_t vectors = std::int64_t(call.bytes) / c.vector_bytes;
  const std::int64_t piece = std::int64_t(c.threads) * c.unroll;
  std::int64_t grid = (vectors + piece - 1) / piece;
  if (c.persistent) {
    const int resident = call.properties->max_threads_per_sm / c.threads;
    grid = std::min<std::int64_t>(grid, std::int64_t(resident) * call.properties->sm_count);
  }
  const StreamParams params{.src = static_cast<const unsigned char*>(call.src),
                            .dst = static_cast<unsigned char*>(call.dst),
                            .vectors = vectors};
  return ptx::launch(&stream_kernel<Cfg, kTraffic>,
                     {.grid = dim3(unsigned(grid)), .block = dim3(unsigned(c.threads))},
                     call.stream, params);
}

template <Traffic kTraffic, std::size_t... kIndices>
std::span<const bench::StreamKernel> table(std::index_sequence<kIndices...>) {
  using R = Rows<kTraffic>;
  static constexpr bench::StreamKernel kKernels[] = {
      {.name = R::kRows[kIndices].name,
       .launch = &launch_stream<std::integral_constant<StreamConfig, R::kRows[kIndices].config>,
                                kTraffic>}...};
  return kKernels;
}

template <Traffic kTraffic>
std::span<const bench::StreamKernel> table() {
  return table<kTraffic>(std::make_index_sequence<std::size(Rows<kTraffic>::kRows)>());
}

std::span<const bench::StreamKernel> copy_kernels() { return table<Traffic::copy>(); }
std::span<const bench::StreamKernel> read_kernels() { return table<Traffic::read>(); }
std::span<const bench::StreamKernel> write_kernels() { return table<Traffic::write>(); }

}  // namespace libkernels::inline LK_BACKEND::bench_device
