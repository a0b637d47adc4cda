// A ring between a producer warp and two consumer warps, and reductions across a cluster.
#include "kernels/common/cluster_exchange.cuh"
#include "kernels/common/pipeline.cuh"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/common/ring_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::RingCase;
using test::RingParams;

constexpr int kWords = test::kRingItemWords, kThreads = test::kRingThreads;
constexpr std::uint32_t kBytes = kWords * sizeof(std::uint32_t);
constexpr std::uint32_t kConsumerWarps = 2;

enum class Fill { bulk_copy, stores };

template <int kStages>
struct Smem {
  alignas(16) std::uint32_t item[kStages][kWords];
  PipelineBarriers<kStages> ring;
};

// Consumers turn each word x of item i into 2 x + i.
template <int kStages, Fill kFill>
__global__ void ring_kernel(RingParams p) {
  auto& s = ptx::dynamic_smem<Smem<kStages>>();
  if (threadIdx.x == 0) init_pipeline(&s.ring, kFill == Fill::stores ? 32 : 1, kConsumerWarps);
  __syncthreads();
  const std::uint32_t* in = p.in + std::size_t(blockIdx.x) * unsigned(p.items) * kWords;
  std::uint32_t* out = p.out + std::size_t(blockIdx.x) * unsigned(p.items) * kWords;
  PipelinePosition<kStages> at;
  if (threadIdx.x < 32) {
    const bool copies = kFill == Fill::bulk_copy;
    if (copies && !ptx::elect_sync()) return;
    for (int i = 0; i < p.items; ++i, at.advance()) {
      producer_acquire(&s.ring, at);
      const std::uint32_t* from = in + i * kWords;
      if constexpr (kFill == Fill::bulk_copy) {
        producer_commit(&s.ring, at, kBytes);
        ptx::cp_async_bulk_shared_global(s.item[at.stage], from, kBytes, &s.ring.full[at.stage]);
      } else {
        for (int w = int(threadIdx.x); w < kWords; w += 32) s.item[at.stage][w] = from[w];
        producer_commit_stores(&s.ring, at);
      }
    }
  } else {
    const int w = int(threadIdx.x) - 32;
    for (int i = 0; i < p.items; ++i, at.advance()) {
      consumer_wait(&s.ring, at);
      out[i * kWords + w] = 2 * s.item[at.stage][w] + unsigned(i);
      __syncwarp();
      if (threadIdx.x % 32 == 0) consumer_release(&s.ring, at);
    }
  }
}

template <class Op>
__global__ void reduce_kernel(RingParams p) {
  auto& s = ptx::dynamic_smem<ClusterExchange<std::uint32_t>>();
  if (threadIdx.x == 0) init_cluster_exchange(&s);
  constexpr unsigned kRounds = test::kReduceRounds;
  for (unsigned round = 0; round < kRounds; ++round) {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    const unsigned at = blockIdx.x * kRounds + round;
    cluster_send(p.in[at], &s);
    const std::uint32_t* of_cta = cluster_receive(&s, round);
    float total = bit_cast<float>(of_cta[0]);
    for (std::uint32_t r = 1; r < ptx::cluster_nctarank(); ++r) {
      total = Op::combine(total, bit_cast<float>(of_cta[r]));
    }
    p.out[at * 32 + threadIdx.x] = bit_cast<std::uint32_t>(total);
  }
}

template <int kStages, Fill kFill>
cudaError_t ring(const RingParams& p, unsigned ctas, cudaStream_t stream) {
  return ptx::launch(&ring_kernel<kStages, kFill>,
                     {.grid = dim3(ctas), .block = dim3(kThreads), .smem = sizeof(Smem<kStages>)},
                     stream, p);
}
template <class Op, unsigned kCluster>
cudaError_t reduce(const RingParams& p, unsigned ctas, cudaStream_t stream) {
  return ptx::launch(&reduce_kernel<Op>,
                     {.grid = dim3(ctas),
                      .block = dim3(32),
                      .smem = sizeof(ClusterExchange<std::uint32_t>),
                      .cluster = dim3(kCluster)},
                     stream, p);
}

}  // namespace

std::span<const RingCase> ring_cases() {
  static const RingCase cases[] = {
      {"ring_1", false, 1, &ring<1, Fill::bulk_copy>},
      {"ring_2", false, 1, &ring<2, Fill::bulk_copy>},
      {"ring_3", false, 1, &ring<3, Fill::bulk_copy>},
      {"ring_4_stores", false, 1, &ring<4, Fill::stores>},
      {"ring_1_stores", false, 1, &ring<1, Fill::stores>},
      {"sum_1", true, 1, &reduce<Sum, 1>},
      {"sum_2", true, 2, &reduce<Sum, 2>},
      {"sum_3", true, 3, &reduce<Sum, 3>},
      {"sum_8", true, 8, &reduce<Sum, 8>},
      {"max_4", true, 4, &reduce<MaxNaN, 4>},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
