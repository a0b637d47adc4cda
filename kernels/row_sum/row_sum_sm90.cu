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
// to hide its launch latency (option pdl). Everything this kernel reads or overwrites may still
// belong to the previous grid, so it waits before its first access. Bulk copies into shared memory
// do not help: short rows by them 0.90 of the reading kernel, by 16-byte copies of the threads 0.93
// (63 columns of fp32, 2^28 elements, H200, 2026-12-01).
#include "kernels/row_sum/row_sum_kernels.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

// As on sm80, with the measurements beside row_sum_sm80.cu's table.
constexpr Shape kSm90Configs[] = {
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

struct Sm90 {
  static constexpr auto& kShapes = kSm90Configs;
  static constexpr bool kPdl = true;
};

}  // namespace

const KernelRow<Problem> sm90 = row_of<Row<Sm90>>("row_sum_sm90", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
