// Softmax, generation sm80: rows with unit column stride that a CTA can hold and a warp cannot.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], unit column strides, cols up to 57344 (f32 -> f32), 65536 (16 bits
//           -> the same) or 32768 (16 bits -> f32), any row strides, any element-aligned
//           address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols and the types alone
//           (softmax_plan.h).
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write, which is what moves.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_parked.cuh"
#include "kernels/softmax/softmax_row.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// The first that has the threads. H200, 2026-12-01, 2^27 elements of 2048 to 32768 columns, of the
// copy ceiling: bf16 0.997 (2048), 0.98 (4096, 8192), 0.97 (16384), 0.96 (32768), fp32 0.98 (4096).
// Misaligned: bf16 0.98 (4095) and 0.95 (8191), f16 0.98 and fp32 0.97 (4095); x alone by one
// element 0.97 and y alone 0.94 (4096 columns of bf16).
constexpr Config kSm80BlockConfigs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::block, 8, 256, 4},
    {DType::f32, DType::f32, Path::block, 8, 1024, 1},
    {DType::f32, DType::f32, Path::parked, 8, 1024, 1},
    {DType::f16, DType::f16, Path::block, 4, 256, 4},
    {DType::f16, DType::f16, Path::block, 8, 1024, 1},
    {DType::f16, DType::f32, Path::block, 8, 256, 4},
    {DType::f16, DType::f32, Path::block, 8, 1024, 1},
    {DType::bf16, DType::bf16, Path::block, 4, 256, 4},
    {DType::bf16, DType::bf16, Path::block, 8, 1024, 1},
    {DType::bf16, DType::f32, Path::block, 8, 256, 4},
    {DType::bf16, DType::f32, Path::block, 8, 1024, 1},
};

// A row a CTA.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_block(Params p) {
  using V = Vectors<Cfg>;
  auto& smem = ptx::dynamic_smem<BlockSmem>();
  const Parked<Cfg> parked{smem.parked(), p};
  const int warps = int(blockDim.x) / kWarpThreads;
  const int vectors = V::kWindows + (V::kParks ? p.parked : 0);
  const int warp_cols = vectors * kWarpThreads * V::kItems;
  const int first = warp_of_cta() * warp_cols;
  for (std::int64_t r = blockIdx.x; r < p.rows; r += gridDim.x) {
    Part<Cfg> part;
    part.locate(p, r, first, columns_within(first, p.cols, warp_cols), kWarpThreads);
    Held<Cfg> held;
    float most = kMinusInfinity;
    if constexpr (V::kParks) most = parked.load_and_find_most(part);
    held.fetch(part);
    held.arrive(part, p.exponent);
    most = MaxNaN::combine(held.most(), most);
    most = reduce_cta<MaxNaN>(most, smem.slots[0], warps);
    const float less = subtrahend(most, p.exponent, p.zero_neg_inf_row);
    const Base base = held.base(less, p.exponent, p.log);
    float of_class[V::kItems];
    held.sum(base, p.exponent, of_class);
    if constexpr (V::kParks) parked.sum(base, of_class);
    float sum = base.unit * reduce_cyclic(of_class);
    sum = reduce_warps<Sum>(sum, smem.slots[1], warps);
    const Norm norm(p, sum);
    held.store(part, base, p, norm);
    if constexpr (V::kParks) parked.store(part, base, norm);
  }
}

struct Sm80Block {
  static constexpr const char* kTakes =
      "needs unit column strides and rows that a CTA can hold and a warp cannot";
  static constexpr auto& kConfigs = kSm80BlockConfigs;
  static Plan plan(const Problem& problem) { return make_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage) {
    return &softmax_sm80_block<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan& plan) {
    return BlockSmem::bytes(plan.params.parked, plan.threads);
  }
};

}  // namespace

const KernelRow<Problem> sm80_block = row_of<Row<Sm80Block>>("softmax_sm80_block", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
