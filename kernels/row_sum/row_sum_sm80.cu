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

constexpr Shape kSm80Configs[] = {
    // vectors; lanes a row, rows at once, vectors of a lane; of ragged rows; staged; threads
    {1, 1, 8, 1, 1, 4, 1, 1, 128},
    {2, 1, 4, 2, 1, 4, 2, 2, 128},
    {4, 1, 2, 4, 1, 2, 4, 4, 128},
    {7, 2, 4, 4, 2, 1, 4, 8, 128},
    {8, 8, 4, 1, 2, 1, 4, 8, 128},
    {11, 8, 4, 2, 4, 1, 4, 16, 128},
    {16, 16, 8, 1, 4, 1, 4, 16, 128},
    {32, 32, 8, 1, 8, 1, 4, 32, 128},
    {64, 32, 4, 2, 16, 1, 4, 64, 128},
    {128, 32, 2, 4, 32, 1, 4, 128, 128},
    {256, 32, 1, 8, 32, 1, 8, 256, 128},
    {512, 32, 1, 16, 32, 1, 16, 512, 128},
    {528, 96, 1, 8, 96, 1, 8, 0, 96},
    {1023, 64, 1, 8, 64, 1, 8, 0, 64},
    {1024, 64, 1, 16, 64, 1, 16, 0, 64},
    {1536, 96, 1, 8, 96, 1, 8, 0, 96},
    {2048, 128, 1, 8, 128, 1, 8, 0, 128},
    {3072, 192, 1, 8, 192, 1, 8, 0, 192},
    {6144, 256, 1, 8, 256, 1, 8, 0, 256},
    {0, 256, 1, 16, 256, 1, 16, 0, 256},
};

struct Sm80 {
  static constexpr auto& kShapes = kSm80Configs;
  static constexpr bool kPdl = false;
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("row_sum_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
