#include "kernels/matmul/matmul_skinny_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "kernels/matmul/matmul_sides.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

ptx::Major major_of(const Side& s) {
  return has_aligned_runs(s, ptx::Major::k) ? ptx::Major::k : ptx::Major::mn;
}

ptx::TensorType tensor_type(DType t) {
  return t == DType::bf16  ? ptx::TensorType::bf16
         : t == DType::f16 ? ptx::TensorType::f16
                           : ptx::TensorType::u8;
}

ptx::TiledTensor tensor_of(const Side& s, ptx::Major major, std::int64_t batch, int mn_box) {
  const std::int64_t es = std::int64_t(size_of(s.type));
  const bool k_is_unit = major == ptx::Major::k;
  const std::int64_t unit = k_is_unit ? s.k : s.mn, others = k_is_unit ? s.mn : s.k;
  const std::int64_t other = others == 1 ? kSideAlignment / es
                             : k_is_unit ? s.mn_stride
                                         : s.k_stride;
  const auto k_box = std::uint32_t(kSkinnyRowBytes / es);
  ptx::TiledTensor t{.base = s.data, .type = tensor_type(s.type), .rank = 3};
  t.extents[0] = std::uint64_t(unit);
  t.extents[1] = std::uint64_t(others);
  t.extents[2] = s.batch_stride == 0 ? 1 : std::uint64_t(batch);
  t.strides[0] = std::uint64_t(other * es);
  t.strides[1] =
      s.batch_stride == 0 ? std::uint64_t(kSideAlignment) : std::uint64_t(s.batch_stride * es);
  t.box[0] = k_is_unit ? k_box : std::uint32_t(mn_box);
  t.box[1] = k_is_unit ? std::uint32_t(mn_box) : k_box;
  t.box[2] = 1;
  t.swizzle = k_is_unit ? ptx::Swizzle::b128 : skinny_x_swizzle(mn_box * int(es));
  return t;
}

// The kernel leaves its sums in scratch, [batch][splits][cols][rows].
void add_splits(const Problem& p, SkinnyPlan* plan) {
  constexpr std::int64_t kVector = kEpilogueVector;
  SkinnyParams& params = plan->params;
  const std::int64_t pitch = blocks_in(plan->rows, kVector) * kVector;
  plan->combine = {.sums = nullptr,
                   .rows = plan->rows,
                   .cols = plan->cols,
                   .batch = p.batch,
                   .pitch = pitch,
                   .splits = params.splits,
                   .cols_by_rows = params.cols_by_rows,
                   .epilogue = params.epilogue};
  params.cols_by_rows = true;
  Epilogue& e = params.epilogue;
  e = {};
  e.rows = plan->cols;
  e.cols = plan->rows;
  e.row_stride = pitch;
  e.col_stride = 1;
  e.batch_stride = pitch * plan->cols;
  e.alpha = 1;
  e.type = DType::f32;
  e.product = true;
  e.wide = true;
  plan->scratch_bytes =
      sizeof(float) * std::size_t(pitch * plan->cols) * std::size_t(params.splits * p.batch);
}

std::int64_t k_blocks_of(const Problem& p) {
  return blocks_in(p.k, kSkinnyRowBytes / std::int64_t(size_of(p.a.type)));
}

bool is_narrow(const Problem& p) { return std::min(p.m, p.n) <= kSkinnyMaxCols; }

// Clusters of the problem's tiles of so many rows, K uncut.
std::int64_t tiles_of(const Problem& p, int cols, std::int64_t rows) {
  return blocks_in(std::max(p.m, p.n), rows) * blocks_in(std::min(p.m, p.n), cols) * p.batch;
}

constexpr std::int64_t kFewestBlocks = 8;  // of K, in a part

// Few columns. Each SM gets one tile, or equally many, since it is the SMs that share the memory's
// rate: with tiles of 64 rows, two on most SMs and one on the others, some CTAs were done after 21
// us and some after 32 (14336 x 4096 of bf16, H200, 2026-12-01). K is cut where rows are few.
SkinnyCut cut_narrow(const Problem& p, const DeviceProperties& device, bool rows_adjacent) {
  constexpr std::int64_t kMostRows = 128, kStep = 8;
  // A stage takes 0.16 us however few its rows: 4096 x 14336 takes 37 us in tiles of 32 rows, and
  // 31 in tiles of 64 and two parts; 4096 x 4096, with fewer stages, 12.9 and 13.7 (H200,
  // 2026-12-01).
  constexpr std::int64_t kManyBlocks = 128, kEnough = 56;
  // Whole boxes of 64 are copied where the rows are adjacent.
  const std::int64_t fewest = rows_adjacent ? 56 : 32;
  const std::int64_t all = std::max(p.m, p.n), k_blocks = k_blocks_of(p);
  SkinnyCut cut{int(kMostRows), 1, 1};
  for (int parts = 1; parts <= kSkinnyMaxCluster; parts *= 2) {
    if (parts > 1 && k_blocks < parts * kFewestBlocks) break;
    const std::int64_t clusters = std::max<std::int64_t>(1, device.sm_count / parts);
    const std::int64_t waves = blocks_in(all * p.batch, clusters * kMostRows);
    const std::int64_t tiles = std::max<std::int64_t>(1, clusters * waves / p.batch);
    const std::int64_t rows = blocks_in(blocks_in(all, tiles), kStep) * kStep;
    cut = {int(std::min(rows, kMostRows)), parts, 1};
    if (rows >= (k_blocks >= kManyBlocks ? kEnough : fewest)) break;
  }
  return cut;
}

// Parts of a deep K that fill the device, none too short.
std::int64_t parts_of(const Problem& p, const SkinnyTile& t, const DeviceProperties& device) {
  const std::int64_t slots = device.sm_count / t.sharers;
  const std::int64_t tiles = tiles_of(p, t.cols, t.rows * t.sharers);
  return std::max<std::int64_t>(1, std::min(slots / tiles, k_blocks_of(p) / kFewestBlocks));
}

SkinnyCut cut_deep(const Problem& p, const SkinnyTile& t, const DeviceProperties& device) {
  const std::int64_t parts = parts_of(p, t, device);
  const int most = kSkinnyMaxCluster / t.sharers;
  if (parts <= most) {
    int of_cluster = 1;
    while (of_cluster * 2 <= parts) of_cluster *= 2;
    return {t.rows, of_cluster, 1};
  }
  // Clusters of eight do not fill every SM: 120 of 132 (H200, 2026-11-29).
  constexpr std::int64_t kAll = 11, kUsed = 10;
  const std::int64_t slots = device.sm_count / t.sharers;
  const std::int64_t used =
      std::min(parts, slots * kUsed / kAll / tiles_of(p, t.cols, t.rows * t.sharers));
  return {t.rows, most, int(std::max<std::int64_t>(1, used / most))};
}

int narrow_tile(std::int64_t cols, std::int64_t rows) {
  int i = 0;
  while (kSkinnyTiles[i].cols < cols || kSkinnyTiles[i].rows < rows) ++i;
  return i;
}

}  // namespace

const char* refuse_skinny(const Problem& p, const DeviceProperties& device) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 2;
  constexpr std::int64_t kDeep = 8;      // times as deep as wide
  constexpr std::int64_t kFewParts = 3;  // of K
  if (p.k == 0) return "no product";
  if (p.a.type == DType::f32) return "takes no f32";
  constexpr std::int64_t kMostSplits = 128, kFewestRows = 8;
  if (std::max({p.m, p.n, p.k, p.batch}) > kMost ||
      tiles_of(p, kSkinnyMaxCols, kFewestRows) > kMost / kMostSplits) {
    return "counts with 32 bits";
  }
  if (!is_narrow(p) && (p.k < kDeep * std::max(p.m, p.n) ||
                        parts_of(p, kSkinnyTiles[kSkinnyDeepTile], device) < kFewParts)) {
    return "takes at most 64 rows or columns, or few of them and a deep k";
  }
  const Sides sides = sides_of(p);
  const bool f8 = is_f8(p.a.type);
  if (f8 && sides.x.mn > kSkinnyMaxColsF8) return "takes at most 32 rows or columns of f8";
  for (const Side* s : {&sides.w, &sides.x}) {
    if (f8 && major_of(*s) != ptx::Major::k) return "takes f8 with k adjacent, in multiples of 16";
    if (!has_aligned_runs(*s, major_of(*s))) {
      return "a tensor copy takes a unit stride, and address and other strides that are multiples "
             "of 16 bytes";
    }
  }
  return nullptr;
}

SkinnyPlan make_skinny_plan_of(const Problem& p, const SkinnyTile& tile, SkinnyCut cut,
                               std::int64_t most_clusters) {
  const Sides sides = sides_of(p);
  SkinnyPlan plan{};
  plan.tile = tile;
  plan.w_is_a = sides.w_is_a;
  plan.w_type = sides.w.type;
  plan.x_type = sides.x.type;
  plan.w_major = major_of(sides.w);
  plan.x_major = major_of(sides.x);
  plan.rows = sides.w.mn;
  plan.cols = sides.x.mn;
  plan.ctas = cut.parts * tile.sharers;
  plan.w = tensor_of(sides.w, plan.w_major, p.batch,
                     plan.w_major == ptx::Major::k ? cut.rows : kSkinnyMmaRows);
  plan.x = tensor_of(sides.x, plan.x_major, p.batch,
                     plan.x_major == ptx::Major::k ? tile.cols / tile.sharers
                                                   : std::min(tile.cols, kSkinnyBoxCols));

  SkinnyParams& params = plan.params;
  params.rows = cut.rows;
  params.row_tiles = std::int32_t(blocks_in(plan.rows, cut.rows * tile.sharers));
  params.col_tiles = std::int32_t(blocks_in(plan.cols, tile.cols));
  params.splits = cut.splits;
  params.tiles = std::int32_t(tiles_of(p, tile.cols, cut.rows * tile.sharers) * params.splits);
  while (1 << params.log2_parts < cut.parts) ++params.log2_parts;
  params.k_blocks = std::int32_t(k_blocks_of(p));
  params.cols = std::int32_t(plan.cols);
  params.w_batched = sides.w.batch_stride != 0;
  params.x_batched = sides.x.batch_stride != 0;
  params.cols_by_rows = takes_cols_by_rows(p, sides);
  // Whose rows are D's columns, or D's rows.
  params.epilogue = make_epilogue(p, params.cols_by_rows == plan.w_is_a);
  plan.clusters = std::min<std::int64_t>(most_clusters, params.tiles);
  if (cut.splits > 1) add_splits(p, &plan);
  return plan;
}

SkinnyPlan make_skinny_plan(const Problem& p, const DeviceProperties& device, int max_sms) {
  int index = kSkinnyDeepTile;
  SkinnyCut cut;
  if (is_narrow(p)) {
    cut = cut_narrow(p, device, major_of(sides_of(p).w) == ptx::Major::mn);
    index = narrow_tile(std::min(p.m, p.n), cut.rows);
  } else {
    cut = cut_deep(p, kSkinnyTiles[index], device);
  }
  const SkinnyTile& tile = kSkinnyTiles[index];
  const std::int64_t clusters =
      std::int64_t(max_sms) * tile.ctas_per_sm / (cut.parts * tile.sharers);
  SkinnyPlan plan = make_skinny_plan_of(p, tile, cut, std::max<std::int64_t>(1, clusters));
  plan.tile_index = index;
  return plan;
}

std::string describe_skinny_plan(const SkinnyPlan& plan) {
  const SkinnyParams& p = plan.params;
  const int parts = plan.ctas / plan.tile.sharers;
  std::string text = fmt::format(
      "path: wgmma with {} as its 64 rows, {} tile(s) of {} x {}, {} stages of 128 bytes of k\n",
      plan.w_is_a ? "a" : "b^T", p.tiles / p.splits * plan.tile.sharers, p.rows, plan.tile.cols,
      plan.tile.stages);
  text += fmt::format("k: {} stages in {} part(s), {} of them in a cluster\n", p.k_blocks,
                      parts * p.splits, parts);
  text +=
      fmt::format("w: {} adjacent; x: {} adjacent\n", plan.w_major == ptx::Major::k ? "k" : "rows",
                  plan.x_major == ptx::Major::k ? "k" : "columns");
  text += fmt::format("launch: grid {}, block {}, cluster {}\n", plan.clusters * plan.ctas,
                      plan.tile.threads(), plan.ctas);
  if (p.splits > 1) text += "then: a kernel that adds up the clusters' sums, in their order\n";
  return text;
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
