#include "kernels/row_sum/row_sum_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/common/launch_plan.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

constexpr int kWarp = 32;

// A row is cut into chunks such that there are at most so many, if 32 additions a chain allow it:
// then the sums of the chunks are one round of loads of one CTA.
constexpr std::int64_t kWantedChunks = 8192;

// Beyond so many columns the strided path cuts rows, into chunks of multiples of kStridedChunk.
// Shorter ones are more passes of fewer loads: 131072 columns of bf16, 1024, 2048 or 4096 a chunk,
// 0.83, 0.86 or 0.89 of the reading kernel (H200, 2026-12-01).
constexpr std::int64_t kStridedMost = 4096;
constexpr std::int64_t kStridedChunk = 4096;

// Beyond so many waves of CTAs it matters little how full the last one is.
constexpr std::int64_t kFewWaves = 8;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// The least power of two times `unit`, at most `most`, of which kWantedChunks make up n.
std::int64_t chunk_of(std::int64_t n, std::int64_t unit, std::int64_t most) {
  std::int64_t chunk = unit;
  while (chunk < most && ceil_div(n, chunk) > kWantedChunks) chunk *= 2;
  return chunk;
}

// What is read of x, gaps included, in elements.
std::int64_t extent(const Problem& p) {
  if (p.cols == 0) return 0;
  return (p.rows - 1) * p.x_row_stride + (p.cols - 1) * p.x_col_stride + 1;
}

bool rows_aligned(const Problem& p) {
  if (p.cols == 0) return true;
  const std::int64_t size = std::int64_t(size_of(p.x_type));
  return reinterpret_cast<std::uintptr_t>(p.x) % kVectorBytes == 0 &&
         (p.rows == 1 || p.x_row_stride * size % kVectorBytes == 0);
}

// A shape within a warp.
int lanes_of_row(const Shape& s, bool whole) { return whole ? s.lanes : s.ragged_lanes; }
int rows_of_warp(const Shape& s, bool whole) {
  return kWarp / lanes_of_row(s, whole) * (whole ? s.rows : s.ragged_rows);
}

// Fewer rows are to be spread over the SMs rather than to be many in flight.
constexpr std::int64_t kFewRows = 2048;

// Rows of a tile of unit_staged; 0 if the rows go another way.
int staged_rows(const Problem& p, const Shape& shape, std::int64_t vectors) {
  const std::int64_t size = std::int64_t(size_of(p.x_type));
  const std::int64_t pitch = p.x_row_stride * size;
  // Lanes meet in the same banks if rows are whole vectors apart.
  if (p.cols * size > (size == 2 ? shape.staged : shape.staged_f32) || p.rows < 2 ||
      pitch % kVectorBytes == 0)
    return 0;
  const std::int64_t gap = pitch - p.cols * size;
  if (gap < 0 || gap > kVectorBytes || (vectors > kWarp && p.rows < kFewRows)) return 0;
  const int tree = shape.lanes * shape.vectors;
  const int unit = kWarp / staged_lanes(tree);
  // The first row may begin within a vector.
  return int((staged_tile_bytes(tree) - kVectorBytes) / pitch) / unit * unit;
}

// Fills in how the columns are shared, which depends on their number and type alone, and the work
// that follows.
void plan_unit(const Problem& p, const Shape* shapes, int shape_count, Pass* pass) {
  const std::int64_t items_per_vector = kVectorBytes / std::int64_t(size_of(p.x_type));
  const std::int64_t vectors = ceil_div(p.cols, items_per_vector);
  int i = 0;
  while (i + 1 < shape_count && vectors > shapes[i].most) ++i;
  const Shape& shape = shapes[i];
  // The last shape loops, and if that is not enough cuts the row.
  const std::int64_t most = std::int64_t(shape.lanes) * kLongestChain;
  std::int64_t chunk = std::max<std::int64_t>(vectors, 1);
  if (vectors > most) {  // into as few chunks as possible, of about the same size
    chunk = round_up(ceil_div(vectors, ceil_div(vectors, most)), shape.lanes);
  }
  pass->path = Path::unit;
  pass->shape = i;
  pass->threads = shape.threads;
  pass->chunks = std::max<std::int64_t>(ceil_div(vectors, chunk), 1);
  pass->params.chunk_cols = chunk * items_per_vector;
  pass->params.tile_rows = staged_rows(p, shape, vectors);
  if (pass->params.whole && vectors > kWarp && shape.lanes <= kWarp &&
      (p.rows < kFewRows || shape.rows == 1)) {
    int row = 0;
    while (kWarp * row_vectors(row) < shape.lanes * shape.vectors) ++row;
    pass->path = Path::unit_row;
    pass->shape = row;
    pass->threads = row_threads(row);
    pass->params.items = pass->ctas = ceil_div(p.rows, pass->threads / kWarp);
  } else if (pass->params.tile_rows > 0) {
    pass->path = Path::unit_staged;
    pass->threads = kStagedThreads;
    const int rows_per_cta = pass->params.tile_rows * (kStagedThreads / kWarp);
    pass->params.items = pass->ctas = ceil_div(p.rows, rows_per_cta);
  } else if (shape.lanes <= kWarp) {
    const std::int64_t rows_per_cta =
        rows_of_warp(shape, pass->params.whole) * (shape.threads / kWarp);
    pass->params.items = pass->ctas = ceil_div(p.rows, rows_per_cta);
  } else {
    const std::int64_t warps = shape.lanes / kWarp;
    pass->params.piece_cols = round_up(ceil_div(chunk, warps), kWarp) * items_per_vector;
    pass->params.items = pass->ctas = p.rows * pass->chunks;
  }
}

// Rows of a warp, a multiple of `unit` and at most `most`, that as many waves take as `most` does,
// but so that the last one is full, too: 65535 columns of bf16 by 120 rows a warp are 2.07 waves.
std::int64_t balanced_rows(std::int64_t rows, int row_warps, std::int64_t most, std::int64_t unit,
                           std::int64_t chunks, int resident) {
  const std::int64_t waves = ceil_div(ceil_div(rows, row_warps * most) * chunks, resident);
  if (waves == 1 || waves > kFewWaves) return most;
  const std::int64_t blocks = std::max<std::int64_t>(waves * resident / chunks, 1);
  return std::min(most, round_up(ceil_div(rows, blocks * row_warps), unit));
}

void plan_strided(const Problem& p, int resident, Pass* pass) {
  int pieces = 1;
  while (pieces < kStridedWarps && p.cols > 128 * pieces) pieces *= 2;
  const std::int64_t chunk =
      p.cols <= kStridedMost
          ? round_up(ceil_div(p.cols, pieces), kChains) * pieces
          : chunk_of(p.cols, kStridedChunk, std::int64_t(pieces) * kChains * kLongestChain);
  const bool along_rows = p.rows > 1 && p.x_row_stride < p.x_col_stride;
  pass->shape = 0;
  std::int64_t rows_per_warp = 1, unit = 1;
  if (along_rows && p.x_row_stride == 1) {
    const std::int64_t size = std::int64_t(size_of(p.x_type)), items = kVectorBytes / size;
    pass->path = Path::strided_vectors;
    pass->params.aligned = reinterpret_cast<std::uintptr_t>(p.x) % kVectorBytes == 0 &&
                           p.x_col_stride * size % kVectorBytes == 0;
    pass->shape = pass->params.aligned ? 1 : 2;
    while (pass->shape + 2 < 2 * kStridedBrief && strided_vectors(pass->shape) * items < p.rows) {
      pass->shape += 2;
    }
    if (pass->shape / 2 + 1 == kStridedBrief && chunk / pieces <= kChains) pass->shape += 2;
    rows_per_warp = strided_vectors(pass->shape) * items;
    unit = pass->params.aligned ? items : 1;
  } else if (along_rows) {
    rows_per_warp = kWarp;
    pass->path = Path::strided_rows;
  } else {
    pass->path = Path::strided_cols;
  }
  pass->threads = kStridedThreads;
  pass->chunks = ceil_div(p.cols, chunk);
  pass->params.chunk_cols = chunk;
  pass->params.pieces = pieces;
  pass->params.piece_cols = chunk / pieces;
  if (pass->path == Path::strided_vectors && resident > 0) {
    rows_per_warp =
        balanced_rows(p.rows, kStridedWarps / pieces, rows_per_warp, unit, pass->chunks, resident);
  }
  pass->params.warp_rows = int(rows_per_warp);
  const std::int64_t rows_per_cta = kStridedWarps / pieces * rows_per_warp;
  pass->params.items = pass->ctas = ceil_div(p.rows, rows_per_cta) * pass->chunks;
}

Pass plan_pass(Problem p, const Shape* shapes, int shape_count, int resident) {
  if (p.cols == 0) {  // nothing is read: x may be null and its stride any number
    p.x = p.y;
    p.x_row_stride = 0;
  }
  Pass pass{};
  pass.x_type = p.x_type;
  pass.params.x = p.x;
  pass.params.y = p.y;
  pass.params.y_type = p.y_type;
  pass.params.rows = p.rows;
  pass.params.cols = p.cols;
  pass.params.x_row_stride = p.x_row_stride;
  pass.params.x_col_stride = p.x_col_stride;
  pass.params.y_stride = p.y_stride;
  pass.params.aligned = rows_aligned(p);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(p.x);
  const std::uintptr_t end = begin + std::uintptr_t(extent(p)) * size_of(p.x_type);
  const std::uintptr_t safe = (begin + kVectorBytes - 1) & ~std::uintptr_t{kVectorBytes - 1};
  pass.params.safe = reinterpret_cast<const unsigned char*>(safe);
  pass.params.safe_bytes = end > safe ? (end - safe) / kVectorBytes * kVectorBytes : 0;
  pass.params.whole =
      pass.params.aligned && p.cols * std::int64_t(size_of(p.x_type)) % kVectorBytes == 0;
  if (p.x_col_stride == 1 || p.cols <= 1) {
    plan_unit(p, shapes, shape_count, &pass);
  } else {
    plan_strided(p, resident, &pass);
  }
  pass.params.chunks = make_divider(pass.chunks);
  return pass;
}

}  // namespace

Plan make_plan(const Problem& problem, const Shape* shapes, int shape_count, void* workspace,
               int resident) {
  constexpr std::int64_t kAlignment = 256;
  Plan plan;
  Problem p = problem;
  while (plan.count < Plan::kMostPasses) {
    Pass& pass = plan.passes[plan.count++];
    pass = plan_pass(p, shapes, shape_count, resident);
    if (pass.chunks == 1) break;
    // The sums of the chunks are the next pass's x.
    void* sums = workspace == nullptr
                     ? nullptr
                     : static_cast<unsigned char*>(workspace) + plan.workspace_bytes;
    pass.params.y = sums;
    pass.params.y_type = DType::f32;
    pass.params.y_stride = 1;
    p = {.x = sums,
         .y = problem.y,
         .x_type = DType::f32,
         .y_type = problem.y_type,
         .rows = problem.rows,
         .cols = pass.chunks,
         .x_row_stride = pass.chunks,
         .x_col_stride = 1,
         .y_stride = problem.y_stride};
    plan.workspace_bytes += round_up(p.rows * p.cols * std::int64_t(sizeof(float)), kAlignment);
  }
  return plan;
}

std::string describe_plan(const Plan& plan, const Shape* shapes, const LaunchContext& context,
                          bool pdl) {
  std::string text;
  for (int i = 0; i < plan.count; ++i) {
    const Pass& pass = plan.passes[i];
    const Params& p = pass.params;
    const bool shaped = pass.path == Path::unit || pass.path == Path::unit_staged;
    const Shape& shape = shapes[shaped ? pass.shape : 0];
    text += i == 0 ? "path: " : "then: the sums of the chunks, ";
    if (pass.path == Path::unit_staged) {
      text += fmt::format("{} lane(s) a row, {} rows a warp, through shared memory",
                          staged_lanes(shape.lanes * shape.vectors), p.tile_rows);
    } else if (pass.path == Path::unit_row) {
      text += "32 lane(s) a row, 1 row(s) a warp";
    } else if (pass.path != Path::unit) {
      text += fmt::format(
          "columns not adjacent, {} a load, lanes along the {}, {} warp(s) a row",
          pass.path == Path::strided_vectors
              ? p.aligned ? "16 bytes" : "16 bytes, misaligned and shifted"
              : "one element",
          pass.path == Path::strided_cols ? "columns: slower than unit columns" : "rows", p.pieces);
    } else if (shape.lanes <= kWarp) {
      text += fmt::format("{} lane(s) a row, {} row(s) a warp", lanes_of_row(shape, p.whole),
                          rows_of_warp(shape, p.whole));
    } else {
      text += fmt::format("{} threads a row", shape.lanes);
    }
    if (pass.chunks > 1) {
      text += fmt::format(", each row in {} chunks of {} columns", pass.chunks, p.chunk_cols);
    }
    if (pass.path == Path::unit && !p.aligned) {
      text += "; rows are not all 16-byte aligned: the vectors at their ends are loaded for both";
    }
    text += fmt::format("\nlaunch: grid {}, block {}{}\n",
                        capped_grid(pass.ctas, context, pass.threads), pass.threads,
                        pdl ? ", programmatic dependent" : "");
  }
  return text;
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
