// Row-sum over columns that are not adjacent: one element a load. Two kernels with one tree; which
// of them runs is a matter of what the lanes of a warp read together.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StridedConfig {
  DType x_type;
  int rows_per_lane;  // lanes along the rows only; 2 for neighbouring 16-bit rows at even places
  int ctas_per_sm;
};

struct StridedSmem {
  float sums[2][kStridedWarps][2 * kWarpThreads];  // of pieces: lanes' rows, or one row
};

// Where an item of work lies: `pieces` warps share a row, or 32 rows.
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
LK_DEVICE float sum_pieces(const float (&sums)[kStridedWarps][2 * kWarpThreads], int first,
                           int pieces, int row) {
  float v[kStridedWarps];
#pragma unroll
  for (int i = 0; i < kStridedWarps; ++i) v[i] = i < pieces ? sums[first + i][row] : 0.0f;
  return tree_sum(v);
}

// The elements of a lane's rows in one column: one load, whatever their number.
template <class In, int kRows>
LK_DEVICE void load_rows(const typename In::Element* x, std::int64_t rows, std::uint32_t* bits) {
  *bits = 0;  // +0 in every type
  if constexpr (kRows == 2) {
    if (rows >= 2) *bits = ptx::ld_global(reinterpret_cast<const std::uint32_t*>(x));
    if (rows == 1) *bits = ptx::ld_global(x);
  } else {
    if (rows >= 1) *bits = ptx::ld_global(x);
  }
}
template <class In, int kRows>
LK_DEVICE void add_rows(std::uint32_t bits, float (&sums)[kRows]) {
  if constexpr (kRows == 2) {
    float v[2];
    In::unpack(bits, v);
    sums[0] = sums[0] + v[0];
    sums[1] = sums[1] + v[1];
  } else {
    sums[0] = sums[0] + In::decode(typename In::Element(bits));
  }
}

// A row a lane, or two: the 32 chains of a piece are 32 registers.
template <class Cfg>
__global__ void __launch_bounds__(kStridedThreads, Cfg::value.ctas_per_sm)
    row_sum_strided_rows(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kRows = Cfg::value.rows_per_lane;
  auto& smem = ptx::dynamic_smem<StridedSmem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int first = int(threadIdx.x) % kWarpThreads * kRows;  // row of the warp's
  int turn = 0;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const StridedItem at = strided_item<kWarpThreads * kRows>(p, item);
    const std::int64_t rows = p.rows - at.row - first;  // there may be fewer, or none
    const auto* x = static_cast<const typename In::Element*>(p.x) +
                    (at.row + first) * p.x_row_stride;  // [cols], strided
    float acc[kChains][kRows] = {};
#pragma unroll 1
    for (std::int64_t c = at.begin; c < at.end; c += kChains) {
      std::uint32_t bits[kChains];
#pragma unroll
      for (int i = 0; i < kChains; ++i) {
        load_rows<In, kRows>(x + (c + i) * p.x_col_stride, c + i < at.end ? rows : 0, &bits[i]);
      }
#pragma unroll
      for (int i = 0; i < kChains; ++i) add_rows<In, kRows>(bits[i], acc[i]);
    }
    float sums[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      float chains[kChains];
#pragma unroll
      for (int i = 0; i < kChains; ++i) chains[i] = acc[i][r];
      sums[r] = tree_sum(chains);
    }
    if (p.pieces > 1) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) smem.sums[turn][warp][first + r] = sums[r];
      __syncthreads();
    }
    if (at.piece == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        if (p.pieces > 1) sums[r] = sum_pieces(smem.sums[turn], warp, p.pieces, first + r);
        if (r < rows) store_sum(p, at.sum + (first + r) * p.chunks.divisor, sums[r]);
      }
    }
    turn ^= 1;
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
