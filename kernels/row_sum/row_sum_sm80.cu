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
//           and read again, 4 bytes each. A 16-byte vector that two rows share is loaded for both.
#include "kernels/row_sum/row_sum_launch.h"
#include "kernels/row_sum/row_sum_staged.cuh"
#include "kernels/row_sum/row_sum_strided.cuh"
#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

// H200, 2026-12-01, 2^28 elements, of the reading rate of the same run, output counted: 16 columns
// of bf16 0.95, 64 0.94, 256 0.96, 1024 and more 0.98 to 0.99; f32 within 0.01 of it. A row's lanes
// should read 64 bytes at once: 64 columns of bf16 by two lanes 0.86, by four 0.94.
constexpr Shape kSm80Configs[] = {
    // lanes a row, rows at once, vectors in flight, threads
    {1, 8, 1, 128},  {1, 4, 2, 128}, {2, 4, 2, 128},   {4, 4, 2, 128},
    {8, 4, 2, 128},  {8, 2, 4, 128}, {16, 2, 4, 128},  {32, 1, 4, 128},
    {32, 1, 8, 128}, {64, 1, 8, 64}, {128, 1, 8, 128}, {256, 1, 8, 256},
};

// Threads an SM that the registers allow at least. Not measured yet.
constexpr int kThreadsPerSm = 512;

// Groups of lanes within a warp, a row each, in several rows at once; consecutive groups have
// consecutive rows. A row that begins within a vector may touch one more.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.shape.threads, Cfg::value.ctas_per_sm)
    row_sum_sm80_lanes(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr bool kWhole = Cfg::value.whole;
  constexpr int kLanes = Cfg::value.shape.lanes;
  constexpr int kRows = Cfg::value.shape.rows;
  constexpr int kVectors = Cfg::value.shape.vectors + (kWhole ? 0 : 1);
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kRoundBytes = kLanes * kVectorBytes;

  constexpr int kWarps = Cfg::value.shape.threads / kWarpThreads;
  constexpr int kTileRows = kGroups * kRows;  // of a warp

  const int warp = int(threadIdx.x) / kWarpThreads;
  const int group = int(threadIdx.x) % kWarpThreads / kLanes;
  const int lane = int(threadIdx.x) % kLanes;
  const int row_bytes = int(p.cols) * kBytes;  // short rows: at most 4 KiB
  const std::int64_t pitch = p.x_row_stride * kBytes;
  const std::int64_t step = pitch * kGroups;

  for (std::int64_t i = blockIdx.x; i < p.items; i += gridDim.x) {
    const std::int64_t first = (i * kWarps + warp) * kTileRows + group;
    const std::int64_t left = p.rows - first;
    const int rows = left < kTileRows ? int(left) : kTileRows;               // 0 or less: none
    const auto* x = static_cast<const unsigned char*>(p.x) + first * pitch;  // [rows, cols]
    // Vector i % kVectors of the lane's in row i / kVectors of the group's.
    const auto piece = [&](int i) {
      const int s = i / kVectors;
      const unsigned char* begin = x + s * step;
      const int phase = kWhole ? 0 : int(phase_of(begin, kVectorBytes));
      const int at = i % kVectors * kRoundBytes + lane * kVectorBytes;
      const int end = s * kGroups < rows ? phase + row_bytes : 0;
      return Piece{vector_of(begin + lane * kVectorBytes) + i % kVectors * kRoundBytes, phase - at,
                   end - at};
    };
    Vector w[kRows * kVectors];
    const bool inside = kWhole || rows_in_view(p, x, x + (kRows - 1) * step + row_bytes);
    load_pieces<In>(p, inside, piece, w);

    float sums[kItems<In> * kRows];
#pragma unroll
    for (int i = 0; i < kRows * kVectors; ++i) {
      const int s = i / kVectors;
      const int u = i % kVectors;
      if (!kWhole && u == 0) w[i] = masked_below(w[i], piece(i).from);
      if (!kWhole && (u + 1) * kRoundBytes > row_bytes) w[i] = masked_from(w[i], piece(i).to);
      float items[kItems<In>];
      unpack<In>(w[i], items);
#pragma unroll
      for (int e = 0; e < kItems<In>; ++e) {
        float& sum = sums[e * kRows + s];
        sum = u == 0 ? items[e] : sum + items[e];
      }
    }
    reduce_rows<kLanes, kRows>(sums, lane);
    constexpr int kSpares = kLanes > kRows ? kLanes / kRows : 1;  // lanes with the same sums
    if (lane % kSpares == 0) {
      const int r = kept_sum<kLanes, kRows>(lane, 0) * kGroups;
      const std::int64_t at = (first + r) * p.y_stride;
      constexpr int kNext = kLanes * kGroups;
#pragma unroll
      for (int i = 0; i < kept_sums<kLanes, kRows>; ++i) {
        if (r + i * kNext < rows) store_sum_at(p, at + i * (kNext * p.y_stride), sums[i]);
      }
    }
  }
}

constexpr int kMostThreads = 256;
constexpr int kMostWarps = kMostThreads / kWarpThreads;

struct CtaSmem {
  float sums[2][kMostWarps];
};

// Of values that all lanes of a warp hold, over the CTA, in one order for any number of warps:
// those that are not there count as 0. All threads execute it, the first gets the sum.
LK_DEVICE float sum_cta(float v, float (&sums)[kMostWarps]) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int warps = int(blockDim.x) / kWarpThreads;
  if (lane == 0) sums[threadIdx.x / kWarpThreads] = v;
  __syncthreads();
  return reduce_lanes<Sum, kMostWarps>(lane < warps ? sums[lane] : 0.0f);
}

// `bytes` bytes from x on, by a warp: the vectors that lie within them in rounds, lane 0 the first.
// Of those at their ends, which they fill in part, each element is loaded by a lane of its own and
// handed to the lane whose vector it is in.
template <class In, int kVectors>
LK_DEVICE float sum_piece(const unsigned char* x, int bytes) {
  constexpr int kSize = int(sizeof(typename In::Element));
  const auto load = [&](bool there, int at) {
    std::uint32_t bits = 0;
    if (there) bits = ptx::ld_global(reinterpret_cast<const typename In::Element*>(x + at));
    return In::decode(typename In::Element(bits));
  };
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int phase = int(phase_of(x, kVectorBytes));
  const int skipped = phase == 0 ? 0 : kVectorBytes - phase;
  const int count = bytes > skipped ? (bytes - skipped) / kVectorBytes : 0;
  const int tail_at = skipped + count * kVectorBytes + lane * kSize;
  const int head_at = skipped - kVectorBytes + lane * kSize;
  const float tail = load(tail_at < bytes && lane < kItems<In>, tail_at);
  const float head = load(head_at >= 0 && head_at < bytes && lane < kItems<In>, head_at);

  float sums[kItems<In>];
  const auto* at = x + skipped + lane * kVectorBytes;
  int left = count;
  bool first = true;
  do {
    Vector w[kVectors];
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      constexpr int kStep = kWarpThreads * kVectorBytes;
      w[u] = Vector{};
      if (u * kWarpThreads + lane < left) w[u] = load_vector<kVectorWords>(at + u * kStep);
    }
    if (first) {  // here, lest the loads wait for the first vector
#pragma unroll
      for (int e = 0; e < kItems<In>; ++e) {
        const float v = ptx::shfl_sync_idx(head, unsigned(e));
        sums[e] = lane == kWarpThreads - 1 ? v : 0.0f;
      }
    }
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      float items[kItems<In>];
      unpack<In>(w[u], items);
#pragma unroll
      for (int e = 0; e < kItems<In>; ++e) sums[e] = sums[e] + items[e];
    }
    first = false;
    at += kVectors * kWarpThreads * kVectorBytes;
    left -= kVectors * kWarpThreads;
  } while (left > 0);
#pragma unroll
  for (int e = 0; e < kItems<In>; ++e) {
    const float v = ptx::shfl_sync_idx(tail, unsigned(e));
    sums[e] = sums[e] + (lane == count % kWarpThreads ? v : 0.0f);
  }
  reduce_rows<kWarpThreads, 1>(sums, lane);
  return sums[0];
}

// A CTA a row, or a chunk of one: each warp sums a piece of it.
template <class Cfg>
__global__ void __launch_bounds__(kMostThreads, Cfg::value.ctas_per_sm) row_sum_sm80_cta(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kBytes = int(sizeof(typename In::Element));
  auto& smem = ptx::dynamic_smem<CtaSmem>();
  const std::int64_t piece = int(threadIdx.x) / kWarpThreads * p.piece_cols;

  int turn = 0;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const std::int64_t r = quotient(item, p.chunks);
    const std::int64_t c = (item - r * p.chunks.divisor) * p.chunk_cols;
    std::int64_t cols = (p.cols - c < p.chunk_cols ? p.cols - c : p.chunk_cols) - piece;
    cols = cols < p.piece_cols ? cols : p.piece_cols;
    const auto* x = static_cast<const unsigned char*>(p.x) +
                    (r * p.x_row_stride + c + piece) * kBytes;  // [cols]
    const float sum =
        cols > 0 ? sum_piece<In, Cfg::value.shape.vectors>(x, int(cols) * kBytes) : 0.0f;
    const float total = sum_cta(sum, smem.sums[turn]);
    if (threadIdx.x == 0) store_sum(p, item, total);
    turn ^= 1;
  }
}

struct Sm80 {
  static constexpr auto& kShapes = kSm80Configs;

  template <DType kType, int kShape, bool kWhole>
  static KernelUse unit_kernel() {
    constexpr Shape kS = kShapes[kShape];
    if constexpr (kS.lanes <= kWarpThreads) {
      constexpr int kCtas = kThreadsPerSm / kS.threads;
      using Cfg = std::integral_constant<Config, Config{kType, kS, kWhole, kCtas}>;
      return {&row_sum_sm80_lanes<Cfg>, kS.threads, kCtas, 0};
    } else {  // one kernel for the shapes that differ in their lanes, and for any alignment
      constexpr Shape kAny{kMostThreads, kS.rows, kS.vectors, kMostThreads};
      constexpr int kCtas = kThreadsPerSm / kMostThreads;
      using Cfg = std::integral_constant<Config, Config{kType, kAny, false, kCtas}>;
      return {&row_sum_sm80_cta<Cfg>, kS.threads, kCtas, sizeof(CtaSmem)};
    }
  }
  template <DType kType, int kShape>
  static KernelUse staged_kernel() {
    constexpr Shape kS = kShapes[kShape];
    constexpr int kVectors = kVectorBytes / int(size_of(kType));
    constexpr StagedConfig kConfig{kType, kS.lanes * kVectors,
                                   kS.lanes * kS.vectors * kVectorBytes + kStagedGapBytes, 1,
                                   kThreadsPerSm / kStagedThreads};
    using Cfg = std::integral_constant<StagedConfig, kConfig>;
    return {&row_sum_staged<Cfg>, kStagedThreads, kConfig.ctas_per_sm, sizeof(StagedSmem<Cfg>)};
  }
  template <DType kType, Path kPath>
  static KernelUse strided_kernel() {
    constexpr int kCtas = kThreadsPerSm / kStridedThreads;
    constexpr int kRows = kPath == Path::strided_row_pairs && kType != DType::f32 ? 2 : 1;
    using Cfg = std::integral_constant<StridedConfig, StridedConfig{kType, kRows, kCtas}>;
    if constexpr (kPath == Path::strided_cols) {
      return {&row_sum_strided_cols<Cfg>, kStridedThreads, kCtas, sizeof(StridedSmem)};
    } else {
      return {&row_sum_strided_rows<Cfg>, kStridedThreads, kCtas, sizeof(StridedSmem)};
    }
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("row_sum_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
