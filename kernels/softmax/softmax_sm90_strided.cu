// Softmax, generation sm90: views without unit column stride; clusters hold longer rows than CTAs.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], any strides (x's may be 0), any element-aligned address; y may be x.
//           Fast where rows are adjacent.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols and the types alone
//           (softmax_strided_plan.h), so that it is another than for unit column strides.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write, which is what moves
//           up to 8192 columns. Longer rows are read twice.
#include "kernels/softmax/softmax_strided.cuh"
#include "kernels/softmax/softmax_strided_launch.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// H200, 2026-12-01, 2^27 elements by columns, one read and one write, TB/s, bf16 and fp32: 32
// columns 3.84 and 4.01, 256 3.77 and 3.95, 512 3.52 and 3.56, 4096 2.76 and 2.97 (two CTAs an SM
// 2.42 and 3.03), 131072 2.41 and 2.62. A copy of 128 bytes a column reaches 3.53 and 3.35.
constexpr StridedConfig kSm90StridedConfigs[] = {
    // x type, y type, CTAs an SM
    {DType::f32, DType::f32, 3},   {DType::f16, DType::f16, 3},  {DType::f16, DType::f32, 3},
    {DType::bf16, DType::bf16, 3}, {DType::bf16, DType::f32, 3},
};

template <class Cfg>
__global__ void __launch_bounds__(kTileMostThreads, Cfg::value.ctas_per_sm)
    softmax_sm90_strided(Params p) {
  softmax_tiles<Cfg, true>(p);
}

struct Sm90Strided {
  static constexpr int kMostCluster = 8;
  static constexpr auto& kConfigs = kSm90StridedConfigs;

  template <class Cfg>
  static auto kernel() {
    return &softmax_sm90_strided<Cfg>;
  }
};

}  // namespace

const KernelRow<Problem> sm90_strided =
    row_of<StridedRow<Sm90Strided>>("softmax_sm90_strided", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
