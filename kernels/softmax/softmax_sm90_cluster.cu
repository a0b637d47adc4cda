// Softmax, generation sm90: rows with unit column stride that the CTAs of a cluster share.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], unit column strides, cols up to 524288 (16 bits -> the same) or
//           262144 (-> f32), any row strides, any element-aligned
//           address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols and the types alone
//           (softmax_plan.h): within a CTA, then by the rank of the CTAs.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write, which is what moves.
//
// This is softmax_sm80_block.cu with a cluster where it has a CTA: what Hopper adds is that a row
// too long for one SM is still read once. Maximum and sum go through distributed shared memory.
#include "kernels/common/cluster_exchange.cuh"
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_row.cuh"
#include "kernels/softmax/softmax_split.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// With 64 registers, of which a few that only rows after the first need spill. H200, 2026-12-01,
// 2^27 elements, of the copy ceiling: bf16 0.956 (65536 columns), 0.968 (131072), 0.912 (151936);
// fp32 0.962 (131072), 0.899 (151936). Misaligned: bf16 0.942 (50257 and 128255), f16 0.943 and
// 0.938, fp32 0.949 and 0.918; x alone by one element 0.81 (131072 of bf16). The loads come first:
// with what the ends of rows need before them 0.949 (131072 of bf16). Maxima and sums of warps
// exchanged instead of those of CTAs: 0.897. Asking the L2 for the row after next costs a fifth.
// Longer rows are softmax_sm80_split.cu's: where the rest of them waited in shared memory, they
// took 178 to 190 us (bf16) and 314 to 329 (fp32, 524288 columns).
constexpr Config kSm90ClusterConfigs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::cluster, 8, 512, 2},
    {DType::f16, DType::f16, Path::cluster, 8, 512, 2},
    {DType::f16, DType::f32, Path::cluster, 8, 512, 2},
    {DType::bf16, DType::bf16, Path::cluster, 8, 512, 2},
    {DType::bf16, DType::f32, Path::cluster, 8, 512, 2},
};

struct alignas(16) ClusterSmem {
  ClusterExchange<uint2> partials;
  float slots[2][kWarpThreads];
};

// The row's maximum and sum from those of the CTAs' shares.
LK_DEVICE Partial combined(const uint2* of_cta, const Params& p) {
  const int lane = int(threadIdx.x) % kMaxClusterCtas;
  Partial mine{.most = kMinusInfinity, .sum = 0};
  if (lane < int(ptx::cluster_nctarank())) mine = bit_cast<Partial>(of_cta[lane]);
  const float most = reduce_lanes<MaxNaN, kMaxClusterCtas>(mine.most);
  const float less = subtrahend(most, p.exponent, p.zero_neg_inf_row);
  const float sum = lane < int(ptx::cluster_nctarank()) ? rebased(mine, less, p.exponent) : 0;
  return {.most = most, .sum = reduce_lanes<Sum, kMaxClusterCtas>(sum)};
}

// A row a cluster.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm90_cluster(Params p) {
  using V = Vectors<Cfg>;
  auto& smem = ptx::dynamic_smem<ClusterSmem>();
  if (threadIdx.x == 0) init_cluster_exchange(&smem.partials);
  ptx::barrier_cluster_arrive_relaxed();
  const int warps = int(blockDim.x) / kWarpThreads;
  for (std::uint32_t round = 0;; ++round) {
    const std::int64_t r = ptx::clusterid().x + std::int64_t(round) * ptx::nclusterid().x;
    if (r >= p.rows) break;
    const int warp = int(ptx::cluster_ctarank()) * warps + warp_of_cta() + zero_of(r);
    const int warp_cols = V::kWindows * kWarpThreads * V::kItems;
    const std::int64_t first = std::int64_t(warp) * warp_cols;
    Part<Cfg> part;
    part.locate(p, r, first, columns_within(first, p.cols, warp_cols), kWarpThreads);
    Held<Cfg> held;
    held.fetch(part);
    held.arrive(part, p.exponent);
    const float most = reduce_cta<MaxNaN>(held.most(), smem.slots[0], warps);
    const Base own = held.base(subtrahend(most, p.exponent, true), p.exponent, p.log);
    float of_class[V::kItems];
    held.sum(own, p.exponent, of_class);
    float sum = own.unit * reduce_cyclic(of_class);
    sum = reduce_warps<Sum>(sum, smem.slots[1], warps);
    ptx::barrier_cluster_wait_acquire();  // the peers have started, and read what I told them
    if (warp_of_cta() == 0) {
      const Partial share{.most = most, .sum = sum};
      cluster_send(bit_cast<uint2>(share), &smem.partials);
    }
    const Partial all = combined(cluster_receive(&smem.partials, round), p);
    // Not where the grid has a cluster for every row.
    if (r + ptx::nclusterid().x < p.rows) ptx::barrier_cluster_arrive_release();
    const float less = subtrahend(all.most, p.exponent, p.zero_neg_inf_row);
    const Norm norm(p, all.sum);
    const Base base = held.base(less, p.exponent, p.log);
    held.store(part, base, p, norm);
  }
}

struct Sm90Cluster {
  static constexpr const char* kTakes =
      "needs unit column strides and rows that a cluster can hold and half a CTA cannot";
  static constexpr auto& kConfigs = kSm90ClusterConfigs;
  static Plan plan(const Problem& problem) { return make_cluster_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage) {
    return &softmax_sm90_cluster<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan&) {
    return sizeof(ClusterSmem);
  }
};

}  // namespace

const KernelRow<Problem> sm90_cluster =
    row_of<Row<Sm90Cluster>>("softmax_sm90_cluster", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
