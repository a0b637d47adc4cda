// Softmax, generation sm80: rows with unit column stride that a warp can hold. Every GPU runs it.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], unit column strides, cols up to 1024, any row strides, any
//           element-aligned address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols and the types alone
//           (softmax_plan.h).
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write, which is what moves.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// As many CTAs as no register spills for. H200, 2026-12-01, 2^27 elements, of the copy ceiling:
// bf16 0.98 (32 columns), 0.96 (128), 0.95 (256), 0.99 (512, with 7 CTAs 0.956), 0.98 (1024, with 5
// CTAs 0.92); f16 0.98 (1024); fp32 0.98 (128 to 1024). Misaligned: bf16 0.19 (33), 0.34 (127),
// 0.36 (255), 0.42 (257), 0.915 (511), 0.98 (1023); fp32 0.36 (127), 0.63 (255), 0.98 (511). Short
// rows by the tree of WarpPart: bf16 0.53 (127), but 0.86 (128).
constexpr Config kSm80Configs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::warp, 1, 128, 8, true},
    {DType::f32, DType::f32, Path::warp, 1, 128, 12, false},
    {DType::f32, DType::f32, Path::warp, 4, 128, 10},
    {DType::f32, DType::f32, Path::warp, 8, 128, 7},
    {DType::f16, DType::f16, Path::warp, 1, 128, 8, true},
    {DType::f16, DType::f16, Path::warp, 1, 128, 12, false},
    {DType::f16, DType::f16, Path::warp, 2, 128, 8},
    {DType::f16, DType::f16, Path::warp, 4, 128, 8},
    {DType::f16, DType::f32, Path::warp, 1, 128, 8, true},
    {DType::f16, DType::f32, Path::warp, 1, 128, 12, false},
    {DType::f16, DType::f32, Path::warp, 4, 128, 10},
    {DType::f16, DType::f32, Path::warp, 8, 128, 7},
    {DType::bf16, DType::bf16, Path::warp, 1, 128, 8, true},
    {DType::bf16, DType::bf16, Path::warp, 1, 128, 12, false},
    {DType::bf16, DType::bf16, Path::warp, 2, 128, 8},
    {DType::bf16, DType::bf16, Path::warp, 4, 128, 8},
    {DType::bf16, DType::f32, Path::warp, 1, 128, 8, true},
    {DType::bf16, DType::f32, Path::warp, 1, 128, 12, false},
    {DType::bf16, DType::f32, Path::warp, 4, 128, 10},
    {DType::bf16, DType::f32, Path::warp, 8, 128, 7},
};

// Several rows a warp, or one; and of short ones several more, whose loads are under way together.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_warp(Params p) {
  using V = Vectors<Cfg>;
  constexpr int kRows = V::kRowsAtOnce;
  const int log2 = V::kWindows == 1 ? p.lanes_log2 : 5;
  const int groups = Cfg::value.threads >> log2;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const std::int64_t first = item * (kRows * groups) + (threadIdx.x >> log2);
    Part<Cfg> part[kRows];
    Held<Cfg> held[kRows];
    Base base[kRows];
    float most[kRows], sum[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      // Past the last row a group has no columns: its lanes take part in the shuffles alone.
      const std::int64_t r = first + i * groups;
      part[i].locate(p, r, 0, r < p.rows ? int(p.cols) : 0, 1 << log2);
      held[i].fetch(part[i]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      held[i].arrive(part[i], p.exponent);
      most[i] = held[i].most();
    }
    reduce_lanes<MaxNaN>(most, 1 << log2);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float less = subtrahend(most[i], p.exponent, p.zero_neg_inf_row);
      base[i] = held[i].base(less, p.exponent, p.log);
      float of_class[V::kItems];
      held[i].sum(base[i], p.exponent, of_class);
      sum[i] = V::kWholeWarp ? reduce_cyclic(of_class) : reduce_array<Sum>(of_class);
    }
    if constexpr (!V::kWholeWarp) reduce_lanes<Sum>(sum, 1 << log2);
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      held[i].store(part[i], base[i], p, Norm(p, base[i].unit * sum[i]));
    }
  }
}

struct Sm80 {
  static constexpr const char* kTakes = "needs unit column strides and rows that a warp can hold";
  static constexpr auto& kConfigs = kSm80Configs;
  static Plan plan(const Problem& problem) { return make_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage) {
    return &softmax_sm80_warp<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan&) {
    return 0;
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("softmax_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
