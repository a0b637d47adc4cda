// Softmax, generation sm80: views without unit column stride, whatever their strides.
//
//   s = scale * x,  m = max over c of s[r, c]
//   y[r, c] = exp(s[r, c] - m) / sum over c of exp(s[r, c] - m)        softmax
//   y[r, c] = s[r, c] - m - log(the same sum)                          log-softmax
//
// Shapes    x, y [rows, cols], any strides (x's may be 0), any element-aligned address; y may be x.
// Types     f32 -> f32; f16, bf16 -> the same or f32. fp32 arithmetic, one rounding at the store.
// Numerics  softmax_math.cuh. The order of additions follows from cols alone, so that it is another
//           than for unit column strides.
// Floor     rows * cols * (size of x + size of y) bytes: one read, one write. This reads three
//           times; a tile of x that the caches hold comes from memory once. Loads use whole sectors
//           where rows or columns are adjacent.
#include "kernels/softmax/softmax_launch.h"
#include "kernels/softmax/softmax_split.cuh"
#include "kernels/softmax/softmax_strided.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

// A warp's 32 lanes by 32 slots of a row. H200, 2026-11-30, 32768 x 4096 by columns, counted as one
// read and one write: bf16 0.82 TB/s, fp32 1.23. Other shapes of the CTA are not measured.
constexpr Config kSm80StridedConfigs[] = {
    // x type, y type, path, windows, threads, CTAs an SM
    {DType::f32, DType::f32, Path::strided, 0, 1024, 1},
    {DType::f16, DType::f16, Path::strided, 0, 1024, 1},
    {DType::f16, DType::f32, Path::strided, 0, 1024, 1},
    {DType::bf16, DType::bf16, Path::strided, 0, 1024, 1},
    {DType::bf16, DType::f32, Path::strided, 0, 1024, 1},
};

// A tile of rows, or a chunk of one, a CTA.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    softmax_sm80_strided(Params p) {
  auto& smem = ptx::dynamic_smem<TileSmem>();
  const TilePlace place = tile_place(p);
  for (std::int64_t item = blockIdx.x; item < p.items; item += gridDim.x) {
    const Chunk chunk(p, item);
    const std::int64_t r = chunk.row * kTileRows + place.row;
    const StridedRow<Cfg> row(p, r, chunk.number, place.slot);
    const Partial* partials = p.partials + r * p.chunks.divisor;  // [chunks]
    const int count = p.stage == Stage::finish && r < p.rows ? int(p.chunks.divisor) : 0;

    float most = p.stage == Stage::finish ? kMinusInfinity : row.most();
    for (int i = place.slot; i < count; i += kTileSlots) {
      most = MaxNaN::combine(most, load_partial(partials + i).most);
    }
    most = reduce_slots<MaxNaN>(most, smem, place);
    const float less =
        subtrahend(most, p.exponent, p.zero_neg_inf_row || p.stage == Stage::partials);
    float sum = p.stage == Stage::finish ? 0.0f : row.sum(less);
    for (int i = place.slot; i < count; i += kTileSlots) {
      sum += rebased(load_partial(partials + i), less, p.exponent);
    }
    sum = reduce_slots<Sum>(sum, smem, place);

    if (p.stage != Stage::partials) {
      row.store(less, Norm(p, sum));
    } else if (place.slot == 0 && r < p.rows) {
      store_partial(p.partials + r * p.chunks.divisor + chunk.number, {.most = most, .sum = sum});
    }
  }
}

struct Sm80Strided {
  static constexpr const char* kTakes = "is for views without unit column strides";
  static constexpr auto& kConfigs = kSm80StridedConfigs;
  static Plan plan(const Problem& problem) { return make_plan(problem); }

  template <class Cfg>
  static KernelPointer kernel(Stage) {
    return &softmax_sm80_strided<Cfg>;
  }
  template <class Cfg>
  static std::size_t smem(const Plan&) {
    return sizeof(TileSmem);
  }
};

}  // namespace

const KernelRow<Problem> sm80_strided =
    row_of<Row<Sm80Strided>>("softmax_sm80_strided", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
