// Matmul with very few columns on sm80: the kernel. See matmul_sm80_skinny.cu for the contract.
//
// A warp copies its rows of W through a ring of its own, a chunk of K at a time, and multiplies
// them by fragments of X that it loads past shared memory. Nothing is shared between warps until
// the end, when those of a CTA, which have the same rows and take turns in K, add up.
//
// A copy of the warp reads whole lines: 512 adjacent bytes, or several rows of a chunk. (Loads of
// fragments, 64 bytes of each of 8 rows, reach 0.83 to 0.87 of the read ceiling; H200, 2026-12-01.)
// Which index of K an element meets in mma.sync does not matter as long as it is the same in W and
// X: so 16 adjacent bytes of a lane are its elements of two steps of K, four of 8 bits.
#pragma once

#include "kernels/common/fp8.cuh"
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_stream.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

template <class Cfg>
struct Stream {
  static constexpr bool kF8 = Cfg::value.type == DType::f8_e4m3;  // and f8_e5m2
  static constexpr ptx::MmaType kType =
      Cfg::value.type == DType::bf16 ? ptx::MmaType::bf16 : ptx::MmaType::f16;
  static constexpr int kWarps = Cfg::value.warps, kDepth = Cfg::value.depth;
  static constexpr int kGroups = Cfg::value.rows / kStreamMmaRows, kRows = Cfg::value.rows;
  static constexpr int kChunk = Cfg::value.chunk;      // bytes of a row
  static constexpr int kLanes = kChunk / kStreamCopy;  // of a copy, on one row
  static constexpr int kRowsAtOnce = kWarpThreads / kLanes;
  static constexpr int kSegment = 64;  // bytes of a row of which four lanes have fragments
  static constexpr int kSegments = kChunk / kSegment;
  static constexpr bool kUpper = Cfg::value.cols > kStreamCols / 2;  // columns beyond 8
  using Sums = float[kGroups][4];

  struct Smem {
    alignas(128) unsigned char ring[kWarps][kDepth][kRows][kChunk];
    float sums[kWarps][Cfg::value.cols][kRows + 1];
  };
  static_assert(kLanes >= 8 && kLanes <= kWarpThreads && kRows % kRowsAtOnce == 0);
};

// Rows of an odd number have the halves of each 128 bytes exchanged: then the fragments of two
// rows, which eight lanes read at once, lie in different banks.
LK_DEVICE int stream_swizzle(int row, int chunk) { return chunk ^ (row & 1) << 2; }

// A warp's part of a tile: its rows of W, X, and where its lane stands in both.
struct StreamPart {
  const unsigned char *w, *x;  // the lane's first copy of W, its first fragment of X
  std::int64_t w_stride, x_upper;
  int rows;        // of the tile that exist, from the lane's first on
  int w_at, x_at;  // bytes of K from the chunk's begin on
  bool has_lower, has_upper, all_rows;
};

template <class Cfg>
LK_DEVICE StreamPart stream_part(const StreamParams& p, std::int64_t batch, std::int64_t row0) {
  using T = Stream<Cfg>;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row = lane / T::kLanes, col = lane / 4;
  const auto* w = static_cast<const unsigned char*>(p.w) + batch * p.w_batch_stride;
  const auto* x = static_cast<const unsigned char*>(p.x) + batch * p.x_batch_stride;
  const std::int64_t left = p.rows - row0;
  return {.w = w + (row0 + row) * p.w_stride,
          .x = x + col * p.x_stride,
          .w_stride = p.w_stride,
          .x_upper = kStreamCols / 2 * p.x_stride,
          .rows = int(left < T::kRows ? left : T::kRows) - row,
          .w_at = lane % T::kLanes * kStreamCopy,
          .x_at = lane % 4 * kStreamCopy,
          .has_lower = col < p.cols,
          .has_upper = T::kUpper && col + kStreamCols / 2 < p.cols,
          .all_rows = left >= T::kRows};
}

// Bytes of 16 that exist, `at` bytes from the begin of a row of K.
LK_DEVICE int bytes_at(const StreamParams& p, std::int64_t at) {
  const std::int64_t left = p.k_bytes - at;
  return left >= kStreamCopy ? kStreamCopy : left > 0 ? int(left) : 0;
}

// The chunk that begins at byte `at` of K, into a slot [kRows][kChunk]. kWhole: all of it exists.
template <class Cfg, bool kWhole>
LK_DEVICE void copy_chunk(const StreamParams& p, const StreamPart& part, std::int64_t at,
                          unsigned char (*slot)[Stream<Cfg>::kChunk]) {
  using T = Stream<Cfg>;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int bytes = kWhole ? kStreamCopy : bytes_at(p, at + part.w_at);
  const unsigned char* from = part.w + (bytes > 0 ? at + part.w_at : 0);
#pragma unroll
  for (int r = 0; r < T::kRows; r += T::kRowsAtOnce, from += T::kRowsAtOnce * part.w_stride) {
    const int row = r + lane / T::kLanes;
    unsigned char* to = slot[row] + stream_swizzle(row, lane % T::kLanes) * kStreamCopy;
    if constexpr (kWhole) {
      ptx::cp_async_cg_shared_global(to, from);
    } else {
      const bool exists = r < part.rows && bytes > 0;
      ptx::cp_async_cg_shared_global(to, exists ? from : static_cast<const unsigned char*>(p.w),
                                     exists ? std::uint32_t(bytes) : 0u);
    }
  }
}

// 16 bytes of X, or what of them exists and zeros.
LK_DEVICE std::uint32_t load_word(const unsigned char* from, int bytes) {
  std::uint32_t v = 0;
  for (int i = 0; i < 4 && i < bytes; ++i) v |= std::uint32_t(ptx::ld_global_nc(from + i)) << 8 * i;
  return v;
}
template <bool kWhole>
LK_DEVICE uint4 load_x(const unsigned char* from, int bytes) {
  if (kWhole || bytes == kStreamCopy) {
    return ptx::ld_global_nc(reinterpret_cast<const uint4*>(from));
  }
  return make_uint4(load_word(from, bytes), load_word(from + 4, bytes - 4),
                    load_word(from + 8, bytes - 8), load_word(from + 12, bytes - 12));
}

// The fragments of X of the chunk that begins at byte `at` of K.
template <class Cfg, bool kWhole>
LK_DEVICE void load_fragments(const StreamParams& p, const StreamPart& part, std::int64_t at,
                              uint4 (&lower)[Stream<Cfg>::kSegments],
                              uint4 (&upper)[Stream<Cfg>::kSegments]) {
  using T = Stream<Cfg>;
#pragma unroll
  for (int i = 0; i < T::kSegments; ++i) {
    const std::int64_t x_at = at + i * T::kSegment + part.x_at;
    const int bytes = kWhole ? kStreamCopy : bytes_at(p, x_at);
    lower[i] = upper[i] = make_uint4(0, 0, 0, 0);
    if (part.has_lower) lower[i] = load_x<kWhole>(part.x + x_at, bytes);
    if (part.has_upper) upper[i] = load_x<kWhole>(part.x + part.x_upper + x_at, bytes);
  }
}

// Four f8 of a word as two pairs of f16.
template <bool kE5m2>
LK_DEVICE void decode_f8(std::uint32_t word, std::uint32_t (&pairs)[2]) {
  if constexpr (kE5m2) {
    decode_e5m2x4(word, pairs);
  } else {
    decode_e4m3x4(word, pairs);
  }
}

// acc += X W^T over the K of 16 bytes a lane.
template <class Cfg, bool kXE5m2, bool kWE5m2>
LK_DEVICE void multiply_16_bytes(float (&acc)[4], const uint4& lower, const uint4& upper,
                                 const uint4& w) {
  using T = Stream<Cfg>;
  const std::uint32_t xl[] = {lower.x, lower.y, lower.z, lower.w};
  const std::uint32_t xu[] = {upper.x, upper.y, upper.z, upper.w};
  const std::uint32_t ws[] = {w.x, w.y, w.z, w.w};
  if constexpr (T::kF8) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t l[2], u[2] = {}, b[2];
      decode_f8<kXE5m2>(xl[i], l);
      if (T::kUpper) decode_f8<kXE5m2>(xu[i], u);
      decode_f8<kWE5m2>(ws[i], b);
      const std::uint32_t a[] = {l[0], u[0], l[1], u[1]};
      ptx::mma_sync<16, 8, 16, T::kType>(acc, a, b, acc);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const std::uint32_t a[] = {xl[i], xu[i], xl[i + 1], xu[i + 1]}, b[] = {ws[i], ws[i + 1]};
      ptx::mma_sync<16, 8, 16, T::kType>(acc, a, b, acc);
    }
  }
}

template <class Cfg, bool kXE5m2, bool kWE5m2>
LK_DEVICE void multiply_chunk_of(const unsigned char (*slot)[Stream<Cfg>::kChunk],
                                 const uint4 (&lower)[Stream<Cfg>::kSegments],
                                 const uint4 (&upper)[Stream<Cfg>::kSegments],
                                 typename Stream<Cfg>::Sums& acc) {
  using T = Stream<Cfg>;
  const int lane = int(threadIdx.x) % kWarpThreads;
#pragma unroll
  for (int s = 0; s < T::kSegments; ++s) {
#pragma unroll
    for (int g = 0; g < T::kGroups; ++g) {
      const int row = g * kStreamMmaRows + lane / 4;
      const int chunk = stream_swizzle(row, s * 4 + lane % 4);
      const uint4 w =
          ptx::ld_shared(reinterpret_cast<const uint4*>(slot[row] + chunk * kStreamCopy));
      multiply_16_bytes<Cfg, kXE5m2, kWE5m2>(acc[g], lower[s], upper[s], w);
    }
  }
}

// The formats of f8 are told apart here, not at every word.
template <class Cfg>
LK_DEVICE void multiply_chunk(const StreamParams& p,
                              const unsigned char (*slot)[Stream<Cfg>::kChunk],
                              const uint4 (&lower)[Stream<Cfg>::kSegments],
                              const uint4 (&upper)[Stream<Cfg>::kSegments],
                              typename Stream<Cfg>::Sums& acc) {
  if constexpr (Stream<Cfg>::kF8) {
    if (p.x_e5m2 && p.w_e5m2) return multiply_chunk_of<Cfg, true, true>(slot, lower, upper, acc);
    if (p.x_e5m2) return multiply_chunk_of<Cfg, true, false>(slot, lower, upper, acc);
    if (p.w_e5m2) return multiply_chunk_of<Cfg, false, true>(slot, lower, upper, acc);
  }
  multiply_chunk_of<Cfg, false, false>(slot, lower, upper, acc);
}

// This warp's chunks of a tile's K.
template <class Cfg>
LK_DEVICE void multiply_rows(const StreamParams& p, const StreamPart& part,
                             typename Stream<Cfg>::Smem& s, typename Stream<Cfg>::Sums& acc) {
  using T = Stream<Cfg>;
  constexpr std::int64_t kStep = T::kWarps * T::kChunk;
  const int warp = int(threadIdx.x) / kWarpThreads;
  std::int64_t next = warp * T::kChunk;  // of the chunk to copy
  const bool all_rows = part.all_rows;
  const auto fill = [&](int slot) {
    if (all_rows && next + T::kChunk <= p.k_bytes) {
      copy_chunk<Cfg, true>(p, part, next, s.ring[warp][slot]);
    } else if (next < p.k_bytes) {
      copy_chunk<Cfg, false>(p, part, next, s.ring[warp][slot]);
    }
    ptx::cp_async_commit_group();  // empty at the end: the wait counts groups
    next += kStep;
  };
#pragma unroll
  for (int d = 0; d < T::kDepth; ++d) fill(d);
  int slot = 0;
#pragma unroll 1
  for (std::int64_t at = warp * T::kChunk; at < p.k_bytes; at += kStep) {
    uint4 lower[T::kSegments], upper[T::kSegments];
    if (at + T::kChunk <= p.k_bytes) {
      load_fragments<Cfg, true>(p, part, at, lower, upper);
    } else {
      load_fragments<Cfg, false>(p, part, at, lower, upper);
    }
    ptx::cp_async_wait_group<T::kDepth - 1>();
    __syncwarp();
    multiply_chunk<Cfg>(p, s.ring[warp][slot], lower, upper, acc);
    __syncwarp();  // the slot is read
    fill(slot);
    slot = slot + 1 == T::kDepth ? 0 : slot + 1;
  }
}

// A lane has columns 2 q and 2 q + 1 of 8 rows of W, in rows g and g + 8 of X.
template <class Cfg>
LK_DEVICE void stage_sums(typename Stream<Cfg>::Smem& s, const typename Stream<Cfg>::Sums& acc) {
  using T = Stream<Cfg>;
  const int warp = int(threadIdx.x) / kWarpThreads, lane = int(threadIdx.x) % kWarpThreads;
#pragma unroll
  for (int g = 0; g < T::kGroups; ++g) {
#pragma unroll
    for (int v = 0; v < (T::kUpper ? 4 : 2); ++v) {
      float* to = &s.sums[warp][lane / 4 + v / 2 * (kStreamCols / 2)]
                         [g * kStreamMmaRows + lane % 4 * 2 + v % 2];
      ptx::st_shared(reinterpret_cast<std::uint32_t*>(to), bit_cast<std::uint32_t>(acc[g][v]));
    }
  }
}

// The warps' sums in their order, and the epilogue: an element a thread, along what of C is
// adjacent.
template <class Cfg>
LK_DEVICE void finish_rows(const StreamParams& p, typename Stream<Cfg>::Smem& s, float scale,
                           std::int64_t batch, std::int64_t row0) {
  using T = Stream<Cfg>;
  const Epilogue& e = p.epilogue;
  const int elements = T::kRows * p.cols;
#pragma unroll 1
  for (int i = int(threadIdx.x); i < elements; i += T::kWarps * kWarpThreads) {
    const int row = p.cols_by_rows ? i % T::kRows : i / p.cols;
    const int col = p.cols_by_rows ? i / T::kRows : i % p.cols;
    if (row0 + row >= p.rows) continue;
    float v[1] = {s.sums[0][col][row]}, bias[1] = {};
#pragma unroll
    for (int w = 1; w < T::kWarps; ++w) v[0] += s.sums[w][col][row];
    const std::int64_t e_row = p.cols_by_rows ? col : row0 + row;
    const std::int64_t e_col = p.cols_by_rows ? row0 + row : col;
    if (e.bias != nullptr && !e.bias_on_rows) {
      load_columns(bias, e.bias, e_col, 1, 1, e.bias_type, false);
    }
    finish(e, scale, v, bias, batch, e_row, e_col, 1);
  }
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.warps* kWarpThreads)
    matmul_sm80_skinny(const StreamParams p) {
  using T = Stream<Cfg>;
  auto& s = ptx::dynamic_smem<typename T::Smem>();
  const float scale = product_scale(p.epilogue);
  for (std::int64_t tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    // A division of 64 bits, before the first copy, takes longer than the copy.
    const std::int64_t batch = p.tiles == p.row_tiles ? 0 : tile / p.row_tiles;
    const std::int64_t row0 = (tile - batch * p.row_tiles) * T::kRows;
    typename T::Sums acc = {};
    multiply_rows<Cfg>(p, stream_part<Cfg>(p, batch, row0), s, acc);
    stage_sums<Cfg>(s, acc);
    __syncthreads();
    finish_rows<Cfg>(p, s, scale, batch, row0);
    __syncthreads();  // the sums are read
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
