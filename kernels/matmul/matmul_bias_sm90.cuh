// Matmul on sm90: what sums meet on their way to C: the bias, rounding to 16 bits, ReLU.
#pragma once

#include "kernels/matmul/matmul_shape_sm90.cuh"
#include "kernels/matmul/matmul_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// -0 changes nothing that it is added to, -0 included.
inline constexpr float kNoBias = -0.0f;

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

}  // namespace libkernels::inline LK_BACKEND::op::matmul
