// Row-sum: from a problem to the launches that compute it. Pure host code, tested without a GPU.
//
// The summation tree of a row is a function of its number of columns, its type and whether its
// columns are adjacent: of nothing else, so that a row's bits are the same in every call that holds
// it. Rows, alignment and SMs decide where the tree is computed, never its shape.
//
//   unit      Adjacent columns. Short rows, of up to n columns, where n is the number of elements
//             of their shape's vectors: column i is added to column i + n / 2, these sums i to i +
//             n / 4, and so on to neighbours; what is not there counts as 0. This tree is the same
//             for columns numbered modulo n from any other one on. So lanes load aligned vectors,
//             wherever in them the row begins: other lanes and elements hold column i then, and the
//             sums have the same bits, whatever the numbers of lanes and vectors. In longer rows
//             each warp sums a piece in this way, with n as many elements as one vector a lane and
//             for column i the columns i, i + n, ... in order, at most 32 of them; then the pieces
//             are added in a tree.
//   strided   Any other columns. A row is cut into pieces of whole 32s. A piece has 32 chains,
//             chain i being columns i, i + 32, ... in order, at most 32 of them; the chains are
//             added in a tree, then the 1, 2, 4 or 8 pieces that one CTA sums.
//
// A row that is too long for one CTA is cut into chunks, whose sums are the columns of a second
// problem, of fp32 and adjacent columns, and so on: the passes of a plan. A sum therefore has no
// serial chain beyond 32 additions, and a pass has at most 32 + 11 on the way of any element.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/common/divide.h"
#include "kernels/row_sum/row_sum.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

inline constexpr int kVectorBytes = 16;
inline constexpr int kLongestChain = 32;

// How lanes share rows with adjacent columns. A table of these is a generation's; the number of
// vectors of each shape, lanes times vectors, is its tree.
struct Shape {
  int most;     // vectors of a row; the last shape takes all others, too
  int lanes;    // of a row: a power of two up to 32; beyond, all threads of the CTA
  int rows;     // that a group of lanes sums at once
  int vectors;  // of a row that a lane has in flight: a power of two
  // The same for rows that do not consist of whole vectors: as many vectors, and up to 32 lanes one
  // load more in each row. Beyond 32 lanes not used.
  int ragged_lanes, ragged_rows, ragged_vectors;
  // Ragged rows close to each other go through shared memory, up to so many bytes: of 16-bit
  // elements, of fp32.
  int staged, staged_f32;
  int threads;  // of a CTA
};

// A warp a row, for rows of whole vectors: 2 << i vectors a lane in flight, and threads of a CTA.
inline constexpr int kRowShapes = 4;
constexpr int row_vectors(int shape) { return 2 << shape; }
constexpr int row_threads(int shape) { return shape == kRowShapes - 1 ? 64 : 128; }

// Rows in shared memory: threads of a CTA, and of a tree of so many vectors the lanes of a row and
// the bytes of a tile of rows, a warp's.
inline constexpr int kStagedThreads = 128;
constexpr int staged_lanes(int vectors) {
  return vectors <= 16 ? 1 : vectors == 64 ? 8 : vectors / 16;
}
constexpr int staged_tile_bytes(int vectors) { return vectors <= 8 ? 4096 : 8192; }

// The strided path: warps of a CTA.
inline constexpr int kStridedThreads = 256;
inline constexpr int kStridedWarps = 8;
inline constexpr int kStridedCtasPerSm = 2;
inline constexpr int kChains = 32;
// Adjacent rows: how many lanes of a warp share a column; the others have the columns beside it.
// Shape number 2 i + 1 has lanes number i and aligned vectors, 2 i any. The last two are for pieces
// of kChains columns at most.
inline constexpr int kStridedLanes[] = {1, 2, 4, 8, 16, 32};
inline constexpr int kStridedBrief = 5;  // number of lanes
inline constexpr int kStridedShapes = 12;
inline constexpr int kStridedRows = 32 * kVectorBytes / 2;  // of a warp
// Vectors of rows that the lanes have between them: of misaligned ones each lane has a part of its
// own and a part of its neighbour's.
constexpr int strided_vectors(int shape) {
  return kStridedLanes[shape / 2] - (shape % 2 == 1 ? 0 : 1);
}

// Kernel arguments of all paths. Strides in elements.
struct Params {
  const void* x;
  void* y;
  DType y_type;
  bool dependent;      // launched as one: must wait for the grid before it
  bool trigger_early;  // and lets the next grid start before this one ends
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_stride;  // from the sum of one row, or chunk, to the next
  // The 16-byte aligned vectors that lie within the view x, gaps included: so many bytes from here.
  const unsigned char* safe;
  std::uint64_t safe_bytes;
  bool aligned;             // every row starts at a multiple of 16 bytes; strided: every column
  bool whole;               // and ends at one: it consists of aligned vectors
  std::int64_t items;       // of work, each a CTA's at a time
  std::int64_t chunk_cols;  // that a CTA sums of a row
  Divider chunks;           // of a row
  int tile_rows;            // unit_staged: of a warp
  std::int64_t piece_cols;  // columns of a piece: strided, or unit with more than 32 lanes
  int pieces;               // strided: of a chunk: 1, 2, 4 or 8
  int warp_rows;            // strided: of a warp at a time
};

enum class Path {
  unit,
  unit_row,         // the same trees: a warp a row
  unit_staged,      // out of shared memory
  strided_vectors,  // adjacent rows: vectors of them
  strided_rows,     // lanes along the rows, where these are closer to each other than columns
  strided_cols,     // lanes along the columns
};

struct Pass {
  Path path;
  int shape;  // unit, unit_staged: of the table of shapes; unit_row: kRowShapes; strided_vectors:
              // kStridedShapes
  DType x_type;
  int threads;
  std::int64_t ctas;  // the grid may be smaller
  std::int64_t chunks;
  Params params;
};

struct Plan {
  static constexpr int kMostPasses = 6;
  int count = 0;
  Pass passes[kMostPasses];
  std::int64_t workspace_bytes = 0;  // the sums of chunks, of all passes but the last
};

// `workspace` may be null when only the shape of the plan matters. `shapes` has an entry for every
// number of vectors: see row_sum_plan.cc.
// `resident`: strided CTAs that are on the device at once, if known: that there be no few CTAs in
// the last wave.
Plan make_plan(const Problem& problem, const Shape* shapes, int shape_count, void* workspace,
               int resident = 0);

// The plan in words, for explain().
std::string describe_plan(const Plan& plan, const Shape* shapes, const LaunchContext& context,
                          bool pdl);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
