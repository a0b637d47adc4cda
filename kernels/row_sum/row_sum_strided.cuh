// Row-sum over columns that are not adjacent. Three kernels with one tree; which of them runs is a
// matter of what the lanes of a warp read together: vectors of adjacent rows, or single elements.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StridedConfig {
  DType x_type;
  int lanes;     // vectors of rows: a warp's that stand beside each other
  int chains;    // of a lane's at a time
  bool aligned;  // all of them, in every column
  bool brief;    // a piece has kChains columns at most: no sums are carried along
  int ctas_per_sm;
  bool pdl;
};

struct StridedSmem {
  alignas(16) float sums[2][kStridedWarps][kStridedRows];  // of pieces
};

// Where an item of work lies: `pieces` warps share a row, or warp_rows of them.
struct StridedItem {
  std::int64_t row;         // first of the warp
  std::int64_t sum;         // index of that row's sum
  std::int64_t begin, end;  // columns of the warp's piece
  int piece;
};
LK_DEVICE StridedItem strided_item(const Params& p, std::int64_t item) {
  const int warp = int(threadIdx.x) / kWarpThreads;
  const std::int64_t block = quotient(item, p.chunks);
  const std::int64_t chunk = item - block * p.chunks.divisor;
  const int piece = warp % p.pieces;
  const std::int64_t row = (block * (kStridedWarps / p.pieces) + warp / p.pieces) * p.warp_rows;
  const std::int64_t begin = chunk * p.chunk_cols + piece * p.piece_cols;
  const std::int64_t end = begin + p.piece_cols < p.cols ? begin + p.piece_cols : p.cols;
  return {row, row * p.chunks.divisor + chunk, begin, end, piece};
}

// The pieces of a row, which warps `first` to first + pieces - 1 left in `sums`; of fewer than 8
// the others count as 0.
LK_DEVICE float sum_pieces(const float (&sums)[kStridedWarps][kStridedRows], int first, int pieces,
                           int row) {
  float v[kStridedWarps];
#pragma unroll
  for (int i = 0; i < kStridedWarps; ++i) v[i] = i < pieces ? sums[first + i][row] : 0.0f;
  return tree_sum(v);
}

// Element i becomes element i + count, if bits of count below 2 * kStep alone are set.
template <int kStep, int kCount>
LK_DEVICE void shift(float (&w)[kCount], std::uint32_t count) {
  if constexpr (kStep > 0) {
    const bool move = (count & kStep) != 0;
#pragma unroll
    for (int i = 0; i + kStep < kCount; ++i) w[i] = move ? w[i + kStep] : w[i];
    shift<kStep / 2>(w, count);
  }
}

// The elements of each lane's vector from `count` on, count < kItems<In>, those of the next lane
// following.
template <class In>
LK_DEVICE void shift_rows(float (&v)[kItems<In>], std::uint32_t count, int lane) {
  float w[2 * kItems<In>];
#pragma unroll
  for (int i = 0; i < kItems<In>; ++i) {
    w[i] = v[i];
    w[kItems<In> + i] = ptx::shfl_sync_idx(v[i], unsigned(lane + 1) % kWarpThreads);
  }
  shift<kItems<In> / 2>(w, count);
#pragma unroll
  for (int i = 0; i < kItems<In>; ++i) v[i] = w[i];
}

template <class In>
LK_DEVICE void add(float (&a)[kItems<In>], const float (&b)[kItems<In>]) {
#pragma unroll
  for (int i = 0; i < kItems<In>; ++i) a[i] = a[i] + b[i];
}

// Adjacent rows: lanes take vectors of them, and what is left of a warp takes columns. A lane has
// kMine chains at a time, so the columns are gone through in sweeps:
//   chain = (j * kSweeps + sweep) * kGroups + group          j < kMine
// Where columns are misaligned a lane adds up the aligned vectors that hold its rows, for the
// columns of a chain are all out of alignment by as much: only sums of chains are shifted.
template <class Cfg>
__global__ void __launch_bounds__(kStridedThreads, Cfg::value.ctas_per_sm)
    row_sum_strided_vectors(Params p) {
  using In = Storage<Cfg::value.x_type>;
  using Element = typename In::Element;
  constexpr bool kAligned = Cfg::value.aligned;
  constexpr int kLanes = Cfg::value.lanes;
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kMine = Cfg::value.chains;
  constexpr int kSweeps = kLanes / kMine;
  constexpr int kStep = kSweeps * kGroups;  // columns from one chain of a lane's to the next
  constexpr int kInFlight = 8;
  constexpr int kRounds = kInFlight / kMine;  // of kChains columns
  constexpr int kRows = (kLanes - (kAligned ? 0 : 1)) * kItems<In>;
  constexpr int kBytes = int(sizeof(Element));
  // Chains of a lane's that are out of alignment by different numbers of elements.
  constexpr int kPhases = !kAligned && kMine * kItems < In >> kChains ? 2 : 1;
  static_assert(kRows <= kStridedRows && (!Cfg::value.brief || kRounds == 1));
  auto& smem = ptx::dynamic_smem<StridedSmem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int group = lane / kLanes;
  const int first = lane % kLanes * kItems<In>;  // row, but for the alignment
  const std::int64_t pitch = p.x_col_stride * kBytes;
  const std::int64_t step = kStep * pitch;
  const auto aligned = [](const unsigned char* v) { return kAligned ? v : vector_of(v); };
  int turn = 0;
  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item(p, item);
    const std::int64_t left = p.rows - at.row;
    const int rows = left < p.warp_rows ? int(left) : p.warp_rows;  // 0 or less: none
    const int cols = int(at.end - at.begin);
    // [cols, kLanes vectors], strided and misaligned
    const auto* x =
        static_cast<const unsigned char*>(p.x) + (at.row + first) * kBytes + at.begin * pitch;
    const bool inside = rows_in_view(p, aligned(x), aligned(x + (cols - 1) * pitch) + kVectorBytes);
    const int last = kAligned ? rows : rows + kItems<In> - 1;
    float total[kSweeps][kItems<In>];
#pragma unroll
    for (int s = 0; s < kSweeps; ++s) {
      const int sweep = kSweeps == 4 ? s % 2 * 2 + s / 2 : s;  // 0 and 2 first: fewer sums to keep
      const int own = sweep * kGroups + group;                 // the lane's first column
      const unsigned char* column = x + own * pitch;
      int left = first < last ? cols - own : 0;
      float acc[kMine][kItems<In>] = {};
#pragma unroll 1
      for (int c = 0; c < cols; c += kRounds * kChains) {
        Vector w[kInFlight];
        if (inside) {
#pragma unroll
          for (int i = 0; i < kInFlight; ++i) {
            w[i] = Vector{};
            if (i * kStep < left) w[i] = load_once<kAligned>(aligned(column + i * step));
          }
        } else {
          load_pieces<In, kAligned>(
              p, false,
              [&](int i) {
                const unsigned char* v = aligned(column + i * step);
                const int from = int(column + i * step - v) - first * kBytes;
                return Piece{v, from, i * kStep < left ? from + rows * kBytes : 0};
              },
              w);
        }
#pragma unroll
        for (int i = 0; i < kInFlight; ++i) {
          float v[kItems<In>];
          unpack<In>(w[i], v);
          add<In>(acc[i % kMine], v);
        }
        if constexpr (Cfg::value.brief) break;
        column += kRounds * kChains * pitch;
        left -= kRounds * kChains;
      }
      // Chains that are in phase with each other, then all.
#pragma unroll
      for (int half = kMine / 2; half >= kPhases; half /= 2) {
#pragma unroll
        for (int i = 0; i < half; ++i) add<In>(acc[i], acc[i + half]);
      }
      if constexpr (!kAligned) {
#pragma unroll
        for (int i = 0; i < kPhases; ++i) {
          shift_rows<In>(acc[i], phase_of(x + own * pitch + i * step, kVectorBytes) / kBytes, lane);
        }
      }
      if constexpr (kPhases == 2) add<In>(acc[0], acc[1]);
#pragma unroll
      for (int r = 0; r < kItems<In>; ++r) total[s][r] = acc[0][r];
      if constexpr (kSweeps > 1) {
        if (s % 2 == 1) add<In>(total[s - 1], total[s]);
      }
    }
    float sums[kItems<In>];
#pragma unroll
    for (int r = 0; r < kItems<In>; ++r) {
      sums[r] = kSweeps == 4 ? total[0][r] + total[kSweeps / 2][r] : total[0][r];
#pragma unroll
      for (int mask = kWarpThreads / 2; mask >= kLanes; mask /= 2) {
        sums[r] = sums[r] + ptx::shfl_sync_bfly(sums[r], unsigned(mask));
      }
    }
    float(&mine)[kStridedRows] = smem.sums[turn][warp];
    if (group == 0 && first < kRows) {
#pragma unroll
      for (int r = 0; r < kItems<In>; r += 4) {
        ptx::st_shared(
            reinterpret_cast<uint4*>(&mine[first + r]),
            bit_cast<uint4>(Words<4>{
                {bit_cast<std::uint32_t>(sums[r]), bit_cast<std::uint32_t>(sums[r + 1]),
                 bit_cast<std::uint32_t>(sums[r + 2]), bit_cast<std::uint32_t>(sums[r + 3])}}));
      }
    }
    if (p.pieces > 1) {
      __syncthreads();
    } else {
      __syncwarp();
    }
    if (at.piece == 0) {
#pragma unroll 1
      for (int r = lane; r < rows; r += kWarpThreads) {
        store_sum(p, at.sum + r * p.chunks.divisor, sum_pieces(smem.sums[turn], warp, p.pieces, r));
      }
    }
    turn ^= 1;
  }
}

// A row a lane: the 32 chains of a piece are 32 registers.
template <class Cfg>
__global__ void __launch_bounds__(kStridedThreads, Cfg::value.ctas_per_sm)
    row_sum_strided_rows(Params p) {
  using In = Storage<Cfg::value.x_type>;
  auto& smem = ptx::dynamic_smem<StridedSmem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;  // row of the warp's
  int turn = 0;
  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item(p, item);
    const bool is_row = at.row + lane < p.rows;
    const auto* x = static_cast<const typename In::Element*>(p.x) +
                    (at.row + lane) * p.x_row_stride +
                    at.begin * p.x_col_stride;  // [cols], strided
    const int cols = int(at.end - at.begin);
    float acc[kChains] = {};
#pragma unroll 1
    for (int c = 0; c < cols; c += kChains, x += kChains * p.x_col_stride) {
      const int left = is_row ? cols - c : 0;
      typename In::Element bits[kChains];
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
        bits[i] = 0;  // +0 in every type
        if (i < left) bits[i] = ptx::ld_global(x + i * p.x_col_stride);
      }
#pragma unroll
      for (int i = 0; i < kChains; ++i) acc[i] = acc[i] + In::decode(bits[i]);
    }
    float sum = tree_sum(acc);
    if (p.pieces > 1) {
      smem.sums[turn][warp][lane] = sum;
      __syncthreads();
      if (at.piece == 0) sum = sum_pieces(smem.sums[turn], warp, p.pieces, lane);
      turn ^= 1;
    }
    if (at.piece == 0 && is_row) store_sum(p, at.sum + lane * p.chunks.divisor, sum);
  }
}

// A piece of a row a warp: chain i is lane i.
template <class Cfg>
__global__ void __launch_bounds__(kStridedThreads, Cfg::value.ctas_per_sm)
    row_sum_strided_cols(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kInFlight = 8;
  auto& smem = ptx::dynamic_smem<StridedSmem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  int turn = 0;
  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item(p, item);
    const bool is_row = at.row < p.rows;
    const auto* x = static_cast<const typename In::Element*>(p.x) + at.row * p.x_row_stride;
    float acc = 0;
#pragma unroll 1
    for (std::int64_t c = at.begin + lane; c < at.end; c += kInFlight * kChains) {
      typename In::Element bits[kInFlight];
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const std::int64_t column = c + i * kChains;
        bits[i] = 0;
        if (is_row && column < at.end) bits[i] = ptx::ld_global(x + column * p.x_col_stride);
      }
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) acc = acc + In::decode(bits[i]);
    }
    float sum = reduce_lanes<Sum>(acc);
    if (p.pieces > 1) {
      if (lane == 0) smem.sums[turn][warp][0] = sum;
      __syncthreads();
      if (at.piece == 0) sum = sum_pieces(smem.sums[turn], warp, p.pieces, 0);
      turn ^= 1;
    }
    if (at.piece == 0 && lane == 0 && is_row) store_sum(p, at.sum, sum);
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
