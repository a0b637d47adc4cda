// Softmax, generation sm80: rows with unit column stride that a CTA can hold. Every GPU runs it.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], unit column strides, cols up to 32768 (f32 out) or 57344 (16 bits
//           out), any row strides, any element-aligned address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols and the types alone
//           (softmax_plan.h).
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write, which is what moves.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_parked.cuh"
#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// Unmeasured: no GPU has run these yet. Chosen so that a thread holds up to 32 values without a
// spill, and so that rows of one vector a thread have as many threads in flight as GeLU's windows.
constexpr Config kSm80Configs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::warp, 1, 128, 12},
    {DType::f32, DType::f32, Path::warp, 4, 128, 10},
    {DType::f32, DType::f32, Path::warp, 8, 128, 8},
    {DType::f32, DType::f32, Path::block, 8, 256, 3},
    {DType::f16, DType::f16, Path::warp, 1, 128, 12},
    {DType::f16, DType::f16, Path::warp, 2, 128, 10},
    {DType::f16, DType::f16, Path::warp, 4, 128, 8},
    {DType::f16, DType::f16, Path::block, 4, 256, 3},
    {DType::f16, DType::f32, Path::warp, 1, 128, 12},
    {DType::f16, DType::f32, Path::warp, 4, 128, 10},
    {DType::f16, DType::f32, Path::warp, 8, 128, 8},
    {DType::f16, DType::f32, Path::block, 8, 256, 3},
    {DType::bf16, DType::bf16, Path::warp, 1, 128, 12},
    {DType::bf16, DType::bf16, Path::warp, 2, 128, 10},
    {DType::bf16, DType::bf16, Path::warp, 4, 128, 8},
    {DType::bf16, DType::bf16, Path::block, 4, 256, 3},
    {DType::bf16, DType::f32, Path::warp, 1, 128, 12},
    {DType::bf16, DType::f32, Path::warp, 4, 128, 10},
    {DType::bf16, DType::f32, Path::warp, 8, 128, 8},
    {DType::bf16, DType::f32, Path::block, 8, 256, 3},
};

// Several rows a warp, or one.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_warp(Params p) {
  using V = Vectors<Cfg>;
  const int log2 = V::kWindows == 1 ? p.lanes_log2 : 5;
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    // Past the last row a group has no columns: its lanes take part in the shuffles alone.
    const std::int64_t r = item * (Cfg::value.threads >> log2) + (threadIdx.x >> log2);
    Part<Cfg> part(p, r, 0, r < p.rows ? int(p.cols) : 0, 1 << log2);
    Held<Cfg> held;
    held.load_alone(part, p.exponent);
    const float most = reduce_lanes<MaxNaN>(held.most(), 1 << log2);
    const float less = subtrahend(most, p.exponent, p.zero_neg_inf_row);
    const float sum = reduce_lanes<Sum>(held.sum(less, p.exponent, p.log), 1 << log2);
    RowWriter<V::kY> out = part.writer(p);
    held.store(part, out, Norm(p, sum));
    out.finish(part.group_column(V::kWindows));
  }
}

// A row a CTA.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_block(Params p) {
  using V = Vectors<Cfg>;
  auto& smem = ptx::dynamic_smem<BlockSmem<Cfg>>();
  const Parked<Cfg> parked{smem, p};
  const int warps = int(blockDim.x) / kWarpThreads;
  const int warp_cols = (V::kWindows + p.parked) * kWarpThreads * V::kItems;
  const int first = warp_of_cta() * warp_cols;
  for (std::int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    Part<Cfg> part(p, r, first, columns_within(first, p.cols, warp_cols), kWarpThreads);
    Held<Cfg> held;
    part.in.begin(warp_cols);
    const float most_parked = parked.load_and_find_most(part);
    held.load(part, p.exponent);
    float most = MaxNaN::combine(held.most(), most_parked);
    most = reduce_cta<MaxNaN>(most, smem.slots[0], warps);
    const float less = subtrahend(most, p.exponent, p.zero_neg_inf_row);
    float sum = held.sum(less, p.exponent, p.log) + parked.sum(part, less);
    sum = reduce_cta<Sum>(sum, smem.slots[1], warps);
    const Norm norm(p, sum);
    RowWriter<V::kY> out = part.writer(p);
    held.store(part, out, norm);
    parked.store(part, out, less, norm);
    out.finish(warp_cols);
  }
}

struct Sm80 {
  static constexpr const char* kName = "softmax_sm80";
  static constexpr Arch kArch = Arch::sm80;
  static constexpr const char* kTakes = "needs unit column strides and rows that a CTA can hold";
  static constexpr auto& kConfigs = kSm80Configs;

  template <class Cfg>
  static KernelPointer kernel(Stage) {
    if constexpr (Cfg::value.path == Path::warp) return &softmax_sm80_warp<Cfg>;
    if constexpr (Cfg::value.path == Path::block) return &softmax_sm80_block<Cfg>;
    return nullptr;
  }
  template <class Cfg>
  static std::size_t smem(const Plan& plan) {
    return Cfg::value.path == Path::block ? BlockSmem<Cfg>::bytes(plan.params.parked) : 0;
  }
};

}  // namespace

const KernelRow<Problem> sm80 = Row<Sm80>::make();

}  // namespace libkernels::inline LK_BACKEND::op::softmax
