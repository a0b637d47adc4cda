#include "kernels/softmax/softmax_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/launch_plan.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a - 1) / b + 1; }

int ceil_log2(std::int64_t n) {
  int log2 = 0;
  while ((std::int64_t{1} << log2) < n) ++log2;
  return log2;
}

// a rounded towards 0.
float truncated(double a) {
  const float f = float(a);
  return double(f) > a ? std::nextafter(f, 0.0f) : f;
}

// Chunks of whole blocks, kMostChunks of them at most while a CTA's list of blocks has room.
void plan_chunks(DType y_type, Plan* plan) {
  Params& p = plan->params;
  const std::int64_t block = split_block(y_type), blocks = ceil_div(p.cols, block);
  const std::int64_t per_chunk = std::min(ceil_div(blocks, kMostChunks), kMostBlocks);
  p.chunk_cols = per_chunk * block;
  p.blocks = int(per_chunk);
  const std::int64_t chunks = ceil_div(p.cols, p.chunk_cols);
  p.chunks = make_divider(chunks);
  p.items = p.rows * chunks;
  plan->workspace_bytes = std::size_t(p.items + 1) * sizeof(Partial);
}

struct ClusterShape {
  int ctas, warps;  // warps of a CTA
};
// For so many warps: the shape with the most rows on an SM at once, which is what idle lanes and
// idle slots cost alike; of equals the smaller CTAs. The largest shape if none has the warps.
ClusterShape cluster_shape(std::int64_t warps) {
  ClusterShape best{kMostClusterCtas, kMostClusterWarps};
  double most = 0;
  for (int ctas = 2; ctas <= kMostClusterCtas; ++ctas) {
    const std::int64_t each = ceil_div(warps, ctas);
    if (each < kLeastClusterWarps || each > kMostClusterWarps) continue;
    const double rows = double(kClusterWarpsAnSm / each) / ctas;
    if (rows < most) continue;
    most = rows;
    best = {ctas, int(each)};
  }
  return best;
}

bool aligned(const Problem& p, const void* data, std::int64_t row_stride, DType type, int bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % std::uintptr_t(bytes) == 0 &&
         (p.rows == 1 || row_stride * std::int64_t(size_of(type)) % bytes == 0);
}
bool x_aligned(const Problem& p) {
  return aligned(p, p.x, p.x_row_stride, p.x_type, vector_bytes(p.x_type, p.y_type));
}
bool y_aligned(const Problem& p) { return aligned(p, p.y, p.y_row_stride, p.y_type, kVectorBytes); }

// Does x begin each of y's vectors with one of its own?
bool same_phase(const Problem& p) {
  const auto elements = [](const void* data, DType type) {
    return reinterpret_cast<std::uintptr_t>(data) / size_of(type);
  };
  const std::uintptr_t apart = elements(p.x, p.x_type) - elements(p.y, p.y_type);
  return apart % unsigned(items_of(p.y_type)) == 0 &&
         (p.rows == 1 || (p.x_row_stride - p.y_row_stride) % items_of(p.y_type) == 0);
}

// What misalignment costs.
const char* alignment_text(const Problem& p, int windows) {
  const bool x = x_aligned(p), y = y_aligned(p);
  if (x && y) return "rows of x and y are aligned";
  if (windows > 1) {
    return same_phase(p) ? "rows of x and y are misaligned alike: only their ends go by element"
                         : "rows of x and y are not aligned alike: x by words";
  }
  return x   ? "rows of y are misaligned: shuffled"
         : y ? "rows of x are misaligned: loaded once, shuffled"
             : "rows of x and y are misaligned: shuffled for loads and stores";
}

std::string path_text(const Problem& problem, const Plan& plan) {
  const Params& p = plan.params;
  const int items = items_of(problem.y_type);
  switch (plan.path) {
    case Path::warp:
      return fmt::format("{} lane(s) a row, {} vector(s) of {} columns each; {}", 1 << p.lanes_log2,
                         plan.windows, items, alignment_text(problem, plan.windows));
    case Path::block:
    case Path::parked:
      return fmt::format("a CTA a row, {} vectors of {} columns a thread in registers{}; {}",
                         plan.windows, items,
                         p.parked ? fmt::format(" and {} in shared memory", p.parked) : "",
                         alignment_text(problem, plan.windows));
    case Path::cluster:
      return fmt::format(
          "a cluster of {} CTAs a row, {} vectors of {} columns a thread in registers; {}",
          plan.cluster, plan.windows, items, alignment_text(problem, plan.windows));
    case Path::split:
      return fmt::format("each row in {} chunks of {} columns, read twice; {}", p.chunks.divisor,
                         p.chunk_cols, alignment_text(problem, plan.windows));
    case Path::strided:  // softmax_strided_plan.cc
      break;
  }
  return "";
}

}  // namespace

// shrink keeps everything in range for every finite scale and x:
//   |scale| >= 1   1. Where x - m overflows, scale (x - m) is below -2^128.
//   2^-60 .. 1     1/2: d does not overflow.
//   below 2^-60    2^-64, so that lo is still a normal number. What d loses of a tiny x is far
//                  below an ulp of the result.
// With scale 0 v is 0, or NaN where x is infinite: s = 0 * x. lo has the sign of hi and is not 0,
// so that an infinite d gives an infinite t. Where hi would overflow the two share the factor.
Exponent make_exponent(float scale) {
  constexpr double kLog2E = 1.4426950408889634;
  const double a = std::fabs(double(scale));
  if (a == 0) {
    return {.turn = 0,
            .shrink = 1,
            .hi = float(kLog2E),
            .lo = 0x1p-26f,
            .linear = 1,
            .rate = float(kLog2E),
            .direct = float(kLog2E)};
  }
  const double shrink = a >= 1 ? 1.0 : a >= 0x1p-60 ? 0.5 : 0x1p-64;
  const double factor = a / shrink * kLog2E;
  const bool huge = factor > double(std::numeric_limits<float>::max());
  const float hi = truncated(huge ? factor / 2 : factor);
  const float lo = std::max(float(factor - double(hi)), std::numeric_limits<float>::denorm_min());
  return {.turn = scale < 0 ? -1.0f : 1.0f,
          .shrink = float(shrink),
          .hi = hi,
          .lo = lo,
          .linear = float(a / shrink),
          .rate = float(factor),
          .direct = a < 0x1p-60 || huge ? 0.0f : float(factor * shrink)};
}

Path path_of(const Problem& p) {
  if (p.cols > 1 && (p.x_col_stride != 1 || p.y_col_stride != 1)) return Path::strided;
  if (p.cols <= 32 * kMostKept) return Path::warp;
  if (p.cols <= 32 * kMostBlockWarps * most_values(p.y_type)) return Path::block;
  return p.cols <= block_capacity(p.x_type, p.y_type) ? Path::parked : Path::split;
}

Plan make_plan(const Problem& problem) {
  const Problem& q = problem;
  const std::int64_t x_last = (q.rows - 1) * q.x_row_stride + (q.cols - 1) * q.x_col_stride;
  const int items = items_of(q.y_type);
  Plan plan{.path = path_of(q),
            .windows = 0,
            .threads = 0,
            .aligned = false,
            .cluster = 1,
            .params = {},
            .workspace_bytes = 0};
  Params& p = plan.params;
  p = {.x = q.x,
       .x_end = static_cast<const char*>(q.x) + (x_last + 1) * std::int64_t(size_of(q.x_type)),
       .y = q.y,
       .rows = q.rows,
       .cols = q.cols,
       .x_row_stride = q.x_row_stride,
       .x_col_stride = q.x_col_stride,
       .y_row_stride = q.y_row_stride,
       .y_col_stride = q.y_col_stride,
       .exponent = make_exponent(q.scale),
       .log = q.log,
       .zero_neg_inf_row = q.zero_neg_inf_row,
       .in_place = q.x == q.y,
       .x_access = Access::vectors,
       .y_access = Access::vectors,
       .stage = Stage::whole,
       .lanes_log2 = 5,
       .parked = 0,
       .items = q.rows,
       .chunk_cols = q.cols,
       .blocks = 1,
       .chunks = {},
       .lag = 0,
       .partials = nullptr};
  switch (plan.path) {
    case Path::warp: {
      const int values = q.cols <= 32 * items        ? items
                         : q.cols <= 32 * kFewValues ? kFewValues
                                                     : kMostKept;
      p.lanes_log2 = std::min(ceil_log2(ceil_div(q.cols, items)), 5);
      plan.windows = values / items;
      plan.threads = kWarpCtaThreads;
      plan.aligned = plan.windows == 1 && q.cols % items == 0 && x_aligned(q) && y_aligned(q);
      p.items = ceil_div(q.rows, std::int64_t(kWarpCtaThreads >> p.lanes_log2) *
                                     rows_at_once(plan.windows, plan.aligned));
      break;
    }
    case Path::block:
    case Path::parked: {
      const int values = q.cols <= kKeptCols ? kMostKept : most_values(q.y_type);
      const int warps = int(std::min<std::int64_t>(ceil_div(q.cols, 32 * values), kMostBlockWarps));
      const std::int64_t held = std::int64_t(warps) * 32 * values;
      p.parked = q.cols > held ? int(ceil_div(q.cols - held, warps * 32 * items)) : 0;
      plan.windows = values / items;
      plan.threads = 32 * warps;
      break;
    }
    case Path::cluster:
      break;  // make_cluster_plan's
    case Path::split:
      plan.windows = most_values(q.y_type) / items;
      plan.threads = kSplitThreads;
      plan_chunks(q.y_type, &plan);
      break;
    case Path::strided:  // softmax_strided_plan.cc
      break;
  }
  return plan;
}

Plan make_cluster_plan(const Problem& problem) {
  Plan plan = make_plan(problem);
  Params& p = plan.params;
  const int items = items_of(problem.y_type), values = most_values(problem.y_type);
  if (plan.path == Path::strided || p.cols <= kLeastClusterValues * values) return plan;
  const ClusterShape shape = cluster_shape(ceil_div(p.cols, 32 * values));
  const std::int64_t threads = std::int64_t(shape.ctas) * shape.warps * 32;
  if (p.cols > threads * values) return plan;
  p.parked = 0;
  plan.path = Path::cluster;
  plan.cluster = shape.ctas;
  plan.windows = values / items;
  plan.threads = 32 * shape.warps;
  plan.workspace_bytes = 0;
  p.items = p.rows;
  return plan;
}

std::int64_t lag_of(const Problem& problem, const Plan& plan, const DeviceProperties& properties) {
  if (plan.path != Path::split) return 0;
  const Params& p = plan.params;
  const std::int64_t bytes = p.chunk_cols * std::int64_t(size_of(problem.x_type));
  const std::int64_t row = p.chunks.divisor, kept = std::int64_t(properties.l2_bytes) / kLagOfL2;
  return std::min(std::max(row, std::min(row + properties.sm_count, kept / bytes)), p.items);
}

// Of whole clusters, which max_sms must not cut.
unsigned grid_of(const Plan& plan, const LaunchContext& context) {
  const std::int64_t ctas = (plan.params.items + plan.params.lag) * plan.cluster;
  const unsigned grid = capped_grid(ctas, context, plan.threads);
  return std::max(grid - grid % unsigned(plan.cluster), unsigned(plan.cluster));
}

unsigned clearing_grid(const Plan& plan, const LaunchContext& context) {
  return capped_grid(ceil_div(plan.params.items + 1, plan.threads), context, plan.threads);
}

std::string describe_plan(const Problem& problem, const Plan& plan, std::size_t smem,
                          const LaunchContext& context) {
  return fmt::format("path: {}\nlaunch: {}grid {}, block {}, shared memory {}\n",
                     path_text(problem, plan), plan.two_launches() ? "twice, " : "",
                     grid_of(plan, context), plan.threads, smem);
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
