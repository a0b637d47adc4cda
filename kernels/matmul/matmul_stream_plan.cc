#include "kernels/matmul/matmul_stream_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_sides.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

int tile_of(std::int64_t cols) {
  int i = 0;
  while (kStreamTiles[i].cols < cols) ++i;
  return i;
}

}  // namespace

const char* refuse_stream(const Problem& p, const DeviceProperties& device) {
  if (p.k == 0) return "no product";
  if (p.a.type == DType::f32) return "takes no f32";
  if (std::min(p.m, p.n) > kStreamCols) return "takes at most 16 rows or columns";
  // Against wgmma (us of bf16, this kernel first; H200, 2026-12-01): 1 x 4096 x 4096: 11.8 and
  // 12.9; 1 and 4 x 4096 x 14336: 29.9 and 31.9, 30.4 and 32.1; but 1 x 14336 x 4096: 31.8 and
  // 30.3, and 16 x 4096 x 4096: 19 and 13, since every warp loads its fragments of X anew.
  // Of e4m3, which is converted here, 1 x 14336 x 4096: 33.6 and 18.2.
  constexpr std::int64_t kFewCols = 4, kFewRows = 40;  // the latter of an SM
  if (device.cc_major == 9 &&
      (is_f8(p.a.type) || std::min(p.m, p.n) > kFewCols ||
       std::max(p.m, p.n) > std::int64_t{device.sm_count} * kFewRows / p.batch)) {
    return "wgmma is faster, but for at most four rows or columns of few";
  }
  const Sides sides = sides_of(p);
  if (!has_aligned_runs(sides.w, ptx::Major::k) || !has_aligned_runs(sides.x, ptx::Major::k)) {
    return "takes rows of a and columns of b that begin on 16 bytes, k adjacent";
  }
  return nullptr;
}

StreamPlan make_stream_plan(const Problem& p) {
  const Sides sides = sides_of(p);
  const auto bytes = [](const Side& s, std::int64_t elements) {
    return elements * std::int64_t(size_of(s.type));
  };
  StreamPlan plan{};
  plan.w_is_a = sides.w_is_a;
  plan.tile = tile_of(sides.x.mn);
  StreamParams& params = plan.params;
  params.w = sides.w.data;
  params.x = sides.x.data;
  params.w_stride = sides.w.mn > 1 ? bytes(sides.w, sides.w.mn_stride) : 0;
  params.x_stride = sides.x.mn > 1 ? bytes(sides.x, sides.x.mn_stride) : 0;
  params.w_batch_stride = bytes(sides.w, sides.w.batch_stride);
  params.x_batch_stride = bytes(sides.x, sides.x.batch_stride);
  params.rows = sides.w.mn;
  params.k_bytes = bytes(sides.w, p.k);
  params.row_tiles = blocks_in(sides.w.mn, kStreamTiles[plan.tile].rows);
  params.tiles = params.row_tiles * p.batch;
  params.cols = std::int32_t(sides.x.mn);
  params.w_e5m2 = sides.w.type == DType::f8_e5m2;
  params.x_e5m2 = sides.x.type == DType::f8_e5m2;
  params.cols_by_rows = takes_cols_by_rows(p, sides);
  params.epilogue = make_epilogue(p, params.cols_by_rows == sides.w_is_a);
  return plan;
}

std::string describe_stream_plan(const StreamPlan& plan, const LaunchContext& context) {
  const StreamTile& t = kStreamTiles[plan.tile];
  return fmt::format(
      "path: mma.sync with {} streamed past {} column(s), {} tile(s) of {} rows\n"
      "k: {} warp(s) in turns, {} x {} bytes of a row in flight for each\n"
      "launch: grid {}, block {}\n",
      plan.w_is_a ? "a" : "b^T", plan.params.cols, plan.params.tiles, t.rows, t.warps, t.depth,
      t.chunk, capped_grid(plan.params.tiles, context, t.threads()), t.threads());
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
