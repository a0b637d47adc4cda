// GeLU: from a problem to what a kernel runs. Pure host code, tested without a GPU.
//
// An elementwise operation may visit its elements in any order, so the plan first makes the
// output's unit stride run along the columns (both views transposed alike), then merges all rows
// into one where neither view has gaps. What is left decides the path:
//
//   singles   Both views have unit column stride and one row is left. A thread owns one window of
//             the output, the aligned 16 (or 32) bytes at which a wide store is legal; all elements
//             are in whole windows, and x has the phase of y: it is loaded wide too.
//   pairs     The same with two windows a thread.
//   one_row   One row of any length and at any addresses. Window 0 begins a line of the output; the
//             few elements before it and behind the last get a thread each, in a CTA of their own
//             that starts first. Where x is out of phase with y, a window of it is realigned from
//             two neighbouring vectors.
//   rows      Windows in rows with a pitch, of which the first and the last may be partly valid:
//             finding its row costs a thread some forty instructions more (sm_90). Also one row
//             whose grid is capped: this kernel loops.
//   strided   Anything else: one element a thread, in square tiles, so that a transposed input
//             still uses whole sectors through L1.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common/divide.h"
#include "kernels/gelu/gelu.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

// Kernel arguments of all paths. Strides in elements.
struct Params {
  const void* x;       // singles, pairs, one_row: where window 0 is
  void* y;             // likewise
  bool trigger_early;  // dependent launch: let the next grid start before this one ends
  // singles, pairs, one_row
  std::int64_t windows;   // whole ones
  std::int64_t ends;      // elements in none of them
  std::int64_t before;    // of these before window 0
  std::uint32_t x_phase;  // bytes of x from the last multiple of a window's input to a window's
  // rows, strided
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_row_stride, y_col_stride;
  std::int64_t items;  // windows or tiles in all
  Divider per_row;     // windows of a row, or tiles of a row of tiles
  int tile_cols_log2;  // strided path only: a tile is kTileElements >> this rows of 1 << this
};

enum class Path { singles, pairs, one_row, rows, strided };

struct Plan {
  Path path;
  Params params;
  std::int64_t ctas;  // what the work is cut into; the grid may be smaller (rows, strided)
};

// Where threads take two windows of a row instead of one each: never, where pairs fit on the device
// at once, or wherever single windows do not.
enum class Pairs { never, in_one_wave, beyond_one_wave };

// What a plan must know of the kernel's instantiation and of the device.
struct Shape {
  int threads;       // of a CTA
  int window_bytes;  // of the output
  Pairs pairs = Pairs::never;
  std::int64_t most_ctas = (std::int64_t{1} << 31) - 1;  // of a grid
  std::int64_t resident_ctas = most_ctas / 2;            // at once on the device: a wave
};

// A tile of the strided path: 32 x 32 unless the matrix has fewer rows, then as many times wider.
inline constexpr int kTileElements = 1024;
inline constexpr int kTileElementsLog2 = 10;
inline constexpr int kTileRowsLog2 = 5;

// Strides of extents of one become what suits the fast path, a column-major output is transposed,
// and rows without gaps between them become one.
Problem normalised(Problem problem);

// The path alone, which is all that supports() needs.
Path path_of(const Problem& normalised);  // one_row stands for singles and pairs too

Plan make_plan(const Problem& problem, const Shape& shape);

// The plan in words, for explain().
std::string describe_plan(const Problem& problem, const Plan& plan, const Shape& shape,
                          const LaunchContext& context, bool pdl);

}  // namespace libkernels::inline LK_BACKEND::op::gelu
