// Row-sum over short rows that lie close to each other at any alignment: a lane a row, out of
// shared memory. The tree is that of row_sum_sm80_lanes.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StagedConfig {
  DType x_type;
  int chains;       // of a row's tree: the lanes of its shape times the elements of a vector
  int pitch_bytes;  // from row to row, at most
  int rows;         // of a lane
  int ctas_per_sm;
};

template <class Cfg>
struct StagedSmem {
  static constexpr int kTileRows = kWarpThreads * Cfg::value.rows;
  static constexpr int kTileBytes = kTileRows * Cfg::value.pitch_bytes + kVectorBytes;
  static constexpr int kSlackBytes = 4 * Cfg::value.chains;
  alignas(16) unsigned char bytes[kStagedThreads / kWarpThreads][kTileBytes + kSlackBytes];
};

// The aligned vectors that hold [begin, end), to `out`, by a warp; then zeros.
template <class In, int kSlackBytes>
LK_DEVICE void stage(const Params& p, const unsigned char* begin, const unsigned char* end,
                     unsigned char* out) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  const unsigned char* from = vector_of(begin);
  const int bytes = int(end - from);
  const int past = (bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
  if (rows_in_view(p, begin, end)) {
#pragma unroll 4
    for (int at = lane * kVectorBytes; at < bytes; at += kWarpThreads * kVectorBytes) {
      ptx::cp_async_cg_shared_global(out + at, from + at);
    }
  } else {
#pragma unroll 1
    for (int at = lane * kVectorBytes; at < bytes; at += kWarpThreads * kVectorBytes) {
      const Piece piece{from + at, int(begin - from) - at, bytes - at};
      Vector v = load_in_view(p, piece);
      load_not_in_view<In>(p, piece, &v);
      ptx::st_shared(reinterpret_cast<uint4*>(out + at), bit_cast<uint4>(v));
    }
  }
  for (int at = 4 * lane; at < kSlackBytes; at += 4 * kWarpThreads) {
    ptx::st_shared(reinterpret_cast<std::uint32_t*>(out + past + at), 0u);
  }
  ptx::cp_async_wait_all();
  __syncwarp();
}

// `bytes` bytes of shared memory from x on.
template <class In, int kChains>
LK_DEVICE float sum_staged(const unsigned char* x, int bytes) {
  constexpr int kWords = kChains / In::kPerWord;
  constexpr int kRoundBytes = 4 * kWords;
  const int phase = In::kPerWord == 1 ? 0 : int(phase_of(x, 4));
  const auto* words = reinterpret_cast<const std::uint32_t*>(x - phase);
  float sums[kChains] = {};
#pragma unroll 1
  for (int round = 0; round < phase + bytes; round += kRoundBytes) {
    std::uint32_t w[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) w[i] = ptx::ld_shared(words + round / 4 + i);
    if (phase != 0 && round == 0) w[0] &= 0xffff0000u;
    if (round + kRoundBytes > bytes) {
#pragma unroll
      for (int i = 0; i < kWords; ++i) w[i] &= first_bytes(phase + bytes - round - 4 * i);
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      float items[In::kPerWord];
      In::unpack(w[i], items);
#pragma unroll
      for (int e = 0; e < In::kPerWord; ++e) {
        float& sum = sums[i * In::kPerWord + e];
        sum = sum + items[e];
      }
    }
  }
  return tree_sum(sums);
}

template <class Cfg>
__global__ void __launch_bounds__(kStagedThreads, Cfg::value.ctas_per_sm) row_sum_staged(Params p) {
  using In = Storage<Cfg::value.x_type>;
  using Smem = StagedSmem<Cfg>;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kWarps = kStagedThreads / kWarpThreads;
  auto& smem = ptx::dynamic_smem<Smem>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row_bytes = int(p.cols) * kBytes;
  const int pitch = int(p.x_row_stride) * kBytes;
  unsigned char* tile = smem.bytes[warp];

  for (std::int64_t i = blockIdx.x; i < p.items; i += gridDim.x) {
    const std::int64_t first = (i * kWarps + warp) * Smem::kTileRows;
    if (first >= p.rows) break;
    const int rows = p.rows - first < Smem::kTileRows ? int(p.rows - first) : Smem::kTileRows;
    const auto* begin = static_cast<const unsigned char*>(p.x) + first * pitch;
    stage<In, Smem::kSlackBytes>(p, begin, begin + (rows - 1) * pitch + row_bytes, tile);
#pragma unroll 1
    for (int r = lane; r < rows; r += kWarpThreads) {
      const unsigned char* row = tile + phase_of(begin, kVectorBytes) + r * pitch;
      store_sum(p, first + r, sum_staged<In, Cfg::value.chains>(row, row_bytes));
    }
    __syncwarp();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
