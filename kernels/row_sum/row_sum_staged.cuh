// Row-sum over short ragged rows that lie close to each other: a lane a row, out of shared memory.
// A warp reads such rows as one block, however they are aligned. The tree is that of
// row_sum_sm80_lanes.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StagedConfig {
  DType x_type;
  int vectors;  // of a row, as in its shape: lanes times vectors
  int threads, ctas_per_sm;
};

template <class Cfg>
struct StagedSmem {
  static constexpr int kTileBytes = kStagedTileBytes;
  static constexpr int kSlackBytes = (Cfg::value.vectors + 1) * kVectorBytes;  // is 0
  alignas(16) unsigned char tiles[Cfg::value.threads / kWarpThreads][kTileBytes + kSlackBytes];
};

// The aligned vectors that hold [begin, end) into the tile, by a warp; zeros behind them.
template <class In, int kTileBytes>
LK_DEVICE void stage(const Params& p, const unsigned char* begin, const unsigned char* end,
                     unsigned char* tile) {
  constexpr int kLoads = 8;
  constexpr int kStep = kWarpThreads * kVectorBytes;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const unsigned char* from = vector_of(begin);
  const int skipped = int(begin - from);
  const int bytes = int(end - from);
  const bool inside = rows_in_view(p, begin, end);
#pragma unroll
  for (int batch = 0; batch < kTileBytes; batch += kLoads * kStep) {
    const auto piece = [&](int i) {
      const int at = batch + i * kStep + lane * kVectorBytes;
      return Piece{from + at, skipped - at, bytes - at};
    };
    Vector w[kLoads];
    load_pieces<In, true>(p, inside, piece, w);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = batch + i * kStep + lane * kVectorBytes;
      ptx::st_shared(reinterpret_cast<uint4*>(tile + at), bit_cast<uint4>(w[i]));
    }
  }
  __syncwarp();
}

// `bytes` bytes of shared memory from x on, which begin within a word or not.
template <class In, int kVectors>
LK_DEVICE float sum_staged(const unsigned char* x, int bytes) {
  constexpr int kWords = kVectors * kVectorWords;
  const int phase = In::kPerWord == 1 ? 0 : int(phase_of(x, 4));
  const auto* words = reinterpret_cast<const std::uint32_t*>(x - phase);
  std::uint32_t w[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    w[i] = ptx::ld_shared(words + i);
    if (4 * (i + 1) > bytes) w[i] &= first_bits(8 * (phase + bytes) - 32 * i);
  }
  if constexpr (In::kPerWord == 2) {
    if (phase != 0) w[0] &= 0xffff0000u;
    if (2 + bytes > 4 * kWords) {  // the last element goes where the first word has none
      w[0] |= ptx::ld_shared(words + kWords) & first_bits(8 * (phase + bytes) - 32 * kWords);
    }
  }
  float items[kWords * In::kPerWord];
#pragma unroll
  for (int i = 0; i < kWords; ++i) In::unpack(w[i], items + i * In::kPerWord);
  return tree_sum(items);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    row_sum_staged(Params p) {
  using In = Storage<Cfg::value.x_type>;
  using Smem = StagedSmem<Cfg>;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kWarps = Cfg::value.threads / kWarpThreads;
  auto& smem = ptx::dynamic_smem<Smem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row_bytes = int(p.cols) * kBytes;
  const int pitch = int(p.x_row_stride) * kBytes;
  unsigned char* tile = smem.tiles[warp];
  if (4 * lane < Smem::kSlackBytes) {
    for (int at = 4 * lane; at < Smem::kSlackBytes; at += 4 * kWarpThreads) {
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(tile + Smem::kTileBytes + at), 0u);
    }
  }

  for (std::int64_t i = blockIdx.x; i < p.items; i += gridDim.x) {
    const std::int64_t first = (i * kWarps + warp) * p.tile_rows;
    const std::int64_t left = p.rows - first;
    const int rows = left < p.tile_rows ? int(left) : p.tile_rows;
    if (rows <= 0) break;
    const auto* begin = static_cast<const unsigned char*>(p.x) + first * pitch;
    stage<In, Smem::kTileBytes>(p, begin, begin + (rows - 1) * pitch + row_bytes, tile);
    const unsigned char* x = tile + phase_of(begin, kVectorBytes);
#pragma unroll 1
    for (int r = lane; r < rows; r += kWarpThreads) {
      store_sum(p, first + r, sum_staged<In, Cfg::value.vectors>(x + r * pitch, row_bytes));
    }
    __syncwarp();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
