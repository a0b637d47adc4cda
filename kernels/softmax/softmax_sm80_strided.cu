// Softmax, generation sm80: views without unit column stride, whatever their strides.
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
//           up to 1024 columns. Longer rows are read twice.
#include "kernels/softmax/softmax_strided.cuh"
#include "kernels/softmax/softmax_strided_launch.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// Unmeasured: H200 figures are of its own kernel's, softmax_sm90_strided.cu.
constexpr StridedConfig kSm80StridedConfigs[] = {
    // x type, y type, CTAs an SM
    {DType::f32, DType::f32, 3},   {DType::f16, DType::f16, 3},  {DType::f16, DType::f32, 3},
    {DType::bf16, DType::bf16, 3}, {DType::bf16, DType::f32, 3},
};

template <class Cfg>
__global__ void __launch_bounds__(kTileMostThreads, Cfg::value.ctas_per_sm)
    softmax_sm80_strided(Params p) {
  softmax_tiles<Cfg, false>(p);
}

struct Sm80Strided {
  static constexpr int kMostCluster = 1;
  static constexpr auto& kConfigs = kSm80StridedConfigs;

  template <class Cfg>
  static auto kernel() {
    return &softmax_sm80_strided<Cfg>;
  }
};

}  // namespace

const KernelRow<Problem> sm80_strided =
    row_of<StridedRow<Sm80Strided>>("softmax_sm80_strided", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
