// Bulk copies of kernels/ptx/cp_async_bulk.cuh with everything drawn by the test.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/bulk_copy_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::BulkDraw;
using test::kBulkPoison;
using test::kBulkWords;
using test::StreamDraw;

constexpr int kThreads = 128;

struct Smem {
  alignas(128) std::uint32_t tile[kBulkWords];
  alignas(128) std::uint32_t landing[kBulkWords];
  ptx::Mbarrier bar;
};

struct Params {
  BulkDraw draw;
  const std::uint32_t* in;
  std::uint32_t* out;
};

LK_DEVICE char* bytes(std::uint32_t* p) { return reinterpret_cast<char*>(p); }
LK_DEVICE const char* bytes(const std::uint32_t* p) { return reinterpret_cast<const char*>(p); }

LK_DEVICE void wait(ptx::Mbarrier* bar, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(bar, parity)) {
  }
}
LK_DEVICE void meet_cluster() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}
LK_DEVICE void init(ptx::Mbarrier* bar) {
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_mbarrier_init_release_cluster();
  }
}
LK_DEVICE void fill(std::uint32_t* tile, std::uint32_t value) {
  for (unsigned i = threadIdx.x; i < unsigned(kBulkWords); i += kThreads) tile[i] = value;
}
LK_DEVICE void copy(std::uint32_t* to, const std::uint32_t* from) {
  for (unsigned i = threadIdx.x; i < unsigned(kBulkWords); i += kThreads) to[i] = from[i];
}

__global__ void load_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  const BulkDraw& d = p.draw;
  const std::uint32_t rank = ptx::cluster_ctarank();
  init(&s.bar);
  fill(s.tile, kBulkPoison);
  ptx::fence_proxy_async_shared_cta();
  meet_cluster();
  const bool multicast = d.masks[0] != 0;
  std::uint32_t expected = multicast ? 0 : d.bytes;
  for (int r = 0; multicast && r < d.ctas; ++r) {
    expected += d.masks[r] >> rank & 1 ? d.bytes : 0;
  }
  if (threadIdx.x == 0) {
    char* dst = bytes(s.tile) + d.shared + rank * d.step;
    const char* src = bytes(p.in) + d.global + rank * d.step;
    const auto mask = std::uint16_t(d.masks[rank]);
    const ptx::CachePolicy policy = ptx::kEvictFirst;
    ptx::cp_async_bulk_prefetch_L2(src, d.bytes);
    ptx::mbarrier_arrive_expect_tx(&s.bar, expected);
    if (multicast && d.hint) {
      ptx::cp_async_bulk_shared_global_multicast(dst, src, d.bytes, &s.bar, mask, policy);
    } else if (multicast) {
      ptx::cp_async_bulk_shared_global_multicast(dst, src, d.bytes, &s.bar, mask);
    } else if (d.hint) {
      ptx::cp_async_bulk_shared_global(dst, src, d.bytes, &s.bar, policy);
    } else {
      ptx::cp_async_bulk_shared_global(dst, src, d.bytes, &s.bar);
    }
  }
  wait(&s.bar, 0);
  copy(p.out + rank * kBulkWords, s.tile);
  meet_cluster();
}

__global__ void store_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  const BulkDraw& d = p.draw;
  const std::uint32_t rank = ptx::cluster_ctarank();
  copy(s.tile, p.in + rank * kBulkWords);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  const char* src = bytes(s.tile) + d.shared + rank * d.step;
  char* dst = bytes(p.out) + d.global + rank * d.step;
  if (d.hint) {
    ptx::cp_async_bulk_global_shared(dst, src, d.bytes, ptx::kEvictLast);
  } else {
    ptx::cp_async_bulk_global_shared(dst, src, d.bytes);
  }
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

__global__ void cluster_copy_kernel(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  const BulkDraw& d = p.draw;
  const std::uint32_t rank = ptx::cluster_ctarank();
  init(&s.bar);
  copy(s.tile, p.in + rank * kBulkWords);
  fill(s.landing, kBulkPoison);
  ptx::fence_proxy_async();
  meet_cluster();
  if (threadIdx.x == 0) {
    const std::uint32_t to = (rank + std::uint32_t(d.shift)) % std::uint32_t(d.ctas);
    char* src = bytes(s.tile) + d.global + rank * d.step;
    char* dst = bytes(s.landing) + d.shared;
    ptx::mbarrier_arrive_expect_tx(&s.bar, d.bytes);
    ptx::cp_async_bulk_shared_cluster_shared(ptx::mapa(dst, to), src, d.bytes,
                                             ptx::mapa(&s.bar, to));
  }
  wait(&s.bar, 0);
  copy(p.out + rank * kBulkWords, s.landing);
  meet_cluster();
}

// ---- Stream -----------------------------------------------------------------------------------

constexpr int kStages = 4;  // at most
constexpr int kStageWords = kBulkWords / kStages;
constexpr int kConsumers = 3;  // warps; one more produces

struct StreamSmem {
  alignas(128) std::uint32_t in[kStages][kStageWords];
  alignas(128) std::uint32_t out[2][kStageWords];
  ptx::Mbarrier full[kStages], empty[kStages];
};
struct StreamParams {
  StreamDraw draw;
  const std::uint32_t* in;
  std::uint32_t* out;
};

LK_DEVICE void produce(StreamSmem& s, const StreamDraw& d, const std::uint32_t* in) {
  const std::uint32_t words = d.bytes / 4;
  for (int k = 0; k < d.chunks; ++k) {
    const int stage = k % d.stages;
    wait(&s.empty[stage], (std::uint32_t(k / d.stages) & 1) ^ 1);
    ptx::mbarrier_arrive_expect_tx(&s.full[stage], d.bytes);
    ptx::cp_async_bulk_shared_global(s.in[stage], in + std::uint32_t(k) * words, d.bytes,
                                     &s.full[stage]);
  }
}

LK_DEVICE void consume(StreamSmem& s, const StreamDraw& d, std::uint32_t* out) {
  constexpr std::uint32_t kBar = 1, kThreadsOfBar = 32 * kConsumers;
  const std::uint32_t words = d.bytes / 4, t = threadIdx.x;
  for (int k = 0; k < d.chunks; ++k) {
    const int stage = k % d.stages;
    std::uint32_t* tile = s.out[k % 2];
    if (t == 0) ptx::cp_async_bulk_wait_group_read<1>();  // the store before the last one
    ptx::bar_sync(kBar, kThreadsOfBar);
    wait(&s.full[stage], std::uint32_t(k / d.stages) & 1);
    for (std::uint32_t i = t; i < words; i += kThreadsOfBar) tile[i] = ~s.in[stage][i];
    __syncwarp();
    if (t % 32 == 0) ptx::mbarrier_arrive(&s.empty[stage]);
    ptx::fence_proxy_async_shared_cta();
    ptx::bar_sync(kBar, kThreadsOfBar);
    if (t != 0) continue;
    ptx::cp_async_bulk_global_shared(out + std::uint32_t(k) * words, tile, d.bytes);
    ptx::cp_async_bulk_commit_group();
  }
  if (t == 0) ptx::cp_async_bulk_wait_group_read<0>();
}

__global__ void stream_kernel(const __grid_constant__ StreamParams p) {
  auto& s = ptx::dynamic_smem<StreamSmem>();
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      ptx::mbarrier_init(&s.full[i], 1);
      ptx::mbarrier_init(&s.empty[i], kConsumers);
    }
    ptx::fence_mbarrier_init_release_cluster();
  }
  __syncthreads();
  const std::uint32_t base = blockIdx.x * std::uint32_t(p.draw.chunks) * (p.draw.bytes / 4);
  if (threadIdx.x >= 32 * kConsumers) {
    if (ptx::elect_sync()) produce(s, p.draw, p.in + base);
  } else {
    consume(s, p.draw, p.out + base);
  }
}

cudaError_t run(void (*kernel)(Params), const Params& p, cudaStream_t stream) {
  const auto ctas = unsigned(p.draw.ctas);
  return ptx::launch(
      kernel,
      {.grid = dim3(ctas), .block = dim3(kThreads), .smem = sizeof(Smem), .cluster = dim3(ctas)},
      stream, p);
}
cudaError_t launch_load(const void* in, const BulkDraw& draw, std::uint32_t* out,
                        cudaStream_t stream) {
  return run(&load_kernel, {draw, static_cast<const std::uint32_t*>(in), out}, stream);
}
cudaError_t launch_store(const std::uint32_t* in, const BulkDraw& draw, void* out,
                         cudaStream_t stream) {
  return run(&store_kernel, {draw, in, static_cast<std::uint32_t*>(out)}, stream);
}
cudaError_t launch_cluster_copy(const std::uint32_t* in, const BulkDraw& draw, std::uint32_t* out,
                                cudaStream_t stream) {
  return run(&cluster_copy_kernel, {draw, in, out}, stream);
}
cudaError_t launch_stream(const std::uint32_t* in, const StreamDraw& draw, std::uint32_t* out,
                          cudaStream_t stream) {
  return ptx::launch(&stream_kernel,
                     {.grid = dim3(unsigned(draw.ctas)),
                      .block = dim3(32 * (kConsumers + 1)),
                      .smem = sizeof(StreamSmem)},
                     stream, StreamParams{draw, in, out});
}

}  // namespace

const test::BulkKernels& bulk_kernels() {
  static const test::BulkKernels kernels{&launch_load, &launch_store, &launch_cluster_copy,
                                         &launch_stream};
  return kernels;
}

}  // namespace libkernels::inline LK_BACKEND
