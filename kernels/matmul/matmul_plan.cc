#include "kernels/matmul/matmul_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_operand.h"
#include "kernels/matmul/matmul_tiles.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

constexpr std::int64_t kChunk = 16;  // bytes of a cp.async

bool is_multiple(std::int64_t elements, DType type, std::int64_t bytes) {
  return elements * std::int64_t(size_of(type)) % bytes == 0;
}
bool is_aligned(const void* p, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % std::uintptr_t(bytes) == 0;
}

Operand operand(const Matrix& x, bool rows_are_mn, std::int64_t mn, std::int64_t k,
                std::int64_t batch) {
  Operand o{.data = x.data,
            .mn_stride = rows_are_mn ? x.row_stride : x.col_stride,
            .k_stride = rows_are_mn ? x.col_stride : x.row_stride,
            .batch_stride = batch > 1 ? x.batch_stride : 0,
            .type = x.type,
            .unit = false,
            .wide = false};
  if (mn <= 1) o.mn_stride = 0;
  if (k <= 1) o.k_stride = 1;
  return o;
}

Major major_of(const Operand& o) {
  if (o.k_stride == 1) return Major::k;
  return o.mn_stride == 1 || (o.mn_stride != 0 && o.mn_stride < o.k_stride) ? Major::mn : Major::k;
}

bool takes_async(const Operand& o, Major major) {
  const std::int64_t unit = major == Major::k ? o.k_stride : o.mn_stride;
  const std::int64_t other = major == Major::k ? o.mn_stride : o.k_stride;
  return unit == 1 && is_aligned(o.data, kChunk) && is_multiple(other, o.type, kChunk) &&
         is_multiple(o.batch_stride, o.type, kChunk);
}

Problem transposed(Problem p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  for (Matrix* x : {&p.a, &p.b, &p.c, &p.c_in}) std::swap(x->row_stride, x->col_stride);
  return p;
}

bool wants_transpose(const Problem& p) {
  if (p.c.col_stride == 1 && p.n > 1) return false;
  if (p.c.row_stride == 1 && p.m > 1) return true;
  return p.n > 1 && p.m > 1 && p.c.row_stride < p.c.col_stride;
}

namespace {

// Clocks of an SM, roughly: the waves of CTAs, each as long as its products (at the rate at which
// they are issued) plus a start and an end that the other CTAs of the SM hide only in part.
double tile_cost(const Tile& tile, const Params& p, std::int64_t batch, int element,
                 const DeviceProperties& device, std::size_t smem) {
  constexpr double kProductsPerClock = 1024;  // multiply-adds of an SM; the ratio matters
  constexpr double kStart = 1500;             // filling the stages, and the epilogue
  const double tiles =
      double(tiles_in(p.m, tile.m)) * double(tiles_in(p.n, tile.n)) * double(batch);
  const int ctas = std::max(1, std::min({tile.ctas_per_sm, int(device.smem_per_sm / (smem + 1024)),
                                         device.max_threads_per_sm / tile.threads()}));
  // Small tiles reuse less of what they read from shared memory.
  const double reuse = double(tile.m) * tile.n / (tile.m + tile.n);
  const double efficiency = reuse / (reuse + 16);
  const int k_tile = tile.k_bytes / element;
  const double products =
      double(tile.m) * tile.n * double(p.k == 0 ? 0 : tiles_in(p.k, k_tile)) * k_tile;
  const double cta = products / (kProductsPerClock * efficiency);
  const double slots = double(device.sm_count) * ctas;
  const double full = std::floor(tiles / slots);
  const double rest = tiles - full * slots;
  // CTAs of one SM share its rate: the last wave has as many as the fullest SM.
  const double last = std::ceil(rest / device.sm_count);
  return full * (ctas * cta + kStart) + (rest > 0 ? last * cta + kStart : 0);
}

const char* name(Arithmetic a) {
  switch (a) {
    case Arithmetic::f16:
      return "mma.sync f16";
    case Arithmetic::bf16:
      return "mma.sync bf16";
    case Arithmetic::f8:
      return "mma.sync f16, converted from fp8 exactly";
    case Arithmetic::tf32:
      return "mma.sync tf32";
    case Arithmetic::tf32x3:
      return "mma.sync tf32, three products";
    case Arithmetic::fp32:
      return "fp32 fused multiply-adds";
  }
  return "?";
}

std::string describe_operand(const char* name, const Operand& o, Major major, const Variant& v) {
  const bool elements = v.arithmetic == Arithmetic::fp32 && !o.wide;
  const char* how = elements                ? "an element a cp.async"
                    : v.load == Load::async ? "16 bytes a cp.async"
                    : o.unit ? "realigned vectors, single elements at the ends of runs"
                             : "element by element: no unit stride";
  return fmt::format("{}: {} adjacent, {}\n", name,
                     major == Major::k ? "k" : (name[0] == 'a' ? "m" : "n"), how);
}

}  // namespace

Arithmetic arithmetic_of(const Problem& p) {
  if (is_f8(p.a.type)) return Arithmetic::f8;
  if (p.a.type == DType::f16) return Arithmetic::f16;
  if (p.a.type == DType::bf16) return Arithmetic::bf16;
  return p.math == Math::tf32     ? Arithmetic::tf32
         : p.math == Math::tf32x3 ? Arithmetic::tf32x3
                                  : Arithmetic::fp32;
}

Raster make_raster(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch,
                   std::int64_t band) {
  band = std::clamp<std::int64_t>(band, 1, tiles_m);
  const std::int64_t last = tiles_m % band;
  return {.tiles = tiles_m * tiles_n * batch,
          .tiles_m = tiles_m,
          .tiles_n = tiles_n,
          .band = band,
          .per_product = make_divider(tiles_m * tiles_n),
          .per_band = make_divider(band * tiles_n),
          .band_rows = make_divider(band),
          .last_band_rows = make_divider(last == 0 ? band : last)};
}

Epilogue make_epilogue(const Problem& problem, bool transpose) {
  const Problem p = transpose ? transposed(problem) : problem;
  const auto takes_vectors = [&](const Matrix& x) {
    const std::int64_t bytes = std::int64_t(size_of(x.type)) * kEpilogueVector;
    return (x.col_stride == 1 || p.n == 1) && is_aligned(x.data, bytes) &&
           (p.m == 1 || is_multiple(x.row_stride, x.type, bytes)) &&
           (p.batch == 1 || is_multiple(x.batch_stride, x.type, bytes));
  };
  return {.c = const_cast<void*>(p.c.data),
          .c_in = p.c_in.data,
          .bias = p.bias,
          .scale_a = p.scale_a,
          .scale_b = p.scale_b,
          .rows = p.m,
          .cols = p.n,
          .row_stride = p.c.row_stride,
          .col_stride = p.c.col_stride,
          .batch_stride = p.c.batch_stride,
          .c_in_row_stride = p.c_in.row_stride,
          .c_in_col_stride = p.c_in.col_stride,
          .c_in_batch_stride = p.c_in.batch_stride,
          .alpha = p.alpha,
          .beta = p.beta,
          .type = p.c.type,
          .bias_type = p.bias_type,
          .activation = p.activation,
          .bias_on_rows = transpose,
          .product = p.k != 0,
          .wide = takes_vectors(p.c),
          .c_in_wide = p.c_in.data != nullptr && takes_vectors(p.c_in)};
}

Plan make_plan(const Problem& problem, const DeviceProperties& device) {
  Plan plan{};
  plan.transposed = wants_transpose(problem);
  const Problem p = plan.transposed ? transposed(problem) : problem;
  Params& params = plan.params;
  params.m = p.m;
  params.n = p.n;
  params.k = p.k;
  params.a = operand(p.a, true, p.m, p.k, p.batch);
  params.b = operand(p.b, false, p.n, p.k, p.batch);
  params.epilogue = make_epilogue(problem, plan.transposed);

  Variant& v = plan.variant;
  v.arithmetic = arithmetic_of(p);
  v.a = major_of(params.a);
  v.b = major_of(params.b);
  params.a.unit = (v.a == Major::k ? params.a.k_stride : params.a.mn_stride) == 1;
  params.b.unit = (v.b == Major::k ? params.b.k_stride : params.b.mn_stride) == 1;
  params.a.wide = v.a == Major::mn && takes_async(params.a, v.a);
  params.b.wide = v.b == Major::mn && takes_async(params.b, v.b);
  const bool async = takes_async(params.a, v.a) && takes_async(params.b, v.b);
  v.load = v.arithmetic == Arithmetic::fp32 || (async && v.arithmetic != Arithmetic::f8)
               ? Load::async
               : Load::staged;

  const auto tiles = tiles_of(v.arithmetic, v.load);
  double least = 0;
  for (int i = 0; i < int(tiles.size()); ++i) {
    const std::size_t smem = smem_bytes(v.arithmetic, tiles[i]);
    if (smem > device.smem_per_cta_optin) continue;
    const double cost =
        tile_cost(tiles[i], params, p.batch, stage_element(v.arithmetic), device, smem);
    if (least != 0 && cost >= least) continue;
    least = cost;
    v.tile = i;
  }
  plan.tile = tiles[v.tile];

  const std::int64_t tiles_m = tiles_in(p.m, plan.tile.m), tiles_n = tiles_in(p.n, plan.tile.n);
  // The tiles in flight cover about as many rows of A as columns of B.
  const double in_flight = double(device.sm_count) * plan.tile.ctas_per_sm;
  const double band = std::sqrt(in_flight * plan.tile.n / plan.tile.m);
  params.raster = make_raster(tiles_m, tiles_n, p.batch, std::int64_t(band + 0.5));
  return plan;
}

std::string describe_plan(const Problem& problem, const Plan& plan, const LaunchContext& context) {
  const Params& p = plan.params;
  const Tile& t = plan.tile;
  const Variant& v = plan.variant;
  std::string text = fmt::format(
      "path: {}{}, {} tile(s) of {} x {}, {} bytes of k a stage, {} stages\n", name(v.arithmetic),
      plan.transposed ? ", C^T = B^T A^T" : "", p.raster.tiles, t.m, t.n, t.k_bytes, t.stages);
  if (problem.k != 0) {
    text += describe_operand(plan.transposed ? "b, as a" : "a", p.a, v.a, v);
    text += describe_operand(plan.transposed ? "a, as b" : "b", p.b, v.b, v);
  }
  text += p.epilogue.wide
              ? "c: four columns a store\n"
              : "c: a column a store: no unit stride, or not aligned to four elements\n";
  text += fmt::format("order: bands of {} tile rows of {}\n", p.raster.band, p.raster.tiles_m);
  return text + fmt::format("launch: grid {}, block {}, shared memory {}\n",
                            capped_grid(p.raster.tiles, context, t.threads()), t.threads(),
                            smem_bytes(v.arithmetic, t));
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
