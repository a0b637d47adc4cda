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
  int lanes, rows, vectors;  // as in Shape
  int threads;               // of a CTA, at most
  bool whole;                // rows consist of aligned vectors
  bool once;                 // no vector is loaded twice, nor sector in two loads: not through L1
  int ctas_per_sm;           // that must fit: bounds the registers
  bool pdl;                  // waits for the grid that it may be a dependent of
};

// Everything that is read or overwritten may be the previous grid's.
template <bool kPdl>
LK_DEVICE void await_prerequisites(const Params& p) {
  if constexpr (kPdl) {
    if (!p.dependent) return;
    if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
    ptx::griddepcontrol_wait();
  }
}

template <class In>
inline constexpr int kItems = kVectorBytes / int(sizeof(typename In::Element));  // of a vector

// The aligned vector that holds the byte at p.
LK_DEVICE const unsigned char* vector_of(const unsigned char* p) {
  constexpr std::uintptr_t kMask = kVectorBytes - 1;
  return reinterpret_cast<const unsigned char*>(reinterpret_cast<std::uintptr_t>(p) & ~kMask);
}

// 16 aligned bytes, of which those from `from` on and below `to` belong to the row. The others are
// masked, whatever they are; nothing is read if there are none.
struct Piece {
  const unsigned char* p;
  int from, to;  // may be below 0 and beyond 16
};

template <bool kOnce>
LK_DEVICE Vector load_once(const unsigned char* p) {
  if constexpr (kOnce) {
    return bit_cast<Vector>(ptx::ld_global_nc_L1_no_allocate(reinterpret_cast<const uint4*>(p)));
  } else {
    return load_vector<kVectorWords>(p);
  }
}

// Does it lie within the view, so that all of it may be read?
LK_DEVICE bool in_view(const Params& p, const Piece& piece) {
  return std::uint64_t(piece.p - p.safe) < p.safe_bytes;
}

// The same of rows of which the first begins at `begin` and the last ends at `end`.
LK_DEVICE bool rows_in_view(const Params& p, const unsigned char* begin, const unsigned char* end) {
  return begin >= p.safe && end <= p.safe + p.safe_bytes;
}

// The row's elements one by one, the others 0: for the vectors at the ends of the view, which may
// reach beyond it.
template <class In>
LK_DEVICE Vector load_elements(const Piece& piece) {
  constexpr int kBytes = int(sizeof(typename In::Element));
  std::uint32_t bits[kItems<In>];
#pragma unroll
  for (int i = 0; i < kItems<In>; ++i) {
    const int at = i * kBytes;
    bits[i] = 0;
    if (at >= piece.from && at < piece.to) {
      bits[i] = ptx::ld_global(reinterpret_cast<const typename In::Element*>(piece.p + at));
    }
  }
  Vector out;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) {
    out.v[i] =
        kBytes == 4 ? bits[i] : bits[2 * i % kItems<In>] | bits[(2 * i + 1) % kItems<In>] << 16;
  }
  return out;
}

// kCount pieces, piece(0), piece(1), ...: all loads first. `inside`: all of them lie in the view.
template <class In, bool kOnce, int kCount, class F>
LK_DEVICE void load_pieces(const Params& p, bool inside, F piece, Vector (&w)[kCount]) {
  if (inside) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const Piece v = piece(i);
      w[i] = Vector{};
      if (v.to > 0) w[i] = load_once<kOnce>(v.p);
    }
    return;
  }
  std::uint32_t ends = 0;  // bit i: piece i does not
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const Piece v = piece(i);
    w[i] = Vector{};
    if (v.to > 0 && in_view(p, v)) w[i] = load_once<kOnce>(v.p);
    ends |= v.to > 0 && !in_view(p, v) ? 1u << i : 0u;
  }
  // Rare, hence rolled: a register array is not indexed at run time, but may be selected from.
#pragma unroll 1
  for (int i = 0; ends >> i != 0; ++i) {
    if ((ends >> i & 1u) == 0) continue;
    const Vector v = load_elements<In>(piece(i));
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
#pragma unroll
      for (int j = 0; j < kVectorWords; ++j) w[k].v[j] = k == i ? v.v[j] : w[k].v[j];
    }
  }
}

// A mask of the first `bits` bits of a word: may be below 0 and beyond 32. Bits are selected, so a
// NaN that is masked is gone.
LK_DEVICE std::uint32_t first_bits(int bits) {
  const int n = bits > 0 ? bits : 0;
  return ~ptx::shf_l_clamp_b32(0, 0xffffffffu, unsigned(n));
}

// Elements below `from`, or at and beyond `to`, become +0.
LK_DEVICE Vector masked_below(const Vector& w, int from) {
  Vector out;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) out.v[i] = w.v[i] & ~first_bits(8 * from - 32 * i);
  return out;
}
LK_DEVICE Vector masked_from(const Vector& w, int to) {
  Vector out;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) out.v[i] = w.v[i] & first_bits(8 * to - 32 * i);
  return out;
}

// Of two vectors that have no elements in common but zeros.
LK_DEVICE Vector merged(const Vector& a, const Vector& b) {
  Vector out;
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) out.v[i] = a.v[i] | b.v[i];
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

// sums[e * stride] = element e of all vectors.
template <class In, int kVectors>
LK_DEVICE void add_vectors(const Vector (&v)[kVectors], float* sums, int stride) {
#pragma unroll
  for (int i = 0; i < kVectorWords; ++i) {
    float items[In::kPerWord][kVectors];
#pragma unroll
    for (int u = 0; u < kVectors; ++u) {
      float x[In::kPerWord];
      In::unpack(v[u].v[i], x);
#pragma unroll
      for (int e = 0; e < In::kPerWord; ++e) items[e][u] = x[e];
    }
#pragma unroll
    for (int e = 0; e < In::kPerWord; ++e) {
      sums[(i * In::kPerWord + e) * stride] = tree_sum(items[e]);
    }
  }
}

// A sum whose terms are all -0 is +0, as if it had begun at +0; that some elements of a vector are
// masked, which are +0, must not show.
LK_DEVICE float positive_zero(float sum) { return sum + 0.0f; }

LK_DEVICE void store_sum_at(const Params& p, std::int64_t at, float sum) {
  const float v = positive_zero(sum);
  if (p.y_type == DType::f32) {
    ptx::st_global(static_cast<std::uint32_t*>(p.y) + at, Storage<DType::f32>::encode(v));
  } else {
    ptx::st_global(static_cast<std::uint16_t*>(p.y) + at, p.y_type == DType::f16
                                                              ? Storage<DType::f16>::encode(v)
                                                              : Storage<DType::bf16>::encode(v));
  }
}

LK_DEVICE void store_sum(const Params& p, std::int64_t index, float sum) {
  store_sum_at(p, index * p.y_stride, sum);
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
template <int kMask, int kRows>
LK_DEVICE void reduce_groups(float* v, int lane) {
  if constexpr (kMask > 0) {
    if constexpr (kRows > 1) {
      const bool odd = (lane & kMask) != 0;  // keeps the odd ones
#pragma unroll
      for (int s = 0; s < kRows / 2; ++s) {
        const float given = odd ? v[2 * s] : v[2 * s + 1];
        v[s] = (odd ? v[2 * s + 1] : v[2 * s]) + ptx::shfl_sync_bfly(given, unsigned(kMask));
      }
      reduce_groups<kMask / 2, kRows / 2>(v, lane);
    } else {
      v[0] = v[0] + ptx::shfl_sync_bfly(v[0], unsigned(kMask));
      reduce_groups<kMask / 2, 1>(v, lane);
    }
  }
}

// The same over the elements of vectors: v[i] is of element i / kRows, as far as the lanes hold
// different ones of these.
template <int kLanes, int kRows, int kNumber>
LK_DEVICE void reduce_elements(float* v) {
  if constexpr (kNumber >= kRows) {
    if constexpr (kNumber >= kLanes) {  // both in this lane
#pragma unroll
      for (int i = 0; i < kNumber / kLanes; ++i) v[i] = v[i] + v[i + kNumber / kLanes];
    } else {
#pragma unroll
      for (int i = 0; i < kept_sums<kLanes, kRows>; ++i) {
        v[i] = v[i] + ptx::shfl_sync_bfly(v[i], unsigned(kLanes / 2 / kNumber));
      }
    }
    reduce_elements<kLanes, kRows, kNumber / 2>(v);
  }
}

// The sums of kRows rows out of v[e * kRows + s], element e of the vectors of row s: first over the
// lanes, then over the elements, in either case those furthest from each other first. Lane l of a
// group gets in v[i], i < kept_sums<kLanes, kRows>, row kept_sum<kLanes, kRows>(l, i).
template <int kLanes, int kRows, int kCount>
LK_DEVICE void reduce_rows(float (&v)[kCount], int lane) {
  static_assert((kCount & (kCount - 1)) == 0);
  float* const sums = v;
  reduce_groups<kLanes / 2, kCount>(sums, lane);
  reduce_elements<kLanes, kRows, kCount / 2>(sums);
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
