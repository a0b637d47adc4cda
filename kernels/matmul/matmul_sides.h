// A matmul seen as D = W X, where W, [rows, k], is the operand of more rows (B^T, or A) and X, [k,
// cols], the one of fewer columns (A^T, or B): C is D or its transpose. What the plans for few rows
// or columns share. Pure host code.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "kernels/ptx/descriptor.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr std::int64_t kSideAlignment = 16;  // bytes: of tensor copies and of cp.async
inline constexpr std::int64_t kSideMaxStride = std::int64_t{1} << 40;  // bytes: of tensor copies

constexpr std::int64_t blocks_in(std::int64_t extent, std::int64_t block) {
  return (extent - 1) / block + 1;
}

// W or X: mn counts its rows or columns.
struct Side {
  const void* data;
  std::int64_t mn, k;
  std::int64_t mn_stride, k_stride, batch_stride;
  DType type;
};

struct Sides {
  Side w, x;
  bool w_is_a;
};

inline Sides sides_of(const Problem& p) {
  const auto batch_stride = [&](const Matrix& m) { return p.batch > 1 ? m.batch_stride : 0; };
  const Side a{p.a.data, p.m, p.k, p.a.row_stride, p.a.col_stride, batch_stride(p.a), p.a.type};
  const Side b{p.b.data, p.n, p.k, p.b.col_stride, p.b.row_stride, batch_stride(p.b), p.b.type};
  return p.m > p.n ? Sides{.w = a, .x = b, .w_is_a = true} : Sides{.w = b, .x = a, .w_is_a = false};
}

// Is that index adjacent, and does every run of it begin on 16 bytes?
inline bool has_aligned_runs(const Side& s, ptx::Major major) {
  const bool k_is_unit = major == ptx::Major::k;
  const std::int64_t unit = k_is_unit ? s.k_stride : s.mn_stride;
  const std::int64_t other = k_is_unit ? s.mn_stride : s.k_stride;
  const std::int64_t units = k_is_unit ? s.k : s.mn, others = k_is_unit ? s.mn : s.k;
  const std::int64_t element = std::int64_t(size_of(s.type));
  const auto is_stride = [&](std::int64_t elements) {
    return elements < kSideMaxStride / element && elements * element % kSideAlignment == 0;
  };
  return (unit == 1 || units == 1) && (others == 1 || (other > 0 && is_stride(other))) &&
         is_stride(s.batch_stride) &&
         reinterpret_cast<std::uintptr_t>(s.data) % std::uintptr_t(kSideAlignment) == 0;
}

// Do C's elements that are adjacent, if any are, belong to one column of D?
inline bool takes_cols_by_rows(const Problem& p, const Sides& sides) {
  const std::int64_t along_rows = sides.w_is_a ? p.c.row_stride : p.c.col_stride;
  const std::int64_t along_cols = sides.w_is_a ? p.c.col_stride : p.c.row_stride;
  return !(along_cols == 1 && sides.x.mn > 1) || along_rows == 1;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
