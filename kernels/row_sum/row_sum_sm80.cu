// Row-sum, generation sm80: everyone's fallback.
//
//   y[r] = sum over c of x[r, c]
//
// Shapes    x [rows, cols], any strides (0 too), any element-aligned address; y [rows], any stride.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 additions, one rounding at the store.
// Numerics  the tree of row_sum_plan.h: chains of at most 32 additions, then trees. A row's bits
//           depend on its values, their number and type, and on whether columns are adjacent.
// Floor     rows * (cols * size of x + size of y) bytes: one read, one write. Rows of up to 128 KB
//           move exactly these; of longer ones the sums of their chunks of 32 to 128 KB are written
//           and read again, 4 bytes each. Where rows are not 16-byte aligned each vector is loaded
//           twice, the second time out of L1.
#include "kernels/row_sum/row_sum_launch.h"
#include "kernels/row_sum/row_sum_strided.cuh"
#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

// Eight 16-byte loads in flight a thread: the shape of the plain reading kernel that is fastest on
// an H200 (4.62 TB/s at 4 GB, 2026-11-29). The borders between shapes are not measured yet.
constexpr Shape kSm80Configs[] = {
    // lanes a row, rows at once, vectors in flight, threads
    {1, 8, 1, 128},  {2, 8, 1, 128},  {4, 8, 1, 128},   {8, 8, 1, 128},
    {8, 4, 2, 128},  {16, 4, 2, 128}, {32, 4, 2, 128},  {32, 2, 4, 128},
    {32, 1, 8, 128}, {64, 1, 8, 64},  {128, 1, 8, 128}, {256, 1, 8, 256},
};

// Threads an SM that the registers allow at least. Not measured yet.
constexpr int kThreadsPerSm = 512;

// Groups of lanes within a warp, a row each, in several rows at once; consecutive groups have
// consecutive rows. Lanes hold logical vectors, so a row ends with the first round however it is
// aligned.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.shape.threads, Cfg::value.ctas_per_sm)
    row_sum_sm80_lanes(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kLanes = Cfg::value.shape.lanes;
  constexpr int kRows = Cfg::value.shape.rows;
  constexpr int kVectors = Cfg::value.shape.vectors;
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kBytes = int(sizeof(typename In::Element));

  const int warp = int(threadIdx.x) / kWarpThreads;
  const int group = int(threadIdx.x) % kWarpThreads / kLanes;
  const int lane = int(threadIdx.x) % kLanes;
  const int row_bytes = int(p.cols) * kBytes;  // short rows: at most 4 KiB
  const bool ragged = row_bytes % kVectorBytes != 0;
  const std::int64_t pitch = p.x_row_stride * kBytes;
  const std::int64_t step = pitch * kGroups;

  constexpr int kWarps = Cfg::value.shape.threads / kWarpThreads;
  std::int64_t tile = std::int64_t(blockIdx.x) * kWarps + warp;
  for (; tile < p.items; tile += std::int64_t(gridDim.x) * kWarps) {
    const std::int64_t first = tile * (kGroups * kRows) + group;
    const std::int64_t left = p.rows - first;
    const int rows = left < kGroups * kRows ? int(left) : kGroups * kRows;   // 0 or less: none
    const auto* x = static_cast<const unsigned char*>(p.x) + first * pitch;  // [rows, cols]
    const auto piece = [&](int i) {
      const int s = i / kVectors;
      const int at = (i % kVectors * kLanes + lane) * kVectorBytes;
      return Piece{x + s * step + at, s * kGroups < rows ? row_bytes - at : 0};
    };
    Vector w[kRows * kVectors];
    load_pieces<In>(p, piece, w);
    if (ragged) {  // the same masks for each row
#pragma unroll
      for (int i = 0; i < kRows * kVectors; ++i) {
        w[i] = masked(w[i], row_bytes - (i % kVectors * kLanes + lane) * kVectorBytes);
      }
    }

    float sums[kRows];
#pragma unroll
    for (int s = 0; s < kRows; ++s) {
      float acc[kItems<In>];
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        float items[kItems<In>];
        unpack<In>(w[s * kVectors + u], items);
#pragma unroll
        for (int e = 0; e < kItems<In>; ++e) acc[e] = u == 0 ? items[e] : acc[e] + items[e];
      }
      sums[s] = tree_sum(acc);
    }
    reduce_groups<kLanes, kRows>(sums, lane);
    constexpr int kSpares = kLanes > kRows ? kLanes / kRows : 1;  // lanes with the same sums
    if (lane % kSpares == 0) {
#pragma unroll
      for (int i = 0; i < kept_sums<kLanes, kRows>; ++i) {
        const int r = kept_sum<kLanes, kRows>(lane, i) * kGroups;
        if (r < rows) store_sum(p, first + r, sums[i]);
      }
    }
  }
}

constexpr int kMostThreads = 256;
constexpr int kMostWarps = kMostThreads / kWarpThreads;

struct CtaSmem {
  float sums[2][kMostWarps];
};

// Over the CTA, in one order for any number of warps: those that are not there count as 0.
// All threads execute it, the first gets the sum.
LK_DEVICE float sum_cta(float v, float (&sums)[kMostWarps]) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int warps = int(blockDim.x) / kWarpThreads;
  v = reduce_lanes<Sum>(v);
  if (lane == 0) sums[threadIdx.x / kWarpThreads] = v;
  __syncthreads();
  return reduce_lanes<Sum, kMostWarps>(lane < warps ? sums[lane] : 0.0f);
}

// A CTA a row, or a chunk of one. Its threads are the row's lanes: 64, 128 or 256.
template <class Cfg>
__global__ void __launch_bounds__(kMostThreads, Cfg::value.ctas_per_sm) row_sum_sm80_cta(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kVectors = Cfg::value.shape.vectors;
  constexpr int kBytes = int(sizeof(typename In::Element));
  auto& smem = ptx::dynamic_smem<CtaSmem>();
  const int threads = int(blockDim.x);

  int turn = 0;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const std::int64_t r = quotient(item, p.chunks);
    const std::int64_t c = (item - r * p.chunks.divisor) * p.chunk_cols;
    const std::int64_t cols = p.cols - c < p.chunk_cols ? p.cols - c : p.chunk_cols;
    const int bytes = int(cols) * kBytes;  // at most 32 vectors a thread
    const auto* x =
        static_cast<const unsigned char*>(p.x) + (r * p.x_row_stride + c) * kBytes;  // [cols]
    float acc[kItems<In>] = {};
    const int step = kVectors * threads * kVectorBytes;
#pragma unroll 1
    for (int round = 0; round < bytes; round += step) {
      const auto at = [&](int i) {
        return round + (i * threads + int(threadIdx.x)) * kVectorBytes;
      };
      Vector w[kVectors];
      load_pieces<In>(
          p,
          [&](int i) {
            return Piece{x + at(i), bytes - at(i)};
          },
          w);
      if (round + step > bytes) {
#pragma unroll
        for (int u = 0; u < kVectors; ++u) w[u] = masked(w[u], bytes - at(u));
      }
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        float items[kItems<In>];
        unpack<In>(w[u], items);
#pragma unroll
        for (int e = 0; e < kItems<In>; ++e) acc[e] = acc[e] + items[e];
      }
    }
    const float sum = sum_cta(tree_sum(acc), smem.sums[turn]);
    if (threadIdx.x == 0) store_sum(p, item, sum);
    turn ^= 1;
  }
}

struct Sm80 {
  static constexpr auto& kShapes = kSm80Configs;

  template <DType kType, int kShape>
  static KernelUse unit_kernel() {
    constexpr Shape kS = kShapes[kShape];
    if constexpr (kS.lanes <= kWarpThreads) {
      constexpr int kCtas = kThreadsPerSm / kS.threads;
      using Cfg = std::integral_constant<Config, Config{kType, kS, kCtas}>;
      return {&row_sum_sm80_lanes<Cfg>, kS.threads, kCtas, 0};
    } else {  // one kernel for the shapes that differ in their lanes
      constexpr Shape kAny{kMostThreads, kS.rows, kS.vectors, kMostThreads};
      constexpr int kCtas = kThreadsPerSm / kMostThreads;
      using Cfg = std::integral_constant<Config, Config{kType, kAny, kCtas}>;
      return {&row_sum_sm80_cta<Cfg>, kS.threads, kCtas, sizeof(CtaSmem)};
    }
  }
  template <DType kType, Path kPath, int kShape>
  static KernelUse strided_kernel() {
    // H200, 2026-12-01, 2^28 elements by columns, TB/s: 4096 columns bf16 4.23, fp32 4.31; 32
    // columns 3.91 and 4.20, where two CTAs an SM give 3.35 and four, which spill, 1.38 and 4.18.
    constexpr bool kBrief = kShape == kStridedShapes - 1;
    constexpr int kVectors = kBrief ? kShape - 1 : kShape;
    constexpr int kCtas = kBrief ? 3 : kThreadsPerSm / kStridedThreads;
    constexpr StridedConfig kConfig{kType, 1 << kVectors / 2, kVectors % 2 == 1, kBrief, kCtas};
    using Cfg = std::integral_constant<StridedConfig, kConfig>;
    constexpr auto use = [](KernelPointer kernel) {
      return KernelUse{kernel, kStridedThreads, kCtas, sizeof(StridedSmem)};
    };
    if constexpr (kPath == Path::strided_vectors) return use(&row_sum_strided_vectors<Cfg>);
    if constexpr (kPath == Path::strided_rows) return use(&row_sum_strided_rows<Cfg>);
    if constexpr (kPath == Path::strided_cols) return use(&row_sum_strided_cols<Cfg>);
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("row_sum_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
