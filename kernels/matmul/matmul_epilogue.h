// Matmul: what the end of every kernel needs to know, whatever the generation. Kernel arguments.
#pragma once

#include "kernels/matmul/matmul.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// C as the kernel sees it: the rows of its tiles are `rows`, and col_stride is 1 wherever C has a
// unit stride (the plan transposes the problem for it).
struct Epilogue {
  void* c;
  const void* c_in;  // null: beta is 0
  const void* bias;  // null: none
  const float* scale_a;
  const float* scale_b;
  std::int64_t rows, cols;
  std::int64_t row_stride, col_stride, batch_stride;
  std::int64_t c_in_row_stride, c_in_col_stride, c_in_batch_stride;
  float alpha, beta;
  DType type;  // of C and C_in
  DType bias_type;
  Activation activation;
  bool bias_on_rows;  // the problem is transposed: a bias value per row of a tile
  bool product;       // false: K or alpha is 0
  bool wide;          // four columns of C are one aligned store
  bool c_in_wide;     // ... and of C_in one aligned load
};

// Columns of a wide access.
inline constexpr int kEpilogueVector = 4;

// The epilogue of a problem, or of its transpose. Pure host code.
Epilogue make_epilogue(const Problem& problem, bool transposed);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
