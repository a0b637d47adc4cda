// GeLU, generation sm100: the windows of gelu_sm80.cu, twice as wide.
//
//   y[r, c] = 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))      form tanh
//   y[r, c] = 0.5 x (1 + erf(x / sqrt 2))                          form erf
//
// Shapes    x, y [rows, cols], unit stride along the same dimension of both; else gelu_sm80 serves.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  gelu_math.cuh, gelu_math_16bit.cuh: the bits of every other generation.
// Floor     rows * cols * (size of x + size of y) bytes, moved exactly where x is in phase with y.
//
// What Blackwell adds: loads and stores of 256 bits, so a thread owns one 32-byte sector, and
// programmatic dependent launch as on sm90. Compiled for 100f and executed on the emulator; nobody
// has run it on a B200 yet.
#include "kernels/gelu/gelu_launch.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

// 32 bytes a thread is the widest access of sm_100. Unmeasured: no B200 was at hand.
constexpr Config kSm100Configs[] = {
    // x type, y type, form, threads, CTAs an SM, window bytes, pairs
    {DType::f32, DType::f32, Form::tanh, 128, 12, 32, Pairs::never},
    {DType::f32, DType::f32, Form::erf, 128, 12, 32, Pairs::never},
    {DType::f16, DType::f16, Form::tanh, 128, 12, 32, Pairs::never},
    {DType::f16, DType::f16, Form::erf, 128, 12, 32, Pairs::never},
    {DType::f16, DType::f32, Form::tanh, 128, 12, 32, Pairs::never},
    {DType::f16, DType::f32, Form::erf, 128, 12, 32, Pairs::never},
    {DType::bf16, DType::bf16, Form::tanh, 128, 12, 32, Pairs::never},
    {DType::bf16, DType::bf16, Form::erf, 128, 12, 32, Pairs::never},
    {DType::bf16, DType::f32, Form::tanh, 128, 12, 32, Pairs::never},
    {DType::bf16, DType::f32, Form::erf, 128, 12, 32, Pairs::never},
};

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm100_singles(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  gelu_single<Cfg>(p, std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm100_one_row(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  gelu_row<Cfg>(p);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm100_rows(Params p) {
  if (p.trigger_early) ptx::griddepcontrol_launch_dependents();
  ptx::griddepcontrol_wait();  // returns at once unless launched as a dependent
  const std::int64_t stride = std::int64_t(gridDim.x) * Cfg::value.threads;
  std::int64_t i = std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x;
  for (; i < p.items; i += stride) gelu_window<Cfg>(p, i);  // once, unless the grid is capped
}

struct Sm100 {
  static constexpr auto& kConfigs = kSm100Configs;
  static constexpr bool kPdl = true;
  static constexpr bool kStrided = false;
  template <class Cfg>
  static KernelPointer kernel(Path path) {
    switch (path) {
      case Path::singles:
        return &gelu_sm100_singles<Cfg>;
      case Path::one_row:
        return &gelu_sm100_one_row<Cfg>;
      case Path::rows:
        return &gelu_sm100_rows<Cfg>;
      case Path::pairs:    // of 16 bytes make a window of 32
      case Path::strided:  // gelu_sm80's
        break;
    }
    return nullptr;
  }
};

}  // namespace

const KernelRow<Problem> sm100 = row_of<Row<Sm100>>("gelu_sm100", Arch::sm100);

}  // namespace libkernels::inline LK_BACKEND::op::gelu
