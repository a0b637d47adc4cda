// Row-sum, generation sm80: everyone's fallback.
//
//   y[r] = sum over c of x[r, c]
//
// Shapes    x [rows, cols], any strides (0 too), any element-aligned address; y [rows], any stride.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 additions, one rounding at the store.
// Numerics  the tree of row_sum_plan.h: chains of at most 32 additions, then trees. A row's bits
//           depend on its values, their number and type, and on whether columns are adjacent.
// Floor     rows * (cols * size of x + size of y) bytes: one read, one write. Rows of up to 128 KB
//           move exactly these; of longer ones the sums of their chunks of 64 to 128 KB are written
//           and read again, 4 bytes each. A 16-byte vector that two rows share is loaded for both.
#include "kernels/row_sum/row_sum_kernels.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

struct Sm80 {
  static constexpr auto& kShapes = kShapeConfigs;
  static constexpr bool kPdl = false;
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("row_sum_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
