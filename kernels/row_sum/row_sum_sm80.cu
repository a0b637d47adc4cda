// Row-sum, generation sm80: everyone's fallback.
//
//   y[r] = sum over c of x[r, c]
//
// Shapes    x [rows, cols], any strides (0 too), any element-aligned address; y [rows], any stride.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 additions, one rounding at the store.
// Numerics  the tree of row_sum_plan.h: chains of at most 32 additions, then trees. A row's bits
//           depend on its values, their number and type, and on whether columns are adjacent.
// Floor     rows * (cols * size of x + size of y) bytes: one read, one write. Rows of up to 128 KB
//           move exactly these; of longer ones the sums of their chunks of 64 to 128 KB are written
//           and read again, 4 bytes each. A 16-byte vector that two rows share is loaded for both.
#include "kernels/row_sum/row_sum_launch.h"
#include "kernels/row_sum/row_sum_staged.cuh"
#include "kernels/row_sum/row_sum_strided.cuh"
#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

// H200, 2026-12-01, 2^28 elements, of the reading rate at that size in the same run, the output
// counted: of bf16 16 columns 0.94, 15 0.92, 31 0.94, 64 0.93 to 0.96, 63 0.95, 128 and 256 0.97,
// 255 0.95, 1023 0.97, 1024, 4095, 4096 0.99, 8192 and more 0.97 to 0.99; of f32 15 and 16 0.945,
// 63 and 64 0.93 to 0.94, 255 and 256 0.97, 1023 and more 0.99. Except where a row is one lane's,
// whole rows are read in 512 adjacent bytes a warp (256 columns of bf16 by 8 lanes: 0.93), and
// ragged ones in more vectors a lane, since each row has one more of these (63 columns of bf16 by 8
// lanes: 0.53). Staged or not: 7 columns of bf16 152 and 204 us, 9 162 and 191, 15 135 and 135, 31
// 128 and 130, 63 124 and 129.
constexpr Shape kSm80Configs[] = {
    // lanes a row, rows at once, vectors of a lane; the same of ragged rows; staged; threads
    {1, 8, 1, 1, 4, 1, true, 128},        {1, 4, 2, 1, 4, 2, true, 128},
    {1, 2, 4, 1, 2, 4, true, 128},        {8, 4, 1, 2, 1, 4, true, 128},
    {16, 8, 1, 4, 1, 4, false, 128},      {32, 8, 1, 8, 1, 4, false, 128},
    {32, 2, 2, 16, 1, 4, false, 128},     {32, 1, 4, 32, 1, 4, false, 128},
    {32, 1, 8, 32, 1, 8, false, 128},     {32, 1, 16, 32, 1, 16, false, 128},
    {64, 1, 16, 64, 1, 16, false, 64},    {128, 1, 16, 128, 1, 16, false, 128},
    {256, 1, 16, 256, 1, 16, false, 256},
};

// Threads an SM that the registers allow at least: beyond 32 lanes, and of other columns.
constexpr int kThreadsPerSm = 512;

// Groups of lanes within a warp, a row each, in several rows at once; consecutive groups have
// consecutive rows. A row that begins within a vector may touch one more than its lanes have: the
// elements of that one and of the first fill a single vector.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    row_sum_sm80_lanes(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr bool kWhole = Cfg::value.whole;
  constexpr int kLanes = Cfg::value.lanes;
  constexpr int kRows = Cfg::value.rows;
  constexpr int kVectors = Cfg::value.vectors;
  constexpr int kLoads = kVectors + (kWhole ? 0 : 1);  // of a row
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kRoundBytes = kLanes * kVectorBytes;
  constexpr int kWarps = Cfg::value.threads / kWarpThreads;
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
    // Vector i % kLoads of the lane's in row i / kLoads of the group's.
    const auto piece = [&](int i) {
      const int s = i / kLoads;
      const unsigned char* begin = x + s * step;
      const int phase = kWhole ? 0 : int(phase_of(begin, kVectorBytes));
      const int at = i % kLoads * kRoundBytes + lane * kVectorBytes;
      const int end = s * kGroups < rows ? phase + row_bytes : 0;
      return Piece{vector_of(begin + lane * kVectorBytes) + i % kLoads * kRoundBytes, phase - at,
                   end - at};
    };
    Vector w[kRows * kLoads];
    const bool inside = kWhole || rows_in_view(p, x, x + (kRows - 1) * step + row_bytes);
    load_pieces<In, Cfg::value.once>(p, inside, piece, w);

    float sums[kItems<In> * kRows];
#pragma unroll
    for (int s = 0; s < kRows; ++s) {
      Vector v[kVectors];
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        const int i = s * kLoads + u;
        v[u] = w[i];
        if (!kWhole && (u + 1) * kRoundBytes > row_bytes) v[u] = masked_from(w[i], piece(i).to);
      }
      if constexpr (!kWhole) {
        const int last = s * kLoads + kVectors;
        v[0] = merged(masked_below(v[0], piece(s * kLoads).from),
                      masked_from(w[last], piece(last).to));
      }
      add_vectors<In>(v, sums + s, kRows);
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
      if (u * kWarpThreads + lane < left) w[u] = load_once<true>(at + u * kStep);
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
    const float sum = cols > 0 ? sum_piece<In, Cfg::value.vectors>(x, int(cols) * kBytes) : 0.0f;
    const float total = sum_cta(sum, smem.sums[turn]);
    if (threadIdx.x == 0) store_sum(p, item, total);
    turn ^= 1;
  }
}

// Of 128 threads, that the registers must allow at least, by the vectors that a lane has in flight.
// Ragged rows of 15 columns of bf16, 12 vectors: 142 us with 4, 135 with 6.
constexpr int ctas_per_sm(int loads) { return loads <= 5 ? 8 : loads <= 12 ? 6 : 4; }

struct Sm80 {
  static constexpr auto& kShapes = kSm80Configs;

  template <DType kType, int kShape, bool kWhole>
  static KernelUse unit_kernel() {
    constexpr Shape kS = kShapes[kShape];
    if constexpr (kS.lanes <= kWarpThreads) {
      static_assert(kS.lanes * kS.vectors == kS.ragged_lanes * kS.ragged_vectors);
      constexpr int kLanes = kWhole ? kS.lanes : kS.ragged_lanes;
      constexpr int kRows = kWhole ? kS.rows : kS.ragged_rows;
      constexpr int kVectors = kWhole ? kS.vectors : kS.ragged_vectors;
      constexpr bool kOnce = kLanes >= 8 || (kWhole && kVectors == 1);
      constexpr int kCtas = ctas_per_sm(kRows * (kVectors + (kWhole ? 0 : 1)));
      using Cfg = std::integral_constant<Config, Config{kType, kLanes, kRows, kVectors, kS.threads,
                                                        kWhole, kOnce, kCtas}>;
      return {&row_sum_sm80_lanes<Cfg>, kS.threads, kCtas, 0};
    } else {  // one kernel for the shapes that differ in their lanes, and for any alignment
      constexpr int kCtas = kThreadsPerSm / kMostThreads;
      using Cfg = std::integral_constant<Config, Config{kType, kWarpThreads, 1, kS.vectors,
                                                        kMostThreads, false, true, kCtas}>;
      return {&row_sum_sm80_cta<Cfg>, kS.threads, kCtas, sizeof(CtaSmem)};
    }
  }
  template <DType kType, int kVectors>
  static KernelUse staged_kernel() {
    constexpr int kCtas = kVectors <= 4 ? 8 : 6;
    using Cfg =
        std::integral_constant<StagedConfig, StagedConfig{kType, kVectors, kStagedThreads, kCtas}>;
    return {&row_sum_staged<Cfg>, kStagedThreads, kCtas, sizeof(StagedSmem<Cfg>)};
  }
  template <DType kType, Path kPath, int kShape>
  static KernelUse strided_kernel() {
    // H200, 2026-12-01, 2^28 elements by columns, TB/s: 4096 columns bf16 4.23, fp32 4.31; 32
    // columns bf16 3.35, and 3.91 with three CTAs an SM, which spill on sm_80 and sm_100.
    constexpr bool kBrief = kShape == kStridedShapes - 1;
    constexpr int kVectors = kBrief ? kShape - 1 : kShape;
    constexpr int kCtas = kThreadsPerSm / kStridedThreads;
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
