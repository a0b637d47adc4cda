// GeLU, generation sm90: the windows of gelu_sm80.cu, and programmatic dependent launch.
//
//   y[r, c] = 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))      form tanh
//   y[r, c] = 0.5 x (1 + erf(x / sqrt 2))                          form erf
//
// Shapes    x, y [rows, cols], unit stride along the same dimension of both; else gelu_sm80 serves.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  gelu_math.cuh, gelu_math_16bit.cuh: the bits of every other generation.
// Floor     rows * cols * (size of x + size of y) bytes, moved exactly where x is in phase with y.
//
// What Hopper adds: in a chain of small kernels the next grid may be launched while this one runs,
// to hide its launch latency (option pdl). A link of such a chain takes, with and without it, 0.75
// and 1.27 us at 2^16 bf16 elements, 1.26 and 1.92 at 2^18, 2.39 and 2.80 at 2^20, 5.07 and 5.72 at
// 2^22 (H200, 2026-12-01). Everything this kernel reads or overwrites may still belong to the
// previous grid, so it waits before its first access. Bulk copies do not help: rings of them reach
// 3.9 TB/s in a plain copy where this shape reaches 4.3 (H200, 2026-11-29).
#include "kernels/gelu/gelu_launch.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

// As on sm80, with the measurement beside gelu_sm80.cu's table.
constexpr Config kSm90Configs[] = {
    // x type, y type, form, threads, CTAs an SM, window bytes, pairs
    {DType::f32, DType::f32, Form::tanh, 128, 16, 16, Pairs::in_one_wave},
    {DType::f32, DType::f32, Form::erf, 128, 16, 16, Pairs::in_one_wave},
    {DType::f16, DType::f16, Form::tanh, 128, 16, 16, Pairs::in_one_wave},
    {DType::f16, DType::f16, Form::erf, 128, 16, 16, Pairs::in_one_wave},
    {DType::f16, DType::f32, Form::tanh, 128, 12, 16, Pairs::beyond_one_wave},
    {DType::f16, DType::f32, Form::erf, 128, 12, 16, Pairs::beyond_one_wave},
    {DType::bf16, DType::bf16, Form::tanh, 128, 16, 16, Pairs::in_one_wave},
    {DType::bf16, DType::bf16, Form::erf, 128, 16, 16, Pairs::in_one_wave},
    {DType::bf16, DType::f32, Form::tanh, 128, 12, 16, Pairs::beyond_one_wave},
    {DType::bf16, DType::f32, Form::erf, 128, 12, 16, Pairs::beyond_one_wave},
};

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm90_singles(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  gelu_single<Cfg>(p, std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm90_pairs(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  gelu_pair<Cfg>(p, std::int64_t(blockIdx.x) * (2 * Cfg::value.threads) + threadIdx.x);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm90_one_row(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  gelu_row<Cfg>(p);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm90_rows(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  const std::int64_t stride = std::int64_t(gridDim.x) * Cfg::value.threads;
  std::int64_t i = std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x;
  for (; i < p.items; i += stride) gelu_window<Cfg>(p, i);  // once, unless the grid is capped
}

struct Sm90 {
  static constexpr auto& kConfigs = kSm90Configs;
  static constexpr bool kPdl = true;
  static constexpr bool kStrided = false;
  template <class Cfg>
  static KernelPointer kernel(Path path) {
    switch (path) {
      case Path::singles:
        return &gelu_sm90_singles<Cfg>;
      case Path::pairs:
        return &gelu_sm90_pairs<Cfg>;
      case Path::one_row:
        return &gelu_sm90_one_row<Cfg>;
      case Path::rows:
        return &gelu_sm90_rows<Cfg>;
      case Path::strided:
        break;  // gelu_sm80's
    }
    return nullptr;
  }
};

}  // namespace

const KernelRow<Problem> sm90 = row_of<Row<Sm90>>("gelu_sm90", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::gelu
