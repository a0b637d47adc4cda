// Row-sum, generation sm90: the kernels of row_sum_sm80.cu, and programmatic dependent launch.
//
//   y[r] = sum over c of x[r, c]
//
// Shapes    x [rows, cols], any strides (0 too), any element-aligned address; y [rows], any stride.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 additions, one rounding at the store.
// Numerics  the trees of row_sum_plan.h, as on sm80.
// Floor     rows * (cols * size of x + size of y) bytes, as on sm80.
//
// What Hopper adds: in a chain of small kernels the next grid may be launched while this one runs,
// to hide its launch latency (option pdl). A link of such a chain takes, with and without it, 0.90
// and 1.44 us at 64 x 64 bf16, 1.13 and 1.69 at 256 x 256, 1.51 and 1.84 at 1024 x 1024, 2.96 and
// 3.59 at 16 x 65536, 3.70 and 4.76 at 1 x 2^20 in two passes (H200, 2026-12-01). Everything this
// kernel reads or overwrites may still belong to the previous grid, so it waits before its first
// access. Bulk copies into shared memory do not help: short rows by them 0.90 of the reading
// kernel, by 16-byte copies of the threads 0.93 (63 columns of fp32, 2^28 elements, H200,
// 2026-12-01).
#include "kernels/row_sum/row_sum_kernels.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

struct Sm90 {
  static constexpr auto& kShapes = kShapeConfigs;
  static constexpr bool kPdl = true;
};

}  // namespace

const KernelRow<Problem> sm90 = row_of<Row<Sm90>>("row_sum_sm90", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
