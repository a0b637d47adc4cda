#include "kernels/matmul/matmul_skinny_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

constexpr std::int64_t kAlignment = 16;  // bytes: of tensor copies
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;

std::int64_t blocks_in(std::int64_t extent, std::int64_t block) { return (extent - 1) / block + 1; }

// W or X: mn counts its rows or columns.
struct Side {
  const void* data;
  std::int64_t mn, k;
  std::int64_t mn_stride, k_stride, batch_stride;
  DType type;
};

struct Sides {
  Side w, x;
};

Sides sides_of(const Problem& p) {
  const std::int64_t count = p.batch;
  const auto batch_stride = [&](const Matrix& m) { return count > 1 ? m.batch_stride : 0; };
  const Side a{p.a.data, p.m, p.k, p.a.row_stride, p.a.col_stride, batch_stride(p.a), p.a.type};
  const Side b{p.b.data, p.n, p.k, p.b.col_stride, p.b.row_stride, batch_stride(p.b), p.b.type};
  return p.m <= p.n ? Sides{.w = b, .x = a} : Sides{.w = a, .x = b};
}

bool takes_copies(const Side& s, ptx::Major major) {
  const bool k_is_unit = major == ptx::Major::k;
  const std::int64_t unit = k_is_unit ? s.k_stride : s.mn_stride;
  const std::int64_t other = k_is_unit ? s.mn_stride : s.k_stride;
  const std::int64_t unit_extent = k_is_unit ? s.k : s.mn, others = k_is_unit ? s.mn : s.k;
  const auto is_stride = [&](std::int64_t elements) {
    return elements < kMaxStride / std::int64_t(size_of(s.type)) &&
           elements * std::int64_t(size_of(s.type)) % kAlignment == 0;
  };
  return (unit == 1 || unit_extent == 1) && (others == 1 || (other > 0 && is_stride(other))) &&
         is_stride(s.batch_stride) &&
         reinterpret_cast<std::uintptr_t>(s.data) % std::uintptr_t(kAlignment) == 0;
}

ptx::Major major_of(const Side& s) {
  return takes_copies(s, ptx::Major::k) ? ptx::Major::k : ptx::Major::mn;
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
  const std::int64_t other = others == 1 ? kAlignment / es : k_is_unit ? s.mn_stride : s.k_stride;
  const auto k_box = std::uint32_t(kSkinnyRowBytes / es);
  ptx::TiledTensor t{.base = s.data, .type = tensor_type(s.type), .rank = 3};
  t.extents[0] = std::uint64_t(unit);
  t.extents[1] = std::uint64_t(others);
  t.extents[2] = s.batch_stride == 0 ? 1 : std::uint64_t(batch);
  t.strides[0] = std::uint64_t(other * es);
  t.strides[1] =
      s.batch_stride == 0 ? std::uint64_t(kAlignment) : std::uint64_t(s.batch_stride * es);
  t.box[0] = k_is_unit ? k_box : std::uint32_t(mn_box);
  t.box[1] = k_is_unit ? std::uint32_t(mn_box) : k_box;
  t.box[2] = 1;
  t.swizzle = k_is_unit ? ptx::Swizzle::b128 : skinny_x_swizzle(mn_box * int(es));
  t.promotion = ptx::L2Promotion::b256;
  return t;
}

}  // namespace

const char* refuse_skinny(const Problem& p, const DeviceProperties&) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 2;
  if (p.k == 0) return "no product";
  if (p.a.type != DType::bf16 && p.a.type != DType::f16) return "takes bf16 and f16";
  if (std::min(p.m, p.n) > kSkinnyMaxCols) return "takes at most 64 rows or columns";
  if (std::max({p.m, p.n, p.k, p.batch}) > kMost) return "counts with 32 bits";
  const Sides sides = sides_of(p);
  for (const Side* s : {&sides.w, &sides.x}) {
    if (!takes_copies(*s, major_of(*s))) {
      return "a tensor copy takes a unit stride, and address and other strides that are multiples "
             "of 16 bytes";
    }
  }
  return nullptr;
}

SkinnyPlan make_skinny_plan_of(const Problem& p, const SkinnyTile& tile, int ctas,
                               std::int64_t clusters) {
  const Sides sides = sides_of(p);
  SkinnyPlan plan{};
  plan.tile = tile;
  plan.w_is_a = p.m > p.n;
  plan.w_major = major_of(sides.w);
  plan.x_major = major_of(sides.x);
  plan.rows = sides.w.mn;
  plan.cols = sides.x.mn;
  plan.ctas = ctas;
  plan.w = tensor_of(sides.w, plan.w_major, p.batch,
                     plan.w_major == ptx::Major::k ? tile.rows : kSkinnyMmaRows);
  plan.x = tensor_of(sides.x, plan.x_major, p.batch, tile.cols);

  SkinnyParams& params = plan.params;
  params.row_tiles = std::int32_t(blocks_in(plan.rows, tile.rows));
  params.tiles = params.row_tiles * p.batch;
  params.k_blocks =
      std::int32_t(blocks_in(p.k, kSkinnyRowBytes / std::int64_t(size_of(sides.w.type))));
  params.cols = std::int32_t(plan.cols);
  params.w_batched = sides.w.batch_stride != 0;
  params.x_batched = sides.x.batch_stride != 0;
  params.interleaved = true;
  const std::int64_t along_rows = plan.w_is_a ? p.c.row_stride : p.c.col_stride;
  const std::int64_t along_cols = plan.w_is_a ? p.c.col_stride : p.c.row_stride;
  params.cols_by_rows = !(along_cols == 1 && plan.cols > 1) || along_rows == 1;
  // Whose rows are D's columns, or D's rows.
  params.epilogue = make_epilogue(p, params.cols_by_rows == plan.w_is_a);
  plan.clusters = std::min(clusters, params.tiles);
  return plan;
}

SkinnyPlan make_skinny_plan(const Problem& p, const DeviceProperties& device, int max_sms) {
  const Sides sides = sides_of(p);
  int index = 0;
  while (kSkinnyTiles[index].cols < sides.x.mn) ++index;
  const SkinnyTile& tile = kSkinnyTiles[index];
  const std::int64_t k_blocks =
      blocks_in(p.k, kSkinnyRowBytes / std::int64_t(size_of(sides.w.type)));
  const std::int64_t tiles = blocks_in(sides.w.mn, tile.rows) * p.batch;
  const std::int64_t slots = std::int64_t(device.sm_count) * tile.ctas_per_sm;
  int ctas = 1;
  while (ctas < kSkinnyMaxCtas && tiles * ctas * 2 <= slots && ctas * 8 <= k_blocks) ctas *= 2;
  const std::int64_t most = std::int64_t(max_sms) * tile.ctas_per_sm / ctas;
  SkinnyPlan plan = make_skinny_plan_of(
      p, tile, ctas, max_sms < device.sm_count ? std::max<std::int64_t>(1, most) : tiles);
  plan.tile_index = index;
  return plan;
}

std::string describe_skinny_plan(const Problem&, const SkinnyPlan& plan) {
  const SkinnyParams& p = plan.params;
  return fmt::format(
      "path: wgmma with {} as its 64 rows, {} tile(s) of {} x {}, {} stages of 128 bytes of k\n"
      "k: {} stages, shared by the {} CTA(s) of a cluster\n"
      "w: {} adjacent; x: {} adjacent\n"
      "launch: grid {}, block {}, cluster {}\n",
      plan.w_is_a ? "a" : "b^T", p.tiles, plan.tile.rows, plan.tile.cols, plan.tile.stages,
      p.k_blocks, plan.ctas, plan.w_major == ptx::Major::k ? "k" : "rows",
      plan.x_major == ptx::Major::k ? "k" : "columns", plan.clusters * plan.ctas, kSkinnyThreads,
      plan.ctas);
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
