// Clusters and distributed shared memory of kernels/ptx/cluster.cuh; elect.sync of shfl.cuh.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/cluster_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::kClusterThreads;
using test::kPlaceWords;

LK_DEVICE void meet_cluster() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

// ---- Places -----------------------------------------------------------------------------------

struct PlaceParams {
  std::uint32_t* out;
};

LK_DEVICE std::uint32_t packed(uint3 d) { return d.x | d.y << 10 | d.z << 20; }

__global__ void place_kernel(PlaceParams p) {
  const unsigned cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x != 0) return;
  std::uint32_t* out = p.out + cta * kPlaceWords;
  out[0] = ptx::cluster_ctarank();
  out[1] = ptx::cluster_nctarank();
  out[2] = packed(ptx::cluster_ctaid());
  out[3] = packed(ptx::cluster_nctaid());
  out[4] = packed(ptx::clusterid());
  out[5] = packed(ptx::nclusterid());
}

// ---- Exchange ---------------------------------------------------------------------------------

template <class T>
struct ExchangeSmem {
  T mine[kClusterThreads], got[kClusterThreads];
  ptx::Mbarrier bar;
};
struct ExchangeParams {
  const std::uint32_t *in, *to;
  std::uint32_t* out;
  int how;
};

// The threads of one number send to different ranks, so that each slot is written once.
template <class T>
__global__ void exchange_kernel(const __grid_constant__ ExchangeParams p) {
  auto& s = ptx::dynamic_smem<ExchangeSmem<T>>();
  const std::uint32_t t = threadIdx.x, rank = ptx::cluster_ctarank();
  const std::uint32_t at = rank * kClusterThreads + t;
  const T v = reinterpret_cast<const T*>(p.in)[at];
  s.mine[t] = v;
  if (t == 0) {
    ptx::mbarrier_init(&s.bar, 1);
    ptx::fence_mbarrier_init_release_cluster();
    if (p.how == 2) ptx::mbarrier_arrive_expect_tx(&s.bar, kClusterThreads * sizeof(T));
  }
  meet_cluster();
  const std::uint32_t to = p.to[at];
  const ptx::ClusterPtr<T> slot = ptx::mapa(&s.got[0], to) + int(t);
  if (p.how == 0) ptx::st_shared_cluster(slot, v);
  if (p.how == 1) s.got[t] = ptx::ld_shared_cluster(ptx::mapa(&s.mine[t], to));
  if (p.how == 2) ptx::st_async(slot, v, ptx::mapa(&s.bar, to));
  while (p.how == 2 && !ptx::mbarrier_try_wait_parity_acquire_cluster(&s.bar, 0)) {
  }
  meet_cluster();
  reinterpret_cast<T*>(p.out)[at] = s.got[t];
}

// ---- Rounds -----------------------------------------------------------------------------------

struct RoundsSmem {
  std::uint32_t number[2];
};
struct RoundsParams {
  std::uint32_t* out;
  int rounds;
};

// Every round each CTA writes to the next one and then adds what it got: two slots in turns, so
// that one barrier a round is enough. Work goes on between arrival and wait.
__global__ void rounds_kernel(const __grid_constant__ RoundsParams p) {
  auto& s = ptx::dynamic_smem<RoundsSmem>();
  const std::uint32_t rank = ptx::cluster_ctarank(), ctas = ptx::cluster_nctarank();
  ptx::barrier_cluster_arrive_relaxed();
  ptx::barrier_cluster_wait_acquire();
  std::uint32_t sum = blockIdx.x;
  for (int round = 0; round < p.rounds; ++round) {
    if (threadIdx.x == 0) {
      ptx::st_shared_cluster(ptx::mapa(&s.number[round % 2], (rank + 1) % ctas), sum);
    }
    ptx::barrier_cluster_arrive_release();
    sum = 5 * sum + std::uint32_t(round);
    ptx::barrier_cluster_wait_acquire();
    sum += s.number[round % 2];
  }
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// ---- elect.sync -------------------------------------------------------------------------------

struct ElectParams {
  const std::uint32_t* masks;
  std::uint32_t* out;
};

__global__ void elect_kernel(const __grid_constant__ ElectParams p) {
  const unsigned lane = threadIdx.x % 32;
  const std::uint32_t mask = p.masks[threadIdx.x / 32];
  if (!(mask >> lane & 1)) return;
  const bool first = ptx::elect_sync(mask), second = ptx::elect_sync(mask);
  p.out[threadIdx.x] = std::uint32_t(first) | std::uint32_t(second) << 1;
}

// ---- Launches ---------------------------------------------------------------------------------

cudaError_t launch_places(dim3 grid, dim3 cluster, std::uint32_t* out, cudaStream_t stream) {
  return ptx::launch(&place_kernel, {.grid = grid, .block = dim3(32), .cluster = cluster}, stream,
                     PlaceParams{out});
}
template <class T>
cudaError_t launch_exchange_of(int ctas, const ExchangeParams& p, cudaStream_t stream) {
  return ptx::launch(&exchange_kernel<T>,
                     {.grid = dim3(unsigned(ctas)),
                      .block = dim3(kClusterThreads),
                      .smem = sizeof(ExchangeSmem<T>),
                      .cluster = dim3(unsigned(ctas))},
                     stream, p);
}
cudaError_t launch_exchange(int ctas, int words, int how, const std::uint32_t* in,
                            const std::uint32_t* to, std::uint32_t* out, cudaStream_t stream) {
  const ExchangeParams p{in, to, out, how};
  if (words == 1) return launch_exchange_of<std::uint32_t>(ctas, p, stream);
  if (words == 2) return launch_exchange_of<uint2>(ctas, p, stream);
  return launch_exchange_of<uint4>(ctas, p, stream);
}
cudaError_t launch_rounds(int ctas, int clusters, int rounds, std::uint32_t* out,
                          cudaStream_t stream) {
  return ptx::launch(&rounds_kernel,
                     {.grid = dim3(unsigned(ctas * clusters)),
                      .block = dim3(kClusterThreads),
                      .smem = sizeof(RoundsSmem),
                      .cluster = dim3(unsigned(ctas))},
                     stream, RoundsParams{out, rounds});
}
cudaError_t launch_elect(const std::uint32_t* masks, std::uint32_t* out, cudaStream_t stream) {
  return ptx::launch(&elect_kernel, {.grid = dim3(1), .block = dim3(1024)}, stream,
                     ElectParams{masks, out});
}

}  // namespace

const test::ClusterKernels& cluster_kernels() {
  static const test::ClusterKernels kernels{&launch_places, &launch_exchange, &launch_rounds,
                                            &launch_elect};
  return kernels;
}

}  // namespace libkernels::inline LK_BACKEND
