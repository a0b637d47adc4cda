#include "kernels/matmul/matmul_plan_sm90.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/matmul/matmul_operand.h"
#include "kernels/matmul/matmul_tiles_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr std::int64_t kCopyAlignment = 16;                              // bytes
constexpr std::int64_t kMaxCoordinate = (std::int64_t{1} << 31) - 1024;  // ends of tiles, too
constexpr std::int64_t kMaxCopyStride = std::int64_t{1} << 40;           // bytes

struct Oriented {
  Problem p;
  bool transposed;
  Operand a, b;
  Major major_a, major_b;
};

Oriented oriented(const Problem& problem) {
  Oriented o{};
  o.transposed = transposes_sm90(problem);
  o.p = o.transposed ? transposed(problem) : problem;
  o.a = operand(o.p.a, true, o.p.m, o.p.k, o.p.batch);
  o.b = operand(o.p.b, false, o.p.n, o.p.k, o.p.batch);
  o.major_a = major_of(o.a);
  o.major_b = major_of(o.b);
  return o;
}

Finish finish_of(const Problem& p, const Epilogue& e) {
  const bool simple =
      e.c_in == nullptr && (e.activation == Activation::none || e.activation == Activation::relu);
  if (!simple) return Finish::block;
  if (e.type == DType::f32) return Finish::full;
  if (e.col_stride != 1 && e.cols > 1) return Finish::block;
  // The copy engine clips in pieces of 16 bytes: no end of a row may lie within one.
  const bool written = is_aligned(e.c, kCopyAlignment) &&
                       is_multiple(e.cols, e.type, kCopyAlignment) &&
                       (p.m == 1 || is_multiple(e.row_stride, e.type, kCopyAlignment)) &&
                       (p.batch == 1 || is_multiple(e.batch_stride, e.type, kCopyAlignment)) &&
                       std::max(e.row_stride, e.batch_stride) < kMaxCopyStride / 2;
  return written ? Finish::tensor : Finish::half;
}

}  // namespace

bool transposes_sm90(const Problem& problem) {
  const bool wants = wants_transpose(problem);
  if (problem.a.type != DType::f32) return wants;
  const Problem p = wants ? transposed(problem) : problem;
  const Major a = major_of(operand(p.a, true, p.m, p.k, p.batch));
  const Major b = major_of(operand(p.b, false, p.n, p.k, p.batch));
  return wants != (a == Major::k && b == Major::mn);
}

double cost_sm90(const TileSm90& t, const Problem& p, int sms) {
  const std::int64_t tiles = tiles_in(p.m, t.m) * tiles_in(p.n, t.n);
  const double waves = std::ceil(double(tiles) * double(p.batch) / sms);
  const int k = kStageBytes / int(size_of(p.a.type));
  // Where there are several waves, about half of the rest is hidden behind other tiles' products.
  const double rest = t.tile_ns * 0.5;
  return waves * (double(tiles_in(p.k, k)) * t.stage_ns + rest) + rest;
}

const char* why_not_multiplied(const Problem& problem) {
  const Arithmetic arithmetic = arithmetic_of(problem);
  if (arithmetic == Arithmetic::fp32) {
    return "multiplies no f32 in fp32";
  }
  return problem.k == 0 ? "needs a product: k or alpha is 0" : nullptr;
}

const char* why_not_copied(const Operand& o, Major major, std::int64_t mn, std::int64_t batch) {
  const std::int64_t unit = major == Major::k ? o.k_stride : o.mn_stride;
  const std::int64_t other = major == Major::k ? o.mn_stride : o.k_stride;
  const std::int64_t bytes = std::int64_t(size_of(o.type));
  if (unit != 1) return "needs a unit stride in a and in b";
  if (!takes_async(o, major)) {
    return "needs addresses and strides of a and b in multiples of 16 bytes";
  }
  const bool steps = major == Major::mn || mn > 1;
  if (steps && other == 0) return "takes no stride of 0 within a matrix";
  if (std::max(other, o.batch_stride) * bytes >= kMaxCopyStride || mn >= kMaxCoordinate ||
      batch >= kMaxCoordinate) {
    return "takes extents below 2^31 and strides below 2^40 bytes";
  }
  return nullptr;
}

const char* why_not_sm90(const Problem& problem) {
  if (const char* why = why_not_multiplied(problem)) return why;
  const Arithmetic arithmetic = arithmetic_of(problem);
  const Oriented o = oriented(problem);
  if (o.p.k >= kMaxCoordinate) return "takes extents below 2^31 and strides below 2^40 bytes";
  if (arithmetic == Arithmetic::f8 && (o.major_a == Major::mn || o.major_b == Major::mn)) {
    return "multiplies f8 with k adjacent only";
  }
  if (o.major_b == Major::mn && !takes_any_major(arithmetic)) {
    return "multiplies f32 only if k is adjacent in a or in b";
  }
  const char* why = why_not_copied(o.a, o.major_a, o.p.m, o.p.batch);
  return why != nullptr ? why : why_not_copied(o.b, o.major_b, o.p.n, o.p.batch);
}

PlanSm90 make_plan_sm90(const Problem& problem, const DeviceProperties& device, int tile) {
  PlanSm90 plan =
      make_plan_sm90_tile(problem, device, tiles_sm90(arithmetic_of(problem))[std::size_t(tile)]);
  plan.variant.tile = tile;
  return plan;
}

PlanSm90 make_plan_sm90_tile(const Problem& problem, const DeviceProperties& device,
                             const TileSm90& t) {
  const Oriented o = oriented(problem);
  const Problem& p = o.p;
  PlanSm90 plan{};
  plan.transposed = o.transposed;
  plan.m = p.m;
  plan.n = p.n;
  plan.k = p.k;
  plan.batch = p.batch;
  plan.a = o.a;
  plan.b = o.b;
  plan.variant = {arithmetic_of(p), p.a.type, p.b.type, o.major_a, o.major_b, 0};

  const int element = int(size_of(p.a.type));
  plan.tile = t;
  // The tiles in flight cover about as many rows of A as columns of B.
  const double band = std::sqrt(double(device.sm_count) * t.n / t.m);
  ParamsSm90& params = plan.params;
  params.k_stages = int(tiles_in(p.k, kStageBytes / element));
  params.batch_a = o.a.batch_stride != 0;
  params.batch_b = o.b.batch_stride != 0;
  params.raster =
      make_raster(tiles_in(p.m, t.m), tiles_in(p.n, t.n), p.batch, std::int64_t(band + 0.5));
  params.epilogue = make_epilogue(problem, o.transposed);
  params.finish = finish_of(p, params.epilogue);
  const double c_bytes = double(p.m) * double(p.n) * double(p.batch) * double(size_of(p.c.type));
  params.streams = c_bytes > double(device.l2_bytes);
  if (params.finish == Finish::tensor && params.raster.tiles <= device.sm_count && t.n <= 64) {
    params.finish = Finish::wide;
  }
  return plan;
}

PlanSm90 make_plan_sm90(const Problem& problem, const DeviceProperties& device) {
  const Problem p = transposes_sm90(problem) ? transposed(problem) : problem;
  const auto tiles = tiles_sm90(arithmetic_of(p));
  double least = std::numeric_limits<double>::infinity();
  int best = 0;
  for (int i = 0; i < int(tiles.size()); ++i) {
    if (smem_bytes(tiles[i], arithmetic_of(p)) > device.smem_per_cta_optin) continue;
    const double cost = cost_sm90(tiles[std::size_t(i)], p, device.sm_count);
    if (cost >= least) continue;
    least = cost;
    best = i;
  }
  return make_plan_sm90(problem, device, best);
}

unsigned grid_sm90(const PlanSm90& plan, int sms) {
  return unsigned(std::min<std::int64_t>(plan.params.raster.tiles, sms));
}

std::string describe_plan_sm90(const Problem& problem, const LaunchContext& context) {
  const PlanSm90 plan = make_plan_sm90(problem, context.properties);
  const TileSm90& t = plan.tile;
  const ParamsSm90& p = plan.params;
  const auto adjacent = [](Major major, const char* mn) { return major == Major::k ? "k" : mn; };
  const Arithmetic arithmetic = plan.variant.arithmetic;
  const std::string types =
      arithmetic == Arithmetic::tf32     ? "tf32"
      : arithmetic == Arithmetic::tf32x3 ? "tf32, three products"
      : problem.a.type == problem.b.type
          ? name(problem.a.type)
          : fmt::format("{} by {}", name(problem.a.type), name(problem.b.type));
  std::string text =
      fmt::format("path: wgmma {}{}, tiles of {} x {}, {} stages of {} bytes of k\n", types,
                  plan.transposed ? ", C^T = B^T A^T" : "", t.m, t.n, t.stages, kStageBytes);
  const bool registers = arithmetic == Arithmetic::tf32x3 ||
                         (arithmetic == Arithmetic::tf32 && plan.variant.a == Major::mn);
  text += fmt::format("{}: {} adjacent, by tensor copies{}\n", plan.transposed ? "b, as a" : "a",
                      adjacent(plan.variant.a, "m"), registers ? ", then through registers" : "");
  text += fmt::format("{}: {} adjacent, by tensor copies\n", plan.transposed ? "a, as b" : "b",
                      adjacent(plan.variant.b, "n"));
  switch (p.finish) {
    case Finish::tensor:
      text += "c: by tensor copies\n";
      break;
    case Finish::wide:
      text += "c: 16 bytes a lane\n";
      break;
    case Finish::half:
      text += "c: realigned, single elements at the ends of rows of tiles\n";
      break;
    case Finish::full:
      text += p.epilogue.wide ? "c: out of the registers, two columns a store\n"
                              : "c: out of the registers, a column a store\n";
      break;
    case Finish::block:
      text += p.epilogue.wide ? "c: four columns a store\n"
                              : "c: a column a store: no unit stride, or not aligned\n";
      break;
  }
  text += "tiles, by what they are estimated to take:\n";
  const Problem oriented = plan.transposed ? transposed(problem) : problem;
  for (const TileSm90& other : tiles_sm90(plan.variant.arithmetic)) {
    text += fmt::format("  {} x {}: {:.1f} us\n", other.m, other.n,
                        cost_sm90(other, oriented, context.properties.sm_count) * 1e-3);
  }
  text += fmt::format("order: bands of {} tile rows of {}\n", p.raster.band, p.raster.tiles_m);
  return text + fmt::format("launch: grid {}, block {}, shared memory {}\n",
                            grid_sm90(plan, context.max_sms), t.threads(),
                            smem_bytes(t, plan.variant.arithmetic));
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
