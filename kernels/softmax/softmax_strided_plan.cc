#include "kernels/softmax/softmax_strided_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/launch_plan.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a - 1) / b + 1; }

Access access_of(const void* data, DType type, std::int64_t row_stride, std::int64_t col_stride) {
  if (row_stride != 1) return Access::elements;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % kVectorBytes == 0 &&
                       col_stride * std::int64_t(size_of(type)) % kVectorBytes == 0;
  return aligned ? Access::vectors : Access::shifted;
}

// Vectors of a CTA such that three fit an SM of 227 KiB.
constexpr std::int64_t kCtaVectors = 64 * 1024 / kVectorBytes;

// Of a thread, while its CTA has fewer threads than it may.
constexpr std::int64_t kThreadVectors = 16;
// Up to so many columns a tile is 256 bytes of each.
constexpr std::int64_t kWideCols = 256;

const char* access_text(Access a) {
  return a == Access::vectors   ? "aligned vectors"
         : a == Access::shifted ? "misaligned vectors"
                                : "elements, slower than adjacent rows";
}

}  // namespace

Plan make_strided_plan(const Problem& q, int most_cluster) {
  Plan plan = make_plan(q);
  Params& p = plan.params;
  // The fewest CTAs, and the most lanes, with which a tile fits.
  int cluster = 1, lanes_log2 = q.cols <= kWideCols ? 4 : 3;
  const auto fits = [&] { return ceil_div(q.cols, cluster) << lanes_log2 <= kCtaVectors; };
  while (!fits() && cluster < most_cluster) cluster *= 2;
  while (!fits() && lanes_log2 > 2) --lanes_log2;
  std::int64_t cta_cols = ceil_div(q.cols, cluster);
  if (!fits()) {
    lanes_log2 = 4;
    cluster = 1;
    cta_cols = kCtaVectors >> lanes_log2;
  }
  int threads = 32;
  while (threads < kTileMostThreads && (cta_cols << lanes_log2) > kThreadVectors * threads) {
    threads *= 2;
  }
  const std::int64_t slots = threads >> lanes_log2;
  p.parked = int(ceil_div(cta_cols, slots));
  p.lanes_log2 = lanes_log2;
  p.chunk_cols = p.parked * slots * cluster;
  plan.threads = threads;
  plan.cluster = cluster;
  p.chunks = make_divider(ceil_div(q.cols, p.chunk_cols));
  p.stage = p.chunks.divisor > 1 ? Stage::partials : Stage::whole;
  const std::int64_t tile_rows = std::int64_t(tile_items(q.x_type)) << lanes_log2;
  p.items = ceil_div(q.rows, tile_rows) * p.chunks.divisor;
  plan.workspace_bytes =
      p.chunks.divisor > 1 ? std::size_t(q.rows * p.chunks.divisor) * sizeof(Partial) : 0;
  p.x_access = access_of(q.x, q.x_type, q.x_row_stride, q.x_col_stride);
  p.y_access = access_of(q.y, q.y_type, q.y_row_stride, q.y_col_stride);
  return plan;
}

std::size_t strided_smem_bytes(const Plan& plan, DType x_type) {
  const std::size_t lanes = std::size_t{1} << plan.params.lanes_log2;
  const std::size_t warps = std::size_t(plan.threads) / 32;
  const std::size_t rows = lanes * std::size_t(tile_items(x_type));
  const std::size_t of_rows = warps + 3 + 2 * std::size_t(plan.cluster);  // 4 bytes each
  return std::size_t(kVectorBytes) *
             (warps * lanes + std::size_t(plan.params.parked) * std::size_t(plan.threads)) +
         4 * rows * of_rows;
}

std::int64_t combining_ctas(const Plan& plan) {
  const Params& p = plan.params;
  return p.chunks.divisor > kWarpChunks ? p.rows : ceil_div(p.rows, plan.threads / 32);
}

std::string describe_strided_plan(const Problem& q, const Plan& plan, unsigned grid) {
  const Params& p = plan.params;
  const std::string chunks = plan.two_launches()
                                 ? fmt::format("; each row in {} chunks of {} columns, read twice",
                                               p.chunks.divisor, p.chunk_cols)
                                 : "";
  return fmt::format(
      "path: strided, tiles of {} rows in the shared memory of {} CTA(s), {} vector(s) of {} rows "
      "a thread{}; x by {}, y by {}\nlaunch: {}grid {}, block {}, cluster {}, shared memory {}\n",
      tile_items(q.x_type) << p.lanes_log2, plan.cluster, p.parked, tile_items(q.x_type), chunks,
      access_text(p.x_access), access_text(p.y_access), plan.two_launches() ? "three times, " : "",
      grid, plan.threads, plan.cluster, strided_smem_bytes(plan, q.x_type));
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
