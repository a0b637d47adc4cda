// Row-sum over columns that are not adjacent. Three kernels with one tree; which of them runs is a
// matter of what the lanes of a warp read together: vectors of adjacent rows, or single elements.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StridedConfig {
  DType x_type;
  int lanes;     // vectors of rows: a warp's that stand beside each other
  bool aligned;  // all of them, in every column
  bool brief;    // a piece has kChains columns at most: no sums are carried along
  int ctas_per_sm;
};

struct StridedSmem {
  float sums[2][kStridedWarps][kStridedRows];  // of pieces
};

// Where an item of work lies: `pieces` warps share a row, or kRows of them.
struct StridedItem {
  std::int64_t row;         // first of the warp
  std::int64_t sum;         // index of that row's sum
  std::int64_t begin, end;  // columns of the warp's piece
  int piece;
};
template <int kRows>
LK_DEVICE StridedItem strided_item(const Params& p, std::int64_t item) {
  const int warp = int(threadIdx.x) / kWarpThreads;
  const std::int64_t block = quotient(item, p.chunks);
  const std::int64_t chunk = item - block * p.chunks.divisor;
  const int piece = warp % p.pieces;
  const std::int64_t row = (block * (kStridedWarps / p.pieces) + warp / p.pieces) * kRows;
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

// The rows of a vector one by one: next to an end of the view, or of the rows.
template <class In>
LK_DEVICE Vector load_rows(const typename In::Element* x, std::int64_t rows) {
  std::uint32_t bits[kItems<In>];
#pragma unroll
  for (int i = 0; i < kItems<In>; ++i)
    bits[i] = i < rows ? std::uint32_t(ptx::ld_global(x + i)) : 0;
  Vector w;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) {
    w.v[i] = In::kPerWord == 1 ? bits[i]
                               : bits[2 * i % kItems<In>] | bits[(2 * i + 1) % kItems<In>] << 16;
  }
  return w;
}

// Vectors of adjacent rows from kCount columns, x(0), x(1), ...; null: none. All loads first. What
// comes of rows beyond the first `rows` is anything. A misaligned vector comes out of the two
// aligned ones that hold it, of which the neighbouring lane loads one, too.
template <class In, bool kAligned, int kCount, class F>
LK_DEVICE void load_columns(const Params& p, int rows, F x, Vector (&w)[kCount]) {
  std::uint32_t left = 0;  // bit i: w[i] is yet to be loaded
  if constexpr (kAligned) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto* at = x(i);
      w[i] = Vector{};
      if (at != nullptr && rows >= kItems<In>) w[i] = load_vector<kVectorWords>(at);
      left |= at != nullptr && rows < kItems<In> ? 1u << i : 0u;
    }
  } else {
    Vector next[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const auto* at = reinterpret_cast<const unsigned char*>(x(i));
      const std::uint64_t from =
          std::uint64_t(at - p.safe) & ~std::uint64_t{kVectorBytes - 1};  // p.safe is a multiple
      const bool inside = at != nullptr && from < p.safe_bytes;
      const bool both = inside && from + kVectorBytes < p.safe_bytes;
      w[i] = next[i] = Vector{};
      if (inside) w[i] = load_vector<kVectorWords>(p.safe + from);
      if (both) next[i] = load_vector<kVectorWords>(p.safe + from + kVectorBytes);
      left |= at != nullptr && !both ? 1u << i : 0u;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      w[i] = funnel<kVectorWords>(w[i], next[i], phase_of(x(i), kVectorBytes));
    }
  }
  // Rare, hence rolled: a register array is not indexed at run time, but may be selected from.
#pragma unroll 1
  for (int i = 0; left >> i != 0; ++i) {
    if ((left >> i & 1u) == 0) continue;
    const Vector v = load_rows<In>(x(i), rows);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
#pragma unroll
      for (int j = 0; j < kVectorWords; ++j) w[k].v[j] = k == i ? v.v[j] : w[k].v[j];
    }
  }
}

// Adjacent rows: lanes take vectors of them, and what is left of a warp takes columns. Chain i is
// column group i % kGroups's.
template <class Cfg>
__global__ void __launch_bounds__(kStridedThreads, Cfg::value.ctas_per_sm)
    row_sum_strided_vectors(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kLanes = Cfg::value.lanes;
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kMine = kChains / kGroups;  // chains of a lane
  constexpr int kInFlight = 8;
  // Misaligned ones take two loads each, and packed ones have few registers to spare: more would
  // spill on sm_80 and sm_100.
  constexpr int kAtOnce = kInFlight / (Cfg::value.aligned ? 1 : 2 * In::kPerWord);
  constexpr int kRounds = kInFlight / kMine;  // of kChains columns
  constexpr int kRows = kLanes * kItems<In>;
  static_assert(kRows <= kStridedRows && kRounds >= 1 && (!Cfg::value.brief || kRounds == 1));
  auto& smem = ptx::dynamic_smem<StridedSmem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int first = lane % kLanes * kItems<In>;  // row of the warp's
  const int group = lane / kLanes;
  int turn = 0;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item<kRows>(p, item);
    // Of this vector: there may be fewer, or none. Narrow, for registers are short here.
    const std::int64_t rows_left = p.rows - at.row - first;
    const int rows = rows_left < kItems<In> ? int(rows_left) : kItems<In>;
    const int cols = int(at.end - at.begin) - group;  // of the piece, from this lane's on
    const auto* x = static_cast<const typename In::Element*>(p.x) + at.row + first +
                    (at.begin + group) * p.x_col_stride;
    const std::int64_t step = kGroups * p.x_col_stride;
    float acc[kMine][kItems<In>] = {};
#pragma unroll 1
    for (int c = 0; c < cols + group; c += kRounds * kChains) {
#pragma unroll
      for (int half = 0; half < kInFlight; half += kAtOnce) {
        Vector w[kAtOnce];
        load_columns<In, Cfg::value.aligned>(
            p, rows,
            [&](int i) {
              const bool is = rows > 0 && c + (half + i) * kGroups < cols;
              return is ? x + (half + i) * step : nullptr;
            },
            w);
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          float v[kItems<In>];
          unpack<In>(w[i], v);
          auto& chain = acc[(half + i) % kMine];
#pragma unroll
          for (int r = 0; r < kItems<In>; ++r) chain[r] = chain[r] + v[r];
        }
      }
      if constexpr (Cfg::value.brief) break;
      x += kInFlight * step;
    }
    float(&mine)[kStridedRows] = smem.sums[turn][warp];
#pragma unroll
    for (int r = 0; r < kItems<In>; ++r) {
      float chains[kMine];
#pragma unroll
      for (int i = 0; i < kMine; ++i) chains[i] = acc[i][r];
      float sum = tree_sum(chains);
#pragma unroll
      for (int mask = kWarpThreads / 2; mask >= kLanes; mask /= 2) {
        sum = sum + ptx::shfl_sync_bfly(sum, unsigned(mask));
      }
      if (group == 0) mine[first + r] = sum;
    }
    if (p.pieces > 1) {
      __syncthreads();
    } else {
      __syncwarp();
    }
    if (at.piece == 0) {
#pragma unroll 1
      for (int r = lane; r < kRows && at.row + r < p.rows; r += kWarpThreads) {
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
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item<kWarpThreads>(p, item);
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
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item<1>(p, item);
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
