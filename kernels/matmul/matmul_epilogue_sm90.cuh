// Matmul on sm90: from the sums of wgmma to C. Each warp has 16 rows of every 64 of its group's.
//
//   half   16-bit C, aligned: the sums are scaled, biased, clamped and rounded where they are, and
//          go through 2 KB of the warp's own shared memory, 64 columns at a time, to be stored as
//          whole 128-byte lines.
//   full   fp32 C, aligned: straight from the registers, in sectors of 32 bytes.
//   block  anything else (C_in, GeLU, other strides): 32 columns at a time through the one rolled
//          loop of matmul_epilogue.cuh.
#pragma once

#include <limits>

#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_shape_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr int kHalfVector = 8;  // 16-bit elements of a 16-byte store

// -0 changes nothing that it is added to, -0 included.
inline constexpr float kNoBias = -0.0f;

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The bias of a group's part of a tile, of finish half and full: read before the products, needed
// after them. One value per column goes to all threads of the group through shared memory; of one
// per row each thread reads its own.
template <class Cfg>
struct BiasSm90 {
  using T = ShapeSm90<Cfg>;
  static constexpr int kColumns = (T::kGroupN + kGroupThreads - 1) / kGroupThreads;
  static constexpr int kValues = kColumns > 2 * T::kM64 ? kColumns : 2 * T::kM64;

  float v[kValues];  // of columns, until stage(); of rows 16 w + l / 4 (+ 8) of each 64
  bool on_columns;

  LK_DEVICE void load(const ParamsSm90& p, std::int64_t row0, std::int64_t col0) {
    const Epilogue& e = p.epilogue;
    const int thread = int(threadIdx.x) % kGroupThreads;
    const int row = thread / kWarpThreads * kWarpRows + thread % kWarpThreads / 4;
    on_columns = !e.bias_on_rows;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      v[i] = kNoBias;
      if (e.bias == nullptr || p.finish == Finish::block) continue;
      const int column = i < kColumns ? thread + i * kGroupThreads : T::kGroupN;
      const std::int64_t at =
          on_columns ? col0 + column : row0 + row + i / 2 * kWgmmaM + i % 2 * (kWarpRows / 2);
      const bool mine =
          on_columns ? column < T::kGroupN && at < e.cols : i < 2 * T::kM64 && at < e.rows;
      if (mine) v[i] = load_as_f32(e.bias, at, e.bias_type);
    }
  }

  // Hands the columns' values round. All threads of the group; the set used two tiles ago has been
  // read by then, since everybody has passed the barrier of the last one.
  LK_DEVICE void stage(float* columns, int group) {
    const int thread = int(threadIdx.x) % kGroupThreads;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int column = thread + i * kGroupThreads;
      const float value = on_columns ? v[i] : kNoBias;
      if (column < T::kGroupN) {
        ptx::st_shared(reinterpret_cast<std::uint32_t*>(columns + column),
                       bit_cast<std::uint32_t>(value));
      }
    }
    if (on_columns) {
#pragma unroll
      for (int i = 0; i < kValues; ++i) v[i] = kNoBias;
    }
    ptx::bar_sync(1 + std::uint32_t(group), kGroupThreads);
  }
};

// What turns a sum into a value of C.
struct Scaling {
  float scale, least;  // least: 0 for ReLU, else -inf

  LK_DEVICE float operator()(float sum, float column_bias, float row_bias) const {
    return ptx::max_NaN_f32(scale * sum + column_bias + row_bias, least);
  }
};

template <Arithmetic kArithmetic>
LK_DEVICE std::uint32_t pack_half(float x, float y, DType type) {
  const float v[2] = {x, y};
  if constexpr (kArithmetic == Arithmetic::bf16) return Storage<DType::bf16>::pack(v);
  if constexpr (kArithmetic == Arithmetic::f16) return Storage<DType::f16>::pack(v);
  return type == DType::bf16 ? Storage<DType::bf16>::pack(v) : Storage<DType::f16>::pack(v);
}

// A warp's 16 rows and kGroupN columns, from row0, col0 on.
template <class Cfg>
LK_DEVICE void store_half(const Epilogue& e, const Scaling& scaled, unsigned char* staging,
                          const float* bias_columns, const float* bias_rows, std::int64_t batch,
                          std::int64_t row0, std::int64_t col0,
                          const float (&sums)[ShapeSm90<Cfg>::kGroupN / 2]) {
  using T = ShapeSm90<Cfg>;
  constexpr int kRowBytes = kPartCols * 2, kChunks = kRowBytes / 16;  // [kWarpRows][kRowBytes]
  constexpr int kRowsAtOnce = kWarpThreads / kChunks;
  const int lane = int(threadIdx.x) % kWarpThreads;
  // Where stmatrix puts the row of this lane: rows 0-7, 8-15, and of the next eight columns.
  const int to_row = lane % 16, to_chunk = lane / 16;
  const int from_row = lane / kChunks, from_chunk = lane % kChunks;
  auto* c = static_cast<std::uint16_t*>(e.c) + batch * e.batch_stride +
            (row0 + from_row) * e.row_stride + col0 + from_chunk * kHalfVector;
  const std::int64_t rows_left = e.rows - row0 - from_row;
#pragma unroll
  for (int part = 0; part < T::kGroupN / kPartCols; ++part) {
#pragma unroll
    for (int j = 0; j < kChunks; j += 2) {
      std::uint32_t w[4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = part * kPartCols + (j + i) * 8;
        const float* s = sums + column / 2;
        const uint2 bias =
            ptx::ld_shared(reinterpret_cast<const uint2*>(bias_columns + column + lane % 4 * 2));
        const float bx = bit_cast<float>(bias.x), by = bit_cast<float>(bias.y);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          w[2 * i + half] = pack_half<T::kConfig.arithmetic>(
              scaled(s[2 * half], bx, bias_rows[half]),
              scaled(s[2 * half + 1], by, bias_rows[half]), e.type);
        }
      }
      ptx::stmatrix<4>(staging + to_row * kRowBytes + ((j + to_chunk) ^ to_row % 8) * 16, w);
    }
    __syncwarp();
    const std::int64_t cols_left = e.cols - col0 - part * kPartCols - from_chunk * kHalfVector;
#pragma unroll
    for (int r = 0; r < kWarpRows; r += kRowsAtOnce) {
      const int row = r + from_row;
      const uint4 v = ptx::ld_shared(
          reinterpret_cast<const uint4*>(staging + row * kRowBytes + (from_chunk ^ row % 8) * 16));
      std::uint16_t* to = c + r * e.row_stride + part * kPartCols;
      if (r >= rows_left) continue;
      if (cols_left >= kHalfVector) {
        ptx::st_global(reinterpret_cast<uint4*>(to), v);
      } else {
        const std::uint32_t words[] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < kHalfVector; ++i) {
          if (i < cols_left) ptx::st_global(to + i, std::uint16_t(words[i / 2] >> (16 * (i % 2))));
        }
      }
    }
    __syncwarp();
  }
}

template <class Cfg>
LK_DEVICE void store_full(const Epilogue& e, const Scaling& scaled, const float* bias_columns,
                          const float* bias_rows, std::int64_t batch, std::int64_t row0,
                          std::int64_t col0, const float (&sums)[ShapeSm90<Cfg>::kGroupN / 2]) {
  using T = ShapeSm90<Cfg>;
  const int lane = int(threadIdx.x) % kWarpThreads;
  auto* c = static_cast<std::uint32_t*>(e.c) + batch * e.batch_stride +
            (row0 + lane / 4) * e.row_stride + col0 + lane % 4 * 2;
  const std::int64_t rows_left = e.rows - row0 - lane / 4;
  const std::int64_t cols_left = e.cols - col0 - lane % 4 * 2;
#pragma unroll
  for (int column = 0; column < T::kGroupN; column += 8) {
    const uint2 bias =
        ptx::ld_shared(reinterpret_cast<const uint2*>(bias_columns + column + lane % 4 * 2));
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float* s = sums + column / 2 + 2 * half;
      const uint2 v = make_uint2(
          bit_cast<std::uint32_t>(scaled(s[0], bit_cast<float>(bias.x), bias_rows[half])),
          bit_cast<std::uint32_t>(scaled(s[1], bit_cast<float>(bias.y), bias_rows[half])));
      std::uint32_t* to = c + half * (kWarpRows / 2) * e.row_stride + column;
      if (half * (kWarpRows / 2) >= rows_left) continue;
      if (column + 1 < cols_left) {
        ptx::st_global(reinterpret_cast<uint2*>(to), v);
      } else if (column < cols_left) {
        ptx::st_global(to, v.x);
      }
    }
  }
}

template <class Cfg>
LK_DEVICE void store_blocks(const Epilogue& e, float scale, unsigned char* staging,
                            std::int64_t batch, std::int64_t row0, std::int64_t col0,
                            const float (&sums)[ShapeSm90<Cfg>::kGroupN / 2]) {
  using T = ShapeSm90<Cfg>;
  const int lane = int(threadIdx.x) % kWarpThreads;
  auto* block = reinterpret_cast<float*>(staging);  // [kWarpRows][kBlockPitch]
#pragma unroll 1
  for (int part = 0; part < T::kGroupN / kBlockCols; ++part) {
#pragma unroll
    for (int i = 0; i < T::kGroupN / kBlockCols; ++i) {  // registers have no index at run time
      if (i != part) continue;
#pragma unroll
      for (int v = 0; v < kBlockCols / 2; v += 2) {
        float* to = block + (lane / 4 + 8 * (v / 2 % 2)) * kBlockPitch<kBlockCols> + v / 4 * 8 +
                    lane % 4 * 2;
        const float* s = sums + i * (kBlockCols / 2) + v;
        ptx::st_shared(reinterpret_cast<uint2*>(to),
                       make_uint2(bit_cast<std::uint32_t>(s[0]), bit_cast<std::uint32_t>(s[1])));
      }
    }
    __syncwarp();
    store_block<kWarpRows, kBlockCols>(e, scale, block, batch, row0, col0 + part * kBlockCols);
    __syncwarp();
  }
}

// A group's part of the tile, from row0, col0 on.
template <class Cfg>
LK_DEVICE void store_tile_sm90(const ParamsSm90& p, unsigned char* staging,
                               const float* bias_columns, const BiasSm90<Cfg>& bias, float scale,
                               std::int64_t batch, std::int64_t row0, std::int64_t col0,
                               const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  const Epilogue& e = p.epilogue;
  const Scaling scaled{scale, e.activation == Activation::relu ? 0.0f : kMinusInfinity};
  const int warp = int(threadIdx.x) % kGroupThreads / kWarpThreads;
#pragma unroll
  for (int i = 0; i < T::kM64; ++i) {
    const std::int64_t row = row0 + i * kWgmmaM + warp * kWarpRows;
    if (p.finish == Finish::half) {
      store_half<Cfg>(e, scaled, staging, bias_columns, bias.v + 2 * i, batch, row, col0, sums[i]);
    } else if (p.finish == Finish::full) {
      store_full<Cfg>(e, scaled, bias_columns, bias.v + 2 * i, batch, row, col0, sums[i]);
    } else {
      store_blocks<Cfg>(e, scale, staging, batch, row, col0, sums[i]);
    }
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
