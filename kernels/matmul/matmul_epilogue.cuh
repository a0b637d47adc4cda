// The end of every matmul, whatever the generation: from fp32 sums in shared memory to C.
//
//   C = act(alpha scale_a scale_b acc + beta C_in + bias)
//
// A warp takes a block of kRows x kCols sums that it (or its like) staged in shared memory with
// kBlockPitch floats from row to row. Bias, beta, activation and types are switches at run time in
// one rolled loop: compiled into the unrolled end of each instantiation they cost 20 times the
// compile time and 10 times the code (nvcc 13.0, 4 wgmma kernels: 105 s and 9.4 MB; 2026-11-29).
#pragma once

#include <limits>

#include "kernels/common/gelu_math.cuh"
#include "kernels/common/reduce.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/matmul/matmul_epilogue.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr float kLeast = -std::numeric_limits<float>::infinity();

// Eight floats more than a row: then the accumulator layout of the tensor cores (lane 4 g + q holds
// columns 2 q and 2 q + 1 of row g) is written, and rows are read, without bank conflicts.
template <int kCols>
inline constexpr int kBlockPitch = kCols + 8;

LK_DEVICE float load_as_f32(const void* p, std::int64_t index, DType type) {
  if (type == DType::f32) {
    return bit_cast<float>(ptx::ld_global(static_cast<const std::uint32_t*>(p) + index));
  }
  const std::uint16_t bits = ptx::ld_global(static_cast<const std::uint16_t*>(p) + index);
  return type == DType::bf16 ? Storage<DType::bf16>::decode(bits)
                             : Storage<DType::f16>::decode(bits);
}

// alpha scale_a scale_b: the same for all of C.
LK_DEVICE float product_scale(const Epilogue& e) {
  float s = e.alpha;
  if (e.scale_a != nullptr) s *= load_as_f32(e.scale_a, 0, DType::f32);
  if (e.scale_b != nullptr) s *= load_as_f32(e.scale_b, 0, DType::f32);
  return s;
}

template <int kCount>
LK_DEVICE void activate(float (&v)[kCount], Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = ptx::max_NaN_f32(v[i], 0.0f);
      break;
    case Activation::gelu_tanh:
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = gelu_tanh(v[i]);
      break;
    case Activation::gelu_erf:
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = gelu_erf(v[i]);
      break;
  }
}

// kCount adjacent columns from `index` on, of which `valid` exist.
template <int kCount>
LK_DEVICE void load_columns(float (&v)[kCount], const void* p, std::int64_t index,
                            std::int64_t step, int valid, DType type, bool wide) {
  if (kCount == kEpilogueVector && wide && valid >= kCount) {
    if (type == DType::f32) {
      const uint4 w = ptx::ld_global(
          reinterpret_cast<const uint4*>(static_cast<const std::uint32_t*>(p) + index));
      const std::uint32_t words[] = {w.x, w.y, w.z, w.w};
#pragma unroll
      for (int i = 0; i < kCount; ++i) v[i] = bit_cast<float>(words[i]);
    } else {
      const uint2 w = ptx::ld_global(
          reinterpret_cast<const uint2*>(static_cast<const std::uint16_t*>(p) + index));
      const std::uint32_t words[] = {w.x, w.y};
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const std::uint16_t bits = std::uint16_t(words[i / 2] >> (16 * (i % 2)));
        v[i] = type == DType::bf16 ? Storage<DType::bf16>::decode(bits)
                                   : Storage<DType::f16>::decode(bits);
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    v[i] = i < valid ? load_as_f32(p, index + i * step, type) : 0.0f;
  }
}

template <int kCount>
LK_DEVICE void store_columns(const float (&v)[kCount], void* p, std::int64_t index,
                             std::int64_t step, int valid, DType type, bool wide) {
  if (type == DType::f32) {
    auto* to = static_cast<std::uint32_t*>(p) + index;
    if (kCount == kEpilogueVector && wide && valid >= kCount) {
      std::uint32_t w[kEpilogueVector];
#pragma unroll
      for (int i = 0; i < kCount; ++i) w[i] = bit_cast<std::uint32_t>(v[i]);
      ptx::st_global(reinterpret_cast<uint4*>(to), make_uint4(w[0], w[1], w[2], w[3]));
      return;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i < valid) ptx::st_global(to + i * step, bit_cast<std::uint32_t>(v[i]));
    }
    return;
  }
  auto* to = static_cast<std::uint16_t*>(p) + index;
  std::uint16_t h[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    h[i] = type == DType::bf16 ? Storage<DType::bf16>::encode(v[i])
                               : Storage<DType::f16>::encode(v[i]);
  }
  if (kCount == kEpilogueVector && wide && valid >= kCount) {
    std::uint32_t w[kEpilogueVector / 2];
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) w[i] = h[2 * i] | std::uint32_t(h[2 * i + 1]) << 16;
    ptx::st_global(reinterpret_cast<uint2*>(to), make_uint2(w[0], w[1]));
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < valid) ptx::st_global(to + i * step, h[i]);
  }
}

// kCount columns of one row, by each lane its own.
template <int kCount>
LK_DEVICE void finish(const Epilogue& e, float scale, float (&v)[kCount],
                      const float (&bias)[kCount], std::int64_t batch, std::int64_t row,
                      std::int64_t col, int valid) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) v[i] = e.product ? scale * v[i] : 0.0f;
  if (e.c_in != nullptr) {
    float c_in[kCount];
    load_columns(c_in, e.c_in,
                 batch * e.c_in_batch_stride + row * e.c_in_row_stride + col * e.c_in_col_stride,
                 e.c_in_col_stride, valid, e.type, e.c_in_wide);
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = fmaf(e.beta, c_in[i], v[i]);
  }
  if (e.bias != nullptr) {
    const float of_row = e.bias_on_rows ? load_as_f32(e.bias, row, e.bias_type) : 0.0f;
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] += e.bias_on_rows ? of_row : bias[i];
  }
  activate(v, e.activation);
  store_columns(v, e.c, batch * e.batch_stride + row * e.row_stride + col * e.col_stride,
                e.col_stride, valid, e.type, e.wide);
}

// Which row of C row r of a block is: blocks of the fused multiply-adds hold every fourth row in
// turn (matmul_sm80_fp32.cu).
enum class RowOrder { plain, by_fours };
template <RowOrder kOrder>
LK_DEVICE int row_of_block(int r) {
  return kOrder == RowOrder::plain ? r : (r % 2 * 2 + r % 4 / 2) * 4 + r / 4;
}

// Rows row0 .. of C, columns col0 .., out of `block` in shared memory (see above). kCount columns a
// lane: several where C takes wide stores, else one, so that a store of the warp stays coalesced.
template <int kRows, int kCols, int kCount, RowOrder kOrder>
LK_DEVICE void store_block_by(const Epilogue& e, float scale, const float* block,
                              std::int64_t batch, std::int64_t row0, std::int64_t col0) {
  constexpr int kPerRow = kCols / kCount;  // lanes, or items, of a row
  constexpr int kLanes = kPerRow < kWarpThreads ? kPerRow : kWarpThreads;
  constexpr int kRowsAtOnce = kWarpThreads / kLanes;
  static_assert(kCols % kCount == 0 && kWarpThreads % kLanes == 0 && kPerRow % kLanes == 0);
  const int lane = int(threadIdx.x) % kWarpThreads;
#pragma unroll 1
  for (int c = lane % kLanes * kCount; c < kCols; c += kLanes * kCount) {
    const std::int64_t col = col0 + c;
    if (col >= e.cols) break;
    const int valid = e.cols - col < kCount ? int(e.cols - col) : kCount;
    float bias[kCount] = {};
    if (e.bias != nullptr && !e.bias_on_rows) {
      load_columns(bias, e.bias, col, 1, valid, e.bias_type, false);
    }
#pragma unroll 1
    for (int r = lane / kLanes; r < kRows; r += kRowsAtOnce) {
      const std::int64_t row = row0 + row_of_block<kOrder>(r);
      if (row >= e.rows) continue;
      const float* from = block + r * kBlockPitch<kCols> + c;
      float v[kCount];
      if constexpr (kCount == kEpilogueVector) {
        const uint4 w = ptx::ld_shared(reinterpret_cast<const uint4*>(from));
        v[0] = bit_cast<float>(w.x);
        v[1] = bit_cast<float>(w.y);
        v[2] = bit_cast<float>(w.z);
        v[3] = bit_cast<float>(w.w);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          v[i] = bit_cast<float>(ptx::ld_shared(reinterpret_cast<const std::uint32_t*>(from) + i));
        }
      }
      finish(e, scale, v, bias, batch, row, col, valid);
    }
  }
}

// The usual end, in vectors of four columns: several rows at once, and no branches but those of the
// types.
LK_DEVICE bool is_plain(const Epilogue& e) {
  return e.wide && e.c_in == nullptr && e.product &&
         (e.activation == Activation::none || e.activation == Activation::relu);
}
template <int kRows, int kCols, RowOrder kOrder>
LK_DEVICE void store_block_plain(const Epilogue& e, float scale, const float* block,
                                 std::int64_t batch, std::int64_t row0, std::int64_t col0) {
  constexpr int kLanes = kCols / kEpilogueVector;  // of a row
  constexpr int kRowsAtOnce = kWarpThreads / kLanes;
  constexpr int kSteps = kRows / kRowsAtOnce;
  constexpr int kUnroll = kSteps < 4 ? kSteps : 4;
  static_assert(kWarpThreads % kLanes == 0 && kSteps % kUnroll == 0);
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int c = lane % kLanes * kEpilogueVector;
  const std::int64_t col = col0 + c;
  const std::int64_t rows = e.rows - row0;
  if (col >= e.cols) return;
  const int valid = e.cols - col < kEpilogueVector ? int(e.cols - col) : kEpilogueVector;
  const float least = e.activation == Activation::relu ? 0.0f : kLeast;
  float bias[kEpilogueVector] = {};
  if (e.bias != nullptr && !e.bias_on_rows) {
    load_columns(bias, e.bias, col, 1, valid, e.bias_type, false);
  }
  const std::int64_t to = batch * e.batch_stride + row0 * e.row_stride + col;
#pragma unroll 1
  for (int r0 = lane / kLanes; r0 < kRows; r0 += kUnroll * kRowsAtOnce) {
    float v[kUnroll][kEpilogueVector];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const uint4 w = ptx::ld_shared(
          reinterpret_cast<const uint4*>(block + (r0 + i * kRowsAtOnce) * kBlockPitch<kCols> + c));
      v[i][0] = bit_cast<float>(w.x);
      v[i][1] = bit_cast<float>(w.y);
      v[i][2] = bit_cast<float>(w.z);
      v[i][3] = bit_cast<float>(w.w);
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const int row = row_of_block<kOrder>(r0 + i * kRowsAtOnce);
      const float of_row = e.bias != nullptr && e.bias_on_rows && row < rows
                               ? load_as_f32(e.bias, row0 + row, e.bias_type)
                               : 0.0f;
#pragma unroll
      for (int j = 0; j < kEpilogueVector; ++j) {
        v[i][j] = scale * v[i][j];
        if (e.bias != nullptr) v[i][j] += e.bias_on_rows ? of_row : bias[j];
        v[i][j] = ptx::max_NaN_f32(v[i][j], least);
      }
    }
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
      const int row = row_of_block<kOrder>(r0 + i * kRowsAtOnce);
      if (row < rows) store_columns(v[i], e.c, to + row * e.row_stride, 1, valid, e.type, true);
    }
  }
}

template <int kRows, int kCols, RowOrder kOrder = RowOrder::plain>
LK_DEVICE void store_block(const Epilogue& e, float scale, const float* block, std::int64_t batch,
                           std::int64_t row0, std::int64_t col0) {
  if (is_plain(e)) {
    store_block_plain<kRows, kCols, kOrder>(e, scale, block, batch, row0, col0);
  } else if (e.wide) {
    store_block_by<kRows, kCols, kEpilogueVector, kOrder>(e, scale, block, batch, row0, col0);
  } else {
    store_block_by<kRows, kCols, 1, kOrder>(e, scale, block, batch, row0, col0);
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
