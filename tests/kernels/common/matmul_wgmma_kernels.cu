// d = a b^T as Hopper's kernels are built: one producer thread, a ring of stages filled by tensor
// copies, two consumer warpgroups with accumulators in registers, a persistent grid. For tests: the
// epilogue stores from registers, and nothing overlaps it.
//
// With a cluster of two, the CTAs multiply the same columns: each loads its rows of a, and half of
// the rows of b for both.
#include <algorithm>

#include "kernels/common/pipeline.cuh"
#include "kernels/common/tile_scheduler.cuh"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "kernels/ptx/tensor_map.h"
#include "tests/kernels/common/matmul_wgmma_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using ptx::MmaType;
using ptx::Swizzle;

struct Config {
  int bn;
  int stages;
  int cluster;  // CTAs, along m
};
constexpr Config kVariants[] = {{128, 4, 1}, {256, 3, 1}, {64, 2, 1}, {128, 4, 2}};

constexpr int kConsumers = 2, kGroupThreads = 128, kThreads = (1 + kConsumers) * kGroupThreads;
constexpr int kGroupWarps = 4;
constexpr int kMmaM = 64, kMmaK = 16;
constexpr int kBM = kConsumers * kMmaM, kBK = 64;  // a row of kBK is the swizzle's 128 bytes
constexpr int kElement = 2;
// Of the 168 that a launch of 384 threads can have: 40 + 232 + 232 = 3 * 168.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

struct Params {
  ptx::TensorMap map_a;  // boxes [kBM, kBK]
  ptx::TensorMap map_b;  // boxes [bn / cluster, kBK]
  float* d;
  int m, n, k_blocks;
  TileRaster raster;  // of clusters' tiles
};

template <class Cfg>
struct Smem {
  static constexpr Config kConfig = Cfg::value;
  alignas(1024) std::uint16_t a[kConfig.stages][kBM * kBK];
  alignas(1024) std::uint16_t b[kConfig.stages][kConfig.bn * kBK];
  PipelineBarriers<kConfig.stages> ring;
};

LK_DEVICE TileScheduler tiles_of(const Params& p, int cluster) {
  return {p.raster, int(blockIdx.x) / cluster, int(gridDim.x) / cluster};
}

template <class Cfg>
LK_DEVICE void load_tiles(const Params& p, Smem<Cfg>& s) {
  constexpr Config kConfig = Cfg::value;
  constexpr int kRowsB = kConfig.bn / kConfig.cluster;
  constexpr std::uint32_t kBytes = (kBM + kConfig.bn) * kBK * kElement;
  const int rank = kConfig.cluster > 1 ? int(ptx::cluster_ctarank()) : 0;
  PipelinePosition<kConfig.stages> at;
  for (TileScheduler tiles = tiles_of(p, kConfig.cluster); tiles.valid(); tiles.advance()) {
    const Tile tile = tiles.tile();
    const int row_a = (tile.m * kConfig.cluster + rank) * kBM;
    const int row_b = tile.n * kConfig.bn + rank * kRowsB;
    for (int kb = 0; kb < p.k_blocks; ++kb, at.advance()) {
      if constexpr (kConfig.cluster > 1) {
        producer_acquire_cluster(&s.ring, at);
      } else {
        producer_acquire(&s.ring, at);
      }
      producer_commit(&s.ring, at, kBytes);
      ptx::Mbarrier* full = &s.ring.full[at.stage];
      std::uint16_t* b = s.b[at.stage] + rank * kRowsB * kBK;
      ptx::cp_async_bulk_tensor_2d_shared_global(s.a[at.stage], &p.map_a, kb * kBK, row_a, full);
      if constexpr (kConfig.cluster > 1) {
        constexpr std::uint16_t kAll = (1u << kConfig.cluster) - 1;
        ptx::cp_async_bulk_tensor_2d_shared_global_multicast(b, &p.map_b, kb * kBK, row_b, full,
                                                             kAll);
      } else {
        ptx::cp_async_bulk_tensor_2d_shared_global(b, &p.map_b, kb * kBK, row_b, full);
      }
    }
  }
}

// One lane of each warp tells every CTA that fills this stage.
template <class Cfg>
LK_DEVICE void release(Smem<Cfg>& s, const PipelinePosition<Cfg::value.stages>& at) {
  const unsigned lane = threadIdx.x % 32;
  if constexpr (Cfg::value.cluster > 1) {
    if (lane < unsigned(Cfg::value.cluster)) consumer_release_cluster(&s.ring, at, lane);
  } else {
    if (lane == 0) consumer_release(&s.ring, at);
  }
}

template <class Cfg>
LK_DEVICE void store_tile(const Params& p, const float (&acc)[Cfg::value.bn / 2], int row,
                          int column) {
#pragma unroll
  for (int v = 0; v < Cfg::value.bn / 2; v += 2) {
    const int r = row + 8 * (v / 2 % 2), c = column + 8 * (v / 4);  // [p.m, p.n]
    if (r >= p.m) continue;
    float* out = p.d + std::int64_t(r) * p.n + c;
    if (c < p.n) out[0] = acc[v];
    if (c + 1 < p.n) out[1] = acc[v + 1];
  }
}

template <class Cfg>
LK_DEVICE void multiply_tiles(const Params& p, Smem<Cfg>& s, int consumer) {
  constexpr Config kConfig = Cfg::value;
  constexpr int kStages = kConfig.stages;
  const int rank = kConfig.cluster > 1 ? int(ptx::cluster_ctarank()) : 0;
  const int warp = int(threadIdx.x) % kGroupThreads / 32, lane = int(threadIdx.x) % 32;
  const ptx::DescriptorFields fields = ptx::k_major_tile(Swizzle::b128);
  float acc[kConfig.bn / 2];
  PipelinePosition<kStages> at;
  for (TileScheduler tiles = tiles_of(p, kConfig.cluster); tiles.valid(); tiles.advance()) {
    PipelinePosition<kStages> last = at;  // read by products that may still run
    for (int kb = 0; kb < p.k_blocks; ++kb) {
      consumer_wait(&s.ring, at);
      const auto a = ptx::matrix_descriptor_at(s.a[at.stage] + consumer * kMmaM * kBK, fields);
      const auto b = ptx::matrix_descriptor_at(s.b[at.stage], fields);
      ptx::wgmma_fence(acc);
#pragma unroll
      for (int k = 0; k < kBK / kMmaK; ++k) {
        const std::uint32_t bytes = std::uint32_t(k * kMmaK * kElement);
        ptx::wgmma_mma_async<kMmaM, kConfig.bn, kMmaK, MmaType::bf16>(
            acc, a.advanced(bytes), b.advanced(bytes), kb > 0 || k > 0);
      }
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<1>();
      if (kb > 0) release(s, last);
      last = at;
      at.advance();
    }
    ptx::wgmma_wait_group<0>(acc);
    release(s, last);
    const Tile tile = tiles.tile();
    const int row = (tile.m * kConfig.cluster + rank) * kBM + consumer * kMmaM + 16 * warp;
    store_tile<Cfg>(p, acc, row + lane / 4, tile.n * kConfig.bn + 2 * (lane % 4));
  }
}

template <int kCluster>
LK_DEVICE void meet() {
  if constexpr (kCluster > 1) {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
  } else {
    __syncthreads();
  }
}

template <class Cfg>
__global__ void __launch_bounds__(kThreads, 1) matmul_kernel(const __grid_constant__ Params p) {
  constexpr Config kConfig = Cfg::value;
  auto& s = ptx::dynamic_smem<Smem<Cfg>>();
  if (threadIdx.x == 0) init_pipeline(&s.ring, 1, kConsumers * kGroupWarps * kConfig.cluster);
  meet<kConfig.cluster>();
  const int group = int(threadIdx.x) / kGroupThreads;
  if (group == 0) {
    ptx::setmaxnreg_dec<kProducerRegisters>();
    if (threadIdx.x < 32 && ptx::elect_sync()) load_tiles<Cfg>(p, s);
  } else {
    ptx::setmaxnreg_inc<kConsumerRegisters>();
    multiply_tiles<Cfg>(p, s, group - 1);
  }
  meet<kConfig.cluster>();  // peers may still copy into this CTA, or arrive on its barriers
}

// ---- Launch -----------------------------------------------------------------------------------

cudaError_t encode(ptx::TensorMap* map, const std::uint16_t* p, int rows, int k, int box_rows) {
  return ptx::encode_tiled(map, {.base = p,
                                 .type = ptx::TensorType::bf16,
                                 .rank = 2,
                                 .extents = {std::uint64_t(k), std::uint64_t(rows)},
                                 .strides = {std::uint64_t(k) * kElement},
                                 .box = {kBK, std::uint32_t(box_rows)},
                                 .swizzle = Swizzle::b128});
}

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <class Cfg>
cudaError_t launch(const test::MatmulProblem& problem, cudaStream_t stream) {
  constexpr Config kConfig = Cfg::value;
  Params p{};
  cudaError_t error = encode(&p.map_a, problem.a, problem.m, problem.k, kBM);
  if (error != cudaSuccess) return error;
  error = encode(&p.map_b, problem.b, problem.n, problem.k, kConfig.bn / kConfig.cluster);
  if (error != cudaSuccess) return error;
  p.d = problem.d;
  p.m = problem.m;
  p.n = problem.n;
  p.k_blocks = ceil_div(problem.k, kBK);
  const int clusters = problem.ctas / kConfig.cluster;
  p.raster =
      choose_raster(ceil_div(problem.m, kBM * kConfig.cluster), ceil_div(problem.n, kConfig.bn), 1,
                    clusters, kBM * kConfig.cluster, kConfig.bn);
  const int grid = std::min(clusters, tile_count(p.raster)) * kConfig.cluster;
  return ptx::launch(&matmul_kernel<Cfg>,
                     {.grid = dim3(unsigned(grid)),
                      .block = dim3(kThreads),
                      .smem = sizeof(Smem<Cfg>),
                      .cluster = dim3(unsigned(kConfig.cluster))},
                     stream, p);
}

template <int kI>
using Variant = std::integral_constant<Config, kVariants[kI]>;

}  // namespace

std::span<const test::MatmulCase> matmul_wgmma_cases() {
  static const test::MatmulCase cases[] = {
      {"128x128", 1, &launch<Variant<0>>},
      {"128x256", 1, &launch<Variant<1>>},
      {"128x64", 1, &launch<Variant<2>>},
      {"128x128_multicast", 2, &launch<Variant<3>>},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
