// GeLU, generation sm80: everyone's fallback, and the only one that takes any strides.
//
//   y[r, c] = 0.5 x (1 + tanh(0.79788456 (x + 0.044715 x^3)))      form tanh
//   y[r, c] = 0.5 x (1 + erf(x / sqrt 2))                          form erf
//
// Shapes    x, y [rows, cols], any strides (x's may be 0), any element-aligned address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  gelu_math.cuh, gelu_math_16bit.cuh. The types alone choose the formula, so an element's
//           bits depend on its value, whatever the path, the generation or the shape.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write. Unit columns move
//           exactly these; where x is out of phase with y each vector of it is loaded twice, the
//           second time out of L1.
#include "kernels/gelu/gelu_launch.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

// One 16-byte window a thread, one CTA per piece, 128 threads: of the copy kernels and of these the
// fastest on an H200 (2026-12-01). 16 CTAs an SM bound the registers to 32, without a spill.
// Fractions of the copy ceiling of the same run, of this table and of what it was chosen over:
//                    2^22   2^24   2^28   256 threads, 2^28   12 CTAs an SM   always pairs, 2^28
//   bf16 tanh        0.99   1.00   1.00         0.99               -               0.99
//   bf16 erf         0.99   0.99   1.00         0.98              0.91             0.99
//   f16 tanh, erf    0.99   0.99   1.00          -                 -                -
//   f32 tanh, erf    1.00   1.00   1.00         1.00               -               0.97
//   bf16 to f32      0.97   0.98   0.98         0.95           this table   0.97 (16 CTAs an SM)
// Pairs of windows suit grids that they bring from one and a half to two waves down to one (2^22
// bf16 elements: 5.73 us instead of 5.91), and fp32 outputs of 16-bit inputs, which load 8 bytes a
// window (2^28: 386 us instead of 388). x off by one element, bf16 erf, the worst case: 0.94 at
// 2^22, 0.95 at 2^28; x and y off by one: 0.95, 0.98; an odd length: 0.96, 0.99.
constexpr Config kSm80Configs[] = {
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
    gelu_sm80_singles(Params p) {
  gelu_single<Cfg>(p, std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm80_pairs(Params p) {
  gelu_pair<Cfg>(p, std::int64_t(blockIdx.x) * (2 * Cfg::value.threads) + threadIdx.x);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm80_one_row(Params p) {
  gelu_row<Cfg>(p);
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm80_rows(Params p) {
  const std::int64_t stride = std::int64_t(gridDim.x) * Cfg::value.threads;
  std::int64_t i = std::int64_t(blockIdx.x) * Cfg::value.threads + threadIdx.x;
  for (; i < p.items; i += stride) gelu_window<Cfg>(p, i);  // once, unless the grid is capped
}

// A tile a CTA, columns along the lanes.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    gelu_sm80_strided(Params p) {
  using W = Window<Cfg>;
  const int tile_rows_log2 = kTileElementsLog2 - p.tile_cols_log2;
  for (std::int64_t tile = blockIdx.x; tile < p.items; tile += gridDim.x) {
    const std::int64_t down = quotient(tile, p.per_row);
    const std::int64_t across = tile - down * p.per_row.divisor;
#pragma unroll 1
    for (int e = int(threadIdx.x); e < kTileElements; e += Cfg::value.threads) {
      const std::int64_t r = (down << tile_rows_log2) + (e >> p.tile_cols_log2);
      const std::int64_t c = (across << p.tile_cols_log2) + (e & ((1 << p.tile_cols_log2) - 1));
      if (r >= p.rows || c >= p.cols) continue;
      const auto* x = static_cast<const typename W::In::Element*>(p.x);  // [rows, cols], strided
      auto* y = static_cast<typename W::Out::Element*>(p.y);             // [rows, cols], strided
      gelu_element<Cfg>(x + r * p.x_row_stride + c * p.x_col_stride,
                        y + r * p.y_row_stride + c * p.y_col_stride);
    }
  }
}

struct Sm80 {
  static constexpr auto& kConfigs = kSm80Configs;
  static constexpr bool kPdl = false;
  static constexpr bool kStrided = true;
  template <class Cfg>
  static KernelPointer kernel(Path path) {
    switch (path) {
      case Path::singles:
        return &gelu_sm80_singles<Cfg>;
      case Path::pairs:
        return &gelu_sm80_pairs<Cfg>;
      case Path::one_row:
        return &gelu_sm80_one_row<Cfg>;
      case Path::rows:
        return &gelu_sm80_rows<Cfg>;
      case Path::strided:
        return &gelu_sm80_strided<Cfg>;
    }
    return nullptr;
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row<Sm80>>("gelu_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::gelu
