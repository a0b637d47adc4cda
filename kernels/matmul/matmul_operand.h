// Matmul: how plans look at operands, whatever the generation. Pure host code, in matmul_plan.cc.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

bool is_multiple(std::int64_t elements, DType type, std::int64_t bytes);
bool is_aligned(const void* p, std::int64_t bytes);
constexpr std::int64_t tiles_in(std::int64_t extent, int tile) { return (extent - 1) / tile + 1; }

// A's rows are M, B's columns N. Strides of extents of one are never stepped: M's or N's becomes 0,
// K's 1, for which major_of takes K as the adjacent dimension.
Operand operand(const Matrix& x, bool rows_are_mn, std::int64_t mn, std::int64_t k,
                std::int64_t batch);

// K, unless the other dimension is the adjacent one or, without a unit stride, the closer one.
Major major_of(const Operand& o);

// Can it be copied 16 bytes at a time?
bool takes_async(const Operand& o, Major major);

// C^T = B^T A^T. wants_transpose: C's adjacent dimension runs down its columns.
Problem transposed(Problem p);
bool wants_transpose(const Problem& p);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
