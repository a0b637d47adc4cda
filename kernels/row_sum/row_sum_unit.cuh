// Row-sum over adjacent columns: loads, and the parts of the summation tree that row_sum_plan.h
// describes.
#pragma once

#include "kernels/common/divide.cuh"
#include "kernels/common/reduce.cuh"
#include "kernels/common/storage.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/row_sum/row_sum_plan.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

inline constexpr int kVectorWords = kVectorBytes / 4;
using Vector = Words<kVectorWords>;

// What an instantiation fixes.
struct Config {
  DType x_type;
  Shape shape;
  int ctas_per_sm;  // that must fit: bounds the registers
};

template <class In>
inline constexpr int kItems = kVectorBytes / int(sizeof(typename In::Element));  // of a vector

// A vector of a row: 16 bytes from `p` on, the first `bytes` of which belong to the row. The others
// are masked, whatever they are; nothing is read if there are none.
struct Piece {
  const unsigned char* p;
  int bytes;  // may be beyond 16 or below 0
};

// The elements one by one: for vectors at an end of the view, where the aligned vectors that hold
// them may reach beyond it.
template <class In>
LK_DEVICE Vector load_elements(const Piece& piece) {
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kHalf = kVectorBytes / 2;
  std::uint64_t low = 0, high = 0;
#pragma unroll 1
  for (int b = 0; b < kVectorBytes && b < piece.bytes; b += kBytes) {
    const std::uint64_t bits =
        ptx::ld_global(reinterpret_cast<const typename In::Element*>(piece.p + b));
    low |= b < kHalf ? bits << (8 * b) : 0;
    high |= b < kHalf ? 0 : bits << (8 * (b - kHalf));
  }
  return {std::uint32_t(low), std::uint32_t(low >> 32), std::uint32_t(high),
          std::uint32_t(high >> 32)};
}

// kCount vectors, piece(0), piece(1), ...: all loads first. Bytes outside the row, but inside the
// view, may be read: the padding between rows, or another row. Those of the row come out right, the
// others as anything.
template <class In, int kCount, class F>
LK_DEVICE void load_pieces(const Params& p, F piece, Vector (&w)[kCount]) {
  if (p.whole) {  // what follows does the same at three times the instructions
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Piece v = piece(i);
      w[i] = Vector{};
      if (v.bytes > 0) w[i] = load_vector<kVectorWords>(v.p);
    }
    return;
  }
  std::uint32_t left = 0;  // bit i: w[i] is yet to be loaded
  Vector next[kCount] = {};
  // In bytes from p.safe, a multiple of 16: the aligned vector in which v begins.
  const auto aligned_at = [&](const Piece& v) {
    return std::uint64_t(v.p - p.safe) & ~std::uint64_t{kVectorBytes - 1};
  };
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const Piece v = piece(i);
    const std::uint64_t at = aligned_at(v);
    const bool inside = at < p.safe_bytes;
    w[i] = Vector{};
    if (v.bytes > 0 && inside) w[i] = load_vector<kVectorWords>(p.safe + at);
    left |= v.bytes > 0 && !inside ? 1u << i : 0u;
  }
  if (!p.aligned) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Piece v = piece(i);
      const std::uint64_t at = aligned_at(v) + kVectorBytes;
      const bool two = v.bytes > 0 && int(phase_of(v.p, kVectorBytes)) + v.bytes > kVectorBytes;
      const bool inside = at < p.safe_bytes;
      if (two && inside) next[i] = load_vector<kVectorWords>(p.safe + at);
      left |= two && !inside ? 1u << i : 0u;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      w[i] = funnel<kVectorWords>(w[i], next[i], phase_of(piece(i).p, kVectorBytes));
    }
  }
  // Rare, hence rolled: a register array is not indexed at run time, but may be selected from.
#pragma unroll 1
  for (int i = 0; left >> i != 0; ++i) {
    if ((left >> i & 1u) == 0) continue;
    const Vector v = load_elements<In>(piece(i));
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
#pragma unroll
      for (int j = 0; j < kVectorWords; ++j) w[k].v[j] = k == i ? v.v[j] : w[k].v[j];
    }
  }
}

// Elements beyond the first `bytes` become +0: bits are selected, so a NaN there is gone.
LK_DEVICE Vector masked(const Vector& w, int bytes) {
  Vector out;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) {
    const int valid = bytes - 4 * i;
    const std::uint32_t mask = valid >= 4 ? 0xffffffffu : valid == 2 ? 0xffffu : 0u;
    out.v[i] = w.v[i] & mask;
  }
  return out;
}

template <class In>
LK_DEVICE void unpack(const Vector& w, float (&x)[kItems<In>]) {
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) In::unpack(w.v[i], x + i * In::kPerWord);
}

// x[0] + ... as a tree: element i and element i + half first.
template <int kCount>
LK_DEVICE float tree_sum(float* x) {
  if constexpr (kCount > 1) {
#pragma unroll
    for (int i = 0; i < kCount / 2; ++i) x[i] = x[i] + x[i + kCount / 2];
    return tree_sum<kCount / 2>(x);
  }
  return x[0];
}
template <int kCount>
LK_DEVICE float tree_sum(float (&x)[kCount]) {
  return tree_sum<kCount>(static_cast<float*>(x));
}

// A sum whose terms are all -0 is +0, as if it had begun at +0; that some elements of a vector are
// masked, which are +0, must not show.
LK_DEVICE float positive_zero(float sum) { return sum + 0.0f; }

LK_DEVICE void store_sum(const Params& p, std::int64_t index, float sum) {
  const float v = positive_zero(sum);
  const std::int64_t at = index * p.y_stride;
  if (p.y_type == DType::f32) {
    ptx::st_global(static_cast<std::uint32_t*>(p.y) + at, Storage<DType::f32>::encode(v));
  } else {
    ptx::st_global(static_cast<std::uint16_t*>(p.y) + at, p.y_type == DType::f16
                                                              ? Storage<DType::f16>::encode(v)
                                                              : Storage<DType::bf16>::encode(v));
  }
}

// Sums v[s] over each aligned group of kLanes lanes, for all s at once, in the order of
// reduce_lanes. Where that is possible a lane passes on half of its sums at each step instead of
// holding all of them: kRows - 1 shuffles in all for as many rows as lanes. Then lane l of a group
// has in v[i], i < kept_sums<>, sum number kept_sum<>(l, i): all lanes together those of v[i] hold
// neighbouring numbers.
template <int kLanes, int kRows>
inline constexpr int kept_sums = kRows > kLanes ? kRows / kLanes : 1;
template <int kLanes, int kRows>
LK_DEVICE int kept_sum(int lane, int i) {
  int number = i * kLanes;
  int bit = 1;
#pragma unroll
  for (int mask = kLanes / 2; mask > 0 && bit < kRows; mask /= 2, bit *= 2) {
    number |= (lane & mask) != 0 ? bit : 0;
  }
  return number;
}
template <int kLanes, int kRows>
LK_DEVICE void reduce_groups(float (&v)[kRows], int lane) {
  static_assert((kRows & (kRows - 1)) == 0);
  int rows = kRows;
#pragma unroll
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    if (rows > 1) {
      rows /= 2;
      const bool odd = (lane & mask) != 0;  // keeps the odd ones
#pragma unroll
      for (int s = 0; s < rows; ++s) {
        const float given = odd ? v[2 * s] : v[2 * s + 1];
        v[s] = (odd ? v[2 * s + 1] : v[2 * s]) + ptx::shfl_sync_bfly(given, unsigned(mask));
      }
    } else {
      v[0] = v[0] + ptx::shfl_sync_bfly(v[0], unsigned(mask));
    }
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
