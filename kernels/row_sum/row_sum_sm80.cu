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

// H200, 2026-12-01, 2^28 elements, of the reading rate at that size in the same run, the output
// counted; in brackets what it replaces, where that is one shape for all rows of a tree:
//   bf16  15 and 16 columns 0.96, 33 0.89 (0.77), 40 0.95 (0.73), 48 0.94, 64 0.92, 65 0.90 (0.51),
//         97 0.92, 128 0.98, 129 0.92 (0.59), 256 0.98, 289 0.96 (0.57), 513 0.92 (0.60),
//         1023 0.99, 1025 0.93 (0.75), 2049 0.92 (0.81), 4096 1.00, 4097 0.90 (0.80),
//         8193 0.98 (0.79), 16385 0.97 (0.78), 50257 and more 0.97
//   fp32  15 and 16 0.955, 33 0.89 (0.74), 63 0.93, 64 0.955, 65 0.92 (0.66), 128 0.97, 129 0.93
//         (0.71), 257 0.97 (0.71), 513 0.93 (0.90), 1023 and more 0.99, 8193 1.00 (0.88)
// Except where a row is one lane's, whole rows are read in as many adjacent bytes a warp as there
// are; a tree that the columns fill by a little over a half takes more rows at once, or fewer lanes
// and more vectors of each. The staged rows of these figures were copied by cp.async; by loads, as
// now: unmeasured, since no device was at hand any more.
constexpr Shape kSm80Configs[] = {
    // vectors; lanes a row, rows at once, vectors of a lane; of ragged rows; staged; threads
    {1, 1, 8, 1, 1, 4, 1, 1, 1, 128},         {2, 1, 4, 2, 1, 4, 2, 0, 0, 128},
    {4, 1, 2, 4, 1, 2, 4, 0, 0, 128},         {7, 2, 4, 4, 2, 1, 4, 7, 5, 128},
    {8, 8, 4, 1, 2, 1, 4, 8, 0, 128},         {11, 8, 4, 2, 4, 1, 4, 16, 16, 128},
    {16, 16, 8, 1, 4, 1, 4, 16, 16, 128},     {32, 32, 8, 1, 8, 1, 4, 30, 23, 128},
    {64, 32, 4, 2, 16, 1, 4, 56, 46, 128},    {128, 32, 2, 4, 32, 1, 4, 104, 100, 128},
    {256, 32, 1, 8, 32, 1, 8, 184, 136, 128}, {512, 32, 1, 16, 32, 1, 16, 300, 272, 128},
    {528, 96, 1, 8, 96, 1, 8, 0, 0, 96},      {1023, 64, 1, 8, 64, 1, 8, 0, 0, 64},
    {1024, 64, 1, 16, 64, 1, 16, 0, 0, 64},   {1536, 96, 1, 8, 96, 1, 8, 0, 0, 96},
    {2048, 128, 1, 8, 128, 1, 8, 0, 0, 128},  {3072, 192, 1, 8, 192, 1, 8, 0, 0, 192},
    {6144, 256, 1, 8, 256, 1, 8, 0, 0, 256},  {0, 256, 1, 16, 256, 1, 16, 0, 0, 256},
};

struct Sm80 {
  static constexpr auto& kShapes = kSm80Configs;
  static constexpr bool kPdl = false;
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("row_sum_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
