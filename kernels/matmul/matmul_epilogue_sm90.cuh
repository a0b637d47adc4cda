// Matmul on sm90: from the sums of wgmma to C. Each warp has 16 rows of every 64 of its group's.
//
//   tensor  16-bit C, aligned: sums are scaled, biased, rounded and clamped where they are, and go
//           through 2 KB of the warp's own shared memory, 64 columns at a time, out of which the
//           copy engine stores them while the next are made.
//   wide    the same, but the warp stores them, 16 bytes a lane.
//   half    the same, realigned: 16-bit C however aligned.
//   full    fp32 C: straight from the registers, in sectors of 32 bytes where rows or columns are
//           adjacent and aligned.
//   block   anything else (C_in, GeLU, other strides): up to 32 columns at a time through the loop
//           of matmul_epilogue.cuh.
#pragma once

#include <limits>

#include "kernels/common/vector.cuh"
#include "kernels/matmul/matmul_epilogue.cuh"
#include "kernels/matmul/matmul_shape_sm90.cuh"
#include "kernels/matmul/matmul_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// -0 changes nothing that it is added to, -0 included.
inline constexpr float kNoBias = -0.0f;
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The bias of a group's part of a tile, for all finishes but `block`, asked for while the tile
// before is stored. A value per column goes to all threads of the group through shared memory; a
// value per row each thread reads for itself.
template <class Cfg>
struct BiasSm90 {
  using T = ShapeSm90<Cfg>;
  static constexpr int kColumns = (T::kGroupN + kGroupThreads - 1) / kGroupThreads;
  static constexpr int kRows = 2 * T::kM64;  // 16 w + l / 4 (+ 8) of each 64
  static constexpr int kValues = kColumns > kRows ? kColumns : kRows;

  std::uint32_t next[kValues];  // as they are in memory, on their way
  float rows[kRows];            // of this tile
  float* columns;               // the same: kGroupN in shared memory
  int group;

  LK_DEVICE BiasSm90(const Epilogue& e, float* set, int of_group) : columns(set), group(of_group) {
    if (e.bias != nullptr) return;
#pragma unroll
    for (int i = 0; i < kRows; ++i) rows[i] = kNoBias;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) put(i, kNoBias);
    ptx::bar_sync(1 + std::uint32_t(group), kGroupThreads);
  }

  LK_DEVICE void load(const Epilogue& e, int row0, int col0) {
    if (e.bias == nullptr) return;
    const int thread = int(threadIdx.x) % kGroupThreads;
    const int row = thread / kWarpThreads * kWarpRows + thread % kWarpThreads / 4;
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
      const int column = i < kColumns ? thread + i * kGroupThreads : T::kGroupN;
      const int at =
          e.bias_on_rows ? row0 + row + i / 2 * kWgmmaM + i % 2 * (kWarpRows / 2) : col0 + column;
      const bool mine =
          e.bias_on_rows ? i < kRows && at < e.rows : column < T::kGroupN && at < e.cols;
      next[i] = 0;
      if (!mine) continue;
      // Bits alone: to convert them here would be to wait for them.
      next[i] = e.bias_type == DType::f32
                    ? ptx::ld_global(static_cast<const std::uint32_t*>(e.bias) + at)
                    : ptx::ld_global(static_cast<const std::uint16_t*>(e.bias) + at);
    }
  }

  // Takes what load() brought. All threads of the group.
  LK_DEVICE void stage(const Epilogue& e) {
    if (e.bias == nullptr) return;
    if (e.bias_on_rows) {
#pragma unroll
      for (int i = 0; i < kRows; ++i) rows[i] = decoded(next[i], e.bias_type);
      return;
    }
    ptx::bar_sync(1 + std::uint32_t(group), kGroupThreads);  // those of the last tile are read
#pragma unroll
    for (int i = 0; i < kColumns; ++i) put(i, decoded(next[i], e.bias_type));
    ptx::bar_sync(1 + std::uint32_t(group), kGroupThreads);
  }

 private:
  static LK_DEVICE float decoded(std::uint32_t bits, DType type) {
    return type == DType::f32    ? bit_cast<float>(bits)
           : type == DType::bf16 ? Storage<DType::bf16>::decode(std::uint16_t(bits))
                                 : Storage<DType::f16>::decode(std::uint16_t(bits));
  }
  LK_DEVICE void put(int i, float value) {
    const int column = int(threadIdx.x) % kGroupThreads + i * kGroupThreads;
    if (column >= T::kGroupN) return;
    ptx::st_shared(reinterpret_cast<std::uint32_t*>(columns + column),
                   bit_cast<std::uint32_t>(value));
  }
};

template <Arithmetic kArithmetic>
LK_DEVICE std::uint32_t pack_half(float x, float y, DType type) {
  const float v[2] = {x, y};
  if constexpr (kArithmetic == Arithmetic::bf16) return Storage<DType::bf16>::pack(v);
  if constexpr (kArithmetic == Arithmetic::f16) return Storage<DType::f16>::pack(v);
  return type == DType::bf16 ? Storage<DType::bf16>::pack(v) : Storage<DType::f16>::pack(v);
}
template <Arithmetic kArithmetic>
LK_DEVICE std::uint32_t relu_half(std::uint32_t x, DType type) {
  if constexpr (kArithmetic == Arithmetic::bf16) return ptx::max_NaN_bf16x2(x, 0u);
  if constexpr (kArithmetic == Arithmetic::f16) return ptx::max_NaN_f16x2(x, 0u);
  return type == DType::bf16 ? ptx::max_NaN_bf16x2(x, 0u) : ptx::max_NaN_f16x2(x, 0u);
}

// A part of a warp's sums: kCols columns of its 16 rows. Registers 4 j + r are, as wgmma leaves
// them, two columns of two rows: columns 8 j + 2 (l % 4) and the next, rows l / 4 and 8 more.
template <int kCols>
using PartSums = float[kCols / 2];

// A part of C in a warp's shared memory, [kWarpRows][kCols] of 16 bits, swizzled as a box of the
// copy engine.
template <int kCols>
struct Part {
  static constexpr ptx::Swizzle kSwizzle = part_swizzle(kCols);
  static constexpr int kRowBytes = kCols * 2, kBytes = kWarpRows * kRowBytes;
  static constexpr int kChunk = 16, kVector = kChunk / 2;

  static LK_DEVICE int offset(int row, int column) {
    return int(ptx::swizzle_at(kSwizzle, std::uint32_t(row), std::uint32_t(column * 2)));
  }
};

// What is on its way out of a warp: two parts.
struct WarpStaging {
  unsigned char* data;  // 2 kPartStaging bytes

  LK_DEVICE unsigned char* part(int i) const { return data + i * kPartStaging; }
  // Until all lanes and the copy engine have read what was in them.
  LK_DEVICE void wait() const {
    if (threadIdx.x % kWarpThreads == 0) ptx::cp_async_bulk_wait_group_read<0>();
    __syncwarp();
  }
};

// A part to C, whose columns end at a multiple of kVector: 16 bytes a lane.
template <int kCols>
LK_DEVICE void store_vectors(const Epilogue& e, const unsigned char* part, int batch, int row0,
                             int col0) {
  using P = Part<kCols>;
  constexpr int kLanes = kCols / P::kVector, kRowsAtOnce = kWarpThreads / kLanes;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row = lane / kLanes, column = lane % kLanes * P::kVector;
  auto* c = static_cast<std::uint16_t*>(e.c) + batch * e.batch_stride +
            (row0 + row) * e.row_stride + col0 + column;
  const std::int64_t rows = col0 + column < e.cols ? e.rows - row0 - row : 0;
  uint4 v[kWarpRows / kRowsAtOnce];
#pragma unroll
  for (int i = 0; i < kWarpRows / kRowsAtOnce; ++i) {
    v[i] = ptx::ld_shared(
        reinterpret_cast<const uint4*>(part + P::offset(i * kRowsAtOnce + row, column)));
  }
#pragma unroll
  for (int i = 0; i < kWarpRows / kRowsAtOnce; ++i) {
    const int r = i * kRowsAtOnce;
    if (r < rows) ptx::st_global(reinterpret_cast<uint4*>(c + r * e.row_stride), v[i]);
  }
}

// Those of eight elements from `column` on that lie in [from, to), one by one.
LK_DEVICE void store_each(std::uint16_t* c, const Words<4>& words, int column, int from,
                          std::int64_t to) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (column + i < from || column + i >= to) continue;
    ptx::st_global(c + column + i, std::uint16_t(words.v[i / 2] >> (16 * (i % 2))));
  }
}

// The same, however C is aligned: the aligned 16 bytes of a row that begin within the vector to the
// left of a lane's, which for the first lane is the last of the part before. Only where the row
// begins and ends (is_first, is_last), or C does, single elements.
template <int kCols>
LK_DEVICE void store_realigned(const Epilogue& e, const unsigned char* part,
                               const unsigned char* before, int batch, int row0, int col0,
                               bool is_first, bool is_last) {
  using P = Part<kCols>;
  constexpr int kLanes = kCols / P::kVector, kRowsAtOnce = kWarpThreads / kLanes;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row = lane / kLanes, column = lane % kLanes * P::kVector;
  const unsigned char* left = column == 0 ? before : part;
  const int left_column = column == 0 ? kCols - P::kVector : column - P::kVector;
  const std::int64_t columns = e.cols - col0;
  const int from = is_first ? 0 : -P::kVector;
  auto* c = static_cast<std::uint16_t*>(e.c) + batch * e.batch_stride +
            (row0 + row) * e.row_stride + col0;
#pragma unroll
  for (int r = row; r < kWarpRows + row; r += kRowsAtOnce, c += kRowsAtOnce * e.row_stride) {
    if (row0 + r >= e.rows) break;
    const auto load = [&](const unsigned char* p, int at) {
      return bit_cast<Words<4>>(
          ptx::ld_shared(reinterpret_cast<const uint4*>(p + P::offset(r, at))));
    };
    const Words<4> own = load(part, column);
    const int back = int(phase_of(c, P::kChunk) / 2);  // elements
    const Words<4> words =
        back == 0 ? own : funnel(load(left, left_column), own, std::uint32_t(P::kChunk - 2 * back));
    const int at = column - back;
    if (at >= from && at + P::kVector <= columns) {
      store_vector<4>(c + at, words);
    } else {
      store_each(c, words, at, from, columns);
    }
    if (is_last && column == kCols - P::kVector && back != 0) {
      // What a lane to the right would have stored.
      const Words<4> rest = funnel(own, own, std::uint32_t(P::kChunk - 2 * back));
      store_each(c, rest, kCols - back, 0, columns < kCols ? columns : kCols);
    }
  }
}

// v += bias, of rows or of columns from `column` of the group's on.
template <class Cfg>
LK_DEVICE void add_bias(PartSums<ShapeSm90<Cfg>::kPartCols>& v, const BiasSm90<Cfg>& bias,
                        bool on_rows, int column, int i64) {
  constexpr int kCols = ShapeSm90<Cfg>::kPartCols;
  if (on_rows) {
    float rows[2] = {bias.rows[0], bias.rows[1]};
#pragma unroll
    for (int i = 1; i < ShapeSm90<Cfg>::kM64; ++i) {  // registers have no index at run time
      if (i64 == i) rows[0] = bias.rows[2 * i], rows[1] = bias.rows[2 * i + 1];
    }
#pragma unroll
    for (int i = 0; i < kCols / 2; ++i) v[i] += rows[i / 2 % 2];
    return;
  }
  const float* from = bias.columns + column + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kCols / 2; i += 4) {
    const uint2 b = ptx::ld_shared(reinterpret_cast<const uint2*>(from + i * 2));
#pragma unroll
    for (int r = 0; r < 4; ++r) v[i + r] += bit_cast<float>(r % 2 == 0 ? b.x : b.y);
  }
}

// 16-bit C, rounded and clamped, into the warp's shared memory; a __syncwarp must follow.
template <class Cfg>
LK_DEVICE void stage_half(const Epilogue& e, unsigned char* block,
                          const PartSums<ShapeSm90<Cfg>::kPartCols>& v) {
  constexpr Arithmetic kArithmetic = Cfg::value.arithmetic;
  using P = Part<ShapeSm90<Cfg>::kPartCols>;
  constexpr int kWords = ShapeSm90<Cfg>::kPartCols / 4;  // of a lane
  const int lane = int(threadIdx.x) % kWarpThreads;
  std::uint32_t w[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) w[i] = pack_half<kArithmetic>(v[2 * i], v[2 * i + 1], e.type);
  if (e.activation == Activation::relu) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) w[i] = relu_half<kArithmetic>(w[i], e.type);
  }
  // stmatrix wants of each lane where a row goes: rows 0-7, 8-15, and of the next eight columns.
  const int to = P::offset(lane % 16, lane / 16 * 8);
#pragma unroll
  for (int i = 0; i < kWords; i += 4) {
    const std::uint32_t four[4] = {w[i], w[i + 1], w[i + 2], w[i + 3]};
    ptx::stmatrix<4>(block + (to ^ i / 2 * P::kChunk), four);
  }
}

// A part to C by the copy engine, not yet committed. What was staged must have been fenced.
LK_DEVICE void copy_part(const ArgumentsSm90& args, const unsigned char* part, int batch, int row,
                         int col) {
  const ParamsSm90& p = args.p;
  if (threadIdx.x % kWarpThreads != 0) return;
  if (row < p.epilogue.rows && col < p.epilogue.cols) {
    ptx::cp_async_bulk_tensor_3d_global_shared(
        &args.c, int(col), int(row), int(batch), part,
        ptx::CachePolicy{p.streams ? ptx::kEvictFirst.bits : ptx::kEvictNormal.bits});
  }
}

// fp32 C, out of the registers.
template <int kCols>
LK_DEVICE void store_full(const Epilogue& e, int batch, int row, int col,
                          const PartSums<kCols>& v) {
  const int lane = int(threadIdx.x) % kWarpThreads;
  row += lane / 4;
  col += lane % 4 * 2;
  auto* c = static_cast<std::uint32_t*>(e.c) + batch * e.batch_stride + row * e.row_stride +
            col * e.col_stride;
  const std::int64_t rows = e.rows - row, columns = e.cols - col;
  const float least = e.activation == Activation::relu ? 0.0f : kMinusInfinity;
#pragma unroll
  for (int i = 0; i < kCols / 2; i += 2) {
    const int r = i / 2 % 2 * (kWarpRows / 2), column = i / 4 * 8;
    std::uint32_t* to = c + r * e.row_stride + column * e.col_stride;
    const uint2 x = make_uint2(bit_cast<std::uint32_t>(ptx::max_NaN_f32(v[i], least)),
                               bit_cast<std::uint32_t>(ptx::max_NaN_f32(v[i + 1], least)));
    if (r >= rows || column >= columns) continue;
    if (e.wide && column + 1 < columns) {
      ptx::st_global(reinterpret_cast<uint2*>(to), x);
    } else {
      ptx::st_global(to, x.x);
      if (column + 1 < columns) ptx::st_global(to + e.col_stride, x.y);
    }
  }
}

// Any C, by the loop that all generations share.
template <class Cfg>
LK_DEVICE void store_blocks(const Epilogue& e, float scale, unsigned char* staging, int batch,
                            int row0, int col0, const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  constexpr int kCols = T::kPartCols < kBlockCols ? T::kPartCols : kBlockCols;
  constexpr int kParts = T::kGroupN / kCols;
  const int lane = int(threadIdx.x) % kWarpThreads;
  auto* block = reinterpret_cast<float*>(staging);  // [kWarpRows][kBlockPitch]
#pragma unroll 1
  for (int part = 0; part < T::kM64 * kParts; ++part) {
#pragma unroll
    for (int i = 0; i < T::kM64 * kParts; ++i) {  // registers have no index at run time
      if (i != part) continue;
#pragma unroll
      for (int v = 0; v < kCols / 2; v += 2) {
        const float* from = sums[i / kParts] + i % kParts * (kCols / 2) + v;
        float* to =
            block + (lane / 4 + 8 * (v / 2 % 2)) * kBlockPitch<kCols> + v / 4 * 8 + lane % 4 * 2;
        ptx::st_shared(reinterpret_cast<uint2*>(to), make_uint2(bit_cast<std::uint32_t>(from[0]),
                                                                bit_cast<std::uint32_t>(from[1])));
      }
    }
    __syncwarp();
    store_block<kWarpRows, kCols>(e, scale, block, batch, row0 + part / kParts * kWgmmaM,
                                  col0 + part % kParts * kCols);
    __syncwarp();
  }
}

// Part `part` of a group's sums, scaled.
template <class Cfg>
LK_DEVICE void take_part(PartSums<ShapeSm90<Cfg>::kPartCols>& v, int part, float scale,
                         const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  constexpr int kCount = T::kPartCols / 2, kParts = T::kGroupN / T::kPartCols;
#pragma unroll
  for (int j = 0; j < kCount; ++j) v[j] = scale * sums[part / kParts][part % kParts * kCount + j];
}

// The same with the bias, without a multiplication by 1.
template <class Cfg>
LK_DEVICE void take_biased(PartSums<ShapeSm90<Cfg>::kPartCols>& v, int part, float scale,
                           const BiasSm90<Cfg>& bias, bool on_rows,
                           const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  constexpr int kCount = T::kPartCols / 2, kParts = T::kGroupN / T::kPartCols;
  const int i64 = part / kParts, column = part % kParts * T::kPartCols;
  if (scale == 1.0f && !on_rows) {
    const float* from = bias.columns + column + threadIdx.x % 4 * 2;
    const float* of = sums[i64] + column / 2;
    uint2 b[kCount / 4];
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
      b[j] = ptx::ld_shared(reinterpret_cast<const uint2*>(from + j * 8));
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      v[i] = of[i] + bit_cast<float>(i % 2 == 0 ? b[i / 4].x : b[i / 4].y);
    }
    return;
  }
  take_part<Cfg>(v, part, scale, sums);
  add_bias<Cfg>(v, bias, on_rows, column, i64);
}

// The finishes that are rare, in a rolled loop: one copy of their code.
template <class Cfg>
LK_DEVICE void store_rolled(const ArgumentsSm90& args, const WarpStaging& staging,
                            const BiasSm90<Cfg>& bias, float scale, int batch, int row0, int col0,
                            const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  constexpr int kCols = T::kPartCols, kParts = T::kGroupN / kCols;
  const Epilogue& e = args.p.epilogue;
#pragma unroll 1
  for (int part = 0; part < T::kM64 * kParts; ++part) {
    PartSums<kCols> v;
    // Of one part at least, or what v is without one stays in registers through the loop over K.
    take_part<Cfg>(v, 0, 1.0f, sums);
#pragma unroll
    for (int i = 1; i < T::kM64 * kParts; ++i) {  // registers have no index at run time
      if (i == part) take_part<Cfg>(v, i, 1.0f, sums);
    }
    // Not before: the compiler would scale everything before the loop, and spill it.
#pragma unroll
    for (int j = 0; j < kCols / 2; ++j) v[j] *= scale;
    const int i64 = part / kParts, column = part % kParts * kCols;
    add_bias<Cfg>(v, bias, e.bias_on_rows, column, i64);
    if (args.p.finish == Finish::full) {
      store_full<kCols>(e, batch, row0 + i64 * kWgmmaM, col0 + column, v);
    } else {
      unsigned char* const staged = staging.part(part % 2);
      const bool is_first = column == 0, is_last = column + kCols == T::kGroupN;
      staging.wait();
      stage_half<Cfg>(e, staged, v);
      __syncwarp();
      store_realigned<kCols>(e, staged, is_first ? staged : staging.part((part + 1) % 2), batch,
                             row0 + i64 * kWgmmaM, col0 + column, is_first, is_last);
    }
  }
}

// A group's part of the tile, from row0, col0 on.
template <class Cfg>
LK_DEVICE void store_tile(const ArgumentsSm90& args, const WarpStaging& staging,
                          const BiasSm90<Cfg>& bias, float scale, int batch, int row0, int col0,
                          const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  constexpr int kCols = T::kPartCols, kParts = T::kGroupN / kCols;
  const Finish finish = args.p.finish;
  const Epilogue& e = args.p.epilogue;
  row0 += int(threadIdx.x) % kGroupThreads / kWarpThreads * kWarpRows;
  if (finish == Finish::block) {
    return store_blocks<Cfg>(e, scale, staging.data, batch, row0, col0, sums);
  }
  if constexpr (T::kElement == 4) {  // C is fp32
#pragma unroll
    for (int part = 0; part < T::kM64 * kParts; ++part) {
      PartSums<kCols> v;
      take_biased<Cfg>(v, part, scale, bias, e.bias_on_rows, sums);
      store_full<kCols>(e, batch, row0 + part / kParts * kWgmmaM, col0 + part % kParts * kCols, v);
    }
    return;
  }
  if (finish != Finish::tensor && finish != Finish::wide) {
    return store_rolled<Cfg>(args, staging, bias, scale, batch, row0, col0, sums);
  }
  // Two parts at a time, since a fence costs as much as the arithmetic of one.
  constexpr int kAll = T::kM64 * kParts;
#pragma unroll
  for (int first = 0; first < kAll; first += 2) {
    constexpr int kTwo = 2;
#pragma unroll
    for (int part = first; part < first + kTwo && part < kAll; ++part) {
      PartSums<kCols> v;
      take_biased<Cfg>(v, part, scale, bias, e.bias_on_rows, sums);
      if (part == first) staging.wait();
      stage_half<Cfg>(e, staging.part(part - first), v);
    }
    if (finish == Finish::tensor) ptx::fence_proxy_async_shared_cta();
    __syncwarp();
#pragma unroll
    for (int part = first; part < first + kTwo && part < kAll; ++part) {
      const int row = row0 + part / kParts * kWgmmaM, col = col0 + part % kParts * kCols;
      if (finish == Finish::tensor) {
        copy_part(args, staging.part(part - first), batch, row, col);
      } else {
        store_vectors<kCols>(e, staging.part(part - first), batch, row, col);
      }
    }
    if (finish == Finish::tensor) ptx::cp_async_bulk_commit_group();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
