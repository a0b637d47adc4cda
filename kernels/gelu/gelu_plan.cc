#include "kernels/gelu/gelu_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/common/launch_plan.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

Problem transposed(Problem p) {
  std::swap(p.rows, p.cols);
  std::swap(p.x_row_stride, p.x_col_stride);
  std::swap(p.y_row_stride, p.y_col_stride);
  return p;
}

// Bytes from the last multiple of `alignment`, a power of two, to p. Addresses have no sign.
std::int64_t phase_of(const void* p, std::int64_t alignment) {
  return std::int64_t(reinterpret_cast<std::uintptr_t>(p) % std::uintptr_t(alignment));
}

// Windows that the fullest row of the output touches. No overflow: a view that passed its checks
// has fewer than 2^56 bytes (src/check.h).
std::int64_t windows_per_row(const Problem& p, int window_bytes) {
  const std::int64_t size = std::int64_t(size_of(p.y_type));
  const bool rows_alike = p.rows == 1 || (p.y_row_stride * size) % window_bytes == 0;
  const std::int64_t phase = rows_alike ? phase_of(p.y, window_bytes) : window_bytes - size;
  return (phase + p.cols * size - 1) / window_bytes + 1;
}

// Where the only row's windows and its ends are. Offsets are in elements from the row's start, and
// an address is formed only inside the row.
void cut_row(const Problem& p, int window_bytes, Params* params) {
  constexpr std::int64_t kLine = 128;  // bytes: a warp's windows are whole lines of y
  const std::int64_t x_size = std::int64_t(size_of(p.x_type));
  const std::int64_t y_size = std::int64_t(size_of(p.y_type));
  const std::int64_t in_window = window_bytes / y_size;  // elements
  const std::int64_t x_bytes = in_window * x_size;       // of a window
  std::int64_t before = std::min(p.cols, (kLine - phase_of(p.y, kLine)) % kLine / y_size);
  std::int64_t windows = (p.cols - before) / in_window;
  const std::int64_t x_phase = (phase_of(p.x, x_bytes) + before * x_size) % x_bytes;
  if (x_phase != 0) {
    // A window's two vectors of x begin x_phase bytes before its first element.
    if (before * x_size < x_phase) {
      const std::int64_t skipped = std::min(windows, kLine / window_bytes);
      before += skipped * in_window;
      windows -= skipped;
    }
    const std::int64_t end = (before + (windows + 1) * in_window) * x_size - x_phase;
    if (windows > 0 && end > p.cols * x_size) --windows;
  }
  params->windows = windows;
  params->ends = p.cols - windows * in_window;
  params->before = before;
  params->x_phase = std::uint32_t(x_phase);
  params->x = static_cast<const char*>(p.x) + before * x_size;
  params->y = static_cast<char*>(p.y) + before * y_size;
}

// The path of a row that has been cut, and its CTAs. Below one and a half waves of CTAs with one
// window a thread, the half-empty wave of pairs takes longer.
void choose_path(const Shape& shape, Plan* plan) {
  const Params& row = plan->params;
  plan->ctas = (row.windows + shape.threads - 1) / shape.threads;
  if (row.ends != 0 || row.x_phase != 0) {
    plan->path = Path::one_row;
    ++plan->ctas;
    return;
  }
  const std::int64_t wave = shape.resident_ctas;
  const bool one_wave_of_pairs = plan->ctas > wave + wave / 2 && plan->ctas <= 2 * wave;
  const bool many_waves = plan->ctas > 2 * wave;
  plan->path = Path::singles;
  if ((shape.pairs != Pairs::never && one_wave_of_pairs) ||
      (shape.pairs == Pairs::beyond_one_wave && many_waves)) {
    plan->path = Path::pairs;
    plan->ctas = (plan->ctas + 1) / 2;
  }
}

// How the input lies relative to the output's windows.
const char* phase_text(const Problem& p, int window_bytes) {
  const std::int64_t x_size = std::int64_t(size_of(p.x_type));
  const std::int64_t y_size = std::int64_t(size_of(p.y_type));
  const std::int64_t in_bytes = window_bytes / y_size * x_size;  // of x, one window
  if (p.rows > 1 && ((p.x_row_stride - p.y_row_stride) * x_size) % in_bytes != 0) {
    return "where a row of x is out of phase with y it is loaded twice and realigned";
  }
  const std::int64_t back = phase_of(p.y, window_bytes) / y_size * x_size;  // to the window's start
  return (phase_of(p.x, in_bytes) - back) % in_bytes == 0
             ? "x is in phase with y: one load a window"
             : "x is out of phase with y: two loads a window, realigned";
}

}  // namespace

Problem normalised(Problem p) {
  const bool y_is_column_major = p.y_col_stride != 1 && p.y_row_stride == 1;
  if ((p.rows > 1 && p.cols > 1 && y_is_column_major) || p.cols == 1) p = transposed(p);
  if (p.cols == 1) p.x_col_stride = p.y_col_stride = 1;  // one element
  if (p.rows > 1 && p.x_row_stride == p.cols * p.x_col_stride &&
      p.y_row_stride == p.cols * p.y_col_stride) {
    p.cols *= p.rows;  // no gaps between rows in either view
    p.rows = 1;
  }
  if (p.rows == 1) p.x_row_stride = p.y_row_stride = 0;
  return p;
}

Path path_of(const Problem& p) {
  if (p.x_col_stride != 1 || p.y_col_stride != 1) return Path::strided;
  return p.rows == 1 ? Path::one_row : Path::rows;
}

Plan make_plan(const Problem& problem, const Shape& shape) {
  const Problem p = normalised(problem);
  Plan plan{};
  plan.path = path_of(p);
  if (plan.path == Path::one_row) {
    cut_row(p, shape.window_bytes, &plan.params);
    choose_path(shape, &plan);
    if (plan.ctas <= shape.most_ctas) return plan;
    plan = Plan{};
    plan.path = Path::rows;
  }
  plan.params.x = p.x;
  plan.params.y = p.y;
  plan.params.rows = p.rows;
  plan.params.cols = p.cols;
  plan.params.x_row_stride = p.x_row_stride;
  plan.params.x_col_stride = p.x_col_stride;
  plan.params.y_row_stride = p.y_row_stride;
  plan.params.y_col_stride = p.y_col_stride;
  if (plan.path == Path::rows) {
    const std::int64_t per_row = windows_per_row(p, shape.window_bytes);
    plan.params.per_row = make_divider(per_row);
    plan.params.items = p.rows * per_row;
    plan.ctas = (plan.params.items - 1) / shape.threads + 1;
  } else {
    int rows_log2 = 0;
    while (rows_log2 < kTileRowsLog2 && (1 << rows_log2) < p.rows) ++rows_log2;
    plan.params.tile_cols_log2 = kTileElementsLog2 - rows_log2;
    const std::int64_t across = ((p.cols - 1) >> plan.params.tile_cols_log2) + 1;
    plan.params.per_row = make_divider(across);
    plan.params.items = across * (((p.rows - 1) >> rows_log2) + 1);
    plan.ctas = plan.params.items;
  }
  return plan;
}

std::string describe_plan(const Problem& problem, const Plan& plan, const Shape& shape,
                          const LaunchContext& context, bool pdl) {
  std::string path;
  const std::string phase = phase_text(normalised(problem), shape.window_bytes);
  if (plan.path != Path::rows && plan.path != Path::strided) {
    path = fmt::format(
        "path: one row, {} window(s) of {} bytes of y, {} a thread, and {} element(s) at its ends; "
        "{}\n",
        plan.params.windows, shape.window_bytes, plan.path == Path::pairs ? "two" : "one",
        plan.params.ends, phase);
  } else if (plan.path == Path::rows) {
    path = fmt::format("path: {} window(s) of {} bytes of y in {} row(s); {}\n", plan.params.items,
                       shape.window_bytes, plan.params.rows, phase);
  } else {
    path = fmt::format(
        "path: strided, one element a thread, {} tile(s) of {} x {}: slower than unit columns\n",
        plan.params.items, kTileElements >> plan.params.tile_cols_log2,
        1 << plan.params.tile_cols_log2);
  }
  return path + fmt::format("launch: grid {}, block {}, shared memory 0{}\n",
                            capped_grid(plan.ctas, context, shape.threads), shape.threads,
                            pdl ? ", programmatic dependent" : "");
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
