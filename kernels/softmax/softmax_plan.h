// Softmax: from a problem to what a kernel runs. Pure host code, tested without a GPU.
//
// The path, and with it the order of every addition, follows from the number of columns and the
// types alone, so that a row's bits do not depend on how many rows there are or how they lie:
//
//   warp     Lanes of a warp share a row and hold it in registers: as few lanes as have the columns
//            in one vector each, so that short rows still load and store whole sectors; then all 32
//            with several vectors.
//   block    A CTA a row, as few warps as hold it in registers; of longer rows the rest waits in
//            shared memory.
//   split    Rows beyond that go in chunks of whole blocks to many CTAs: one launch leaves the
//            maximum and the sum of each chunk in scratch memory, a second combines them and
//            writes. The row is read twice.
//   strided  A view without unit column stride: tiles of 32 rows, 32 threads a row, elements one by
//            one, three passes. Longer rows go in chunks here as well. Threads lie along whichever
//            dimension of x is the denser one, which changes no sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/common/divide.h"
#include "kernels/softmax/softmax.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

enum class Path { warp, block, split, strided };

// How 2^t = exp(scale (x - m)) is computed: v = turn * x, of which the largest is m's,
// d = shrink (v - m), t = d (hi + lo). All follows from `scale`; make_exponent says how.
struct Exponent {
  float turn;    // 1, -1 or 0: v is largest where scale * x is
  float shrink;  // a power of two, 1 at most
  float hi,
      lo;  // > 0; their sum is |scale| log2(e) / shrink to 46 bits (beyond a float's range: 25)
  float linear;  // scale (x - m) = linear * d
};

// What a chunk of a row amounts to: the largest v, and the sum of exp(scale (x - m)) relative to
// it.
struct alignas(8) Partial {
  float most, sum;
};

// Which of the work a launch does.
enum class Stage : int {
  whole,     // all
  partials,  // the Partial of each chunk
  finish,    // from these the result
};

// Kernel arguments of all paths. Strides in elements.
struct Params {
  const void* x;
  const void* x_end;  // past the last element of x
  void* y;
  std::int64_t rows, cols;
  std::int64_t x_row_stride, x_col_stride;
  std::int64_t y_row_stride, y_col_stride;
  Exponent exponent;
  bool log, zero_neg_inf_row, in_place;
  bool down;                // strided: neighbouring threads take neighbouring rows, not columns
  Stage stage;              // split, strided
  int lanes_log2;           // warp: of a row
  int parked;               // block: vectors that a thread keeps in shared memory
  std::int64_t items;       // CTAs' worth of work
  std::int64_t chunk_cols;  // split, strided
  Divider chunks;           // of a row
  Partial* partials;        // [rows, chunks]
};

struct Plan {
  Path path;
  int windows;    // vectors that a thread holds in registers
  int threads;    // of a CTA
  Params params;  // partials unset
  std::size_t workspace_bytes;

  bool two_launches() const { return workspace_bytes != 0; }
};

// ---- The ladder -------------------------------------------------------------------------------
// None of these figures is measured yet.

inline constexpr int kVectorBytes = 16;  // of the output; the input's vector has as many columns
inline constexpr int kWarpCtaThreads = 128;
inline constexpr int kFewValues = 16;  // that a thread holds in registers
inline constexpr int kMostValues = 32;
inline constexpr int kMostBlockWarps = 8;
inline constexpr int kMostParked = 24;  // vectors: 96 KiB a CTA, which every device from 8.0 on has
inline constexpr int kSplitThreads = 256;
inline constexpr int kSplitBlock = kSplitThreads * kMostValues;  // columns of a CTA at a time
inline constexpr std::int64_t kMostChunks = 512;  // of a row: some 4 CTAs an SM of an H200
inline constexpr std::int64_t kMostBlocks = 512;  // of a chunk: 2^31 columns in kMostChunks
inline constexpr int kTileRows = 32;              // strided
inline constexpr int kTileSlots = 32;             // threads of a row
inline constexpr int kTileThreads = kTileRows * kTileSlots;

// Columns of a vector, and bytes of it in the input.
constexpr int items_of(DType y_type) { return kVectorBytes / int(size_of(y_type)); }
constexpr int vector_bytes(DType x_type, DType y_type) {
  return items_of(y_type) * int(size_of(x_type));
}
// The longest row of the block path.
constexpr std::int64_t block_capacity(DType y_type) {
  return std::int64_t(kMostBlockWarps) * 32 * (kMostValues + kMostParked * items_of(y_type));
}

Exponent make_exponent(float scale);

Path path_of(const Problem& problem);
Plan make_plan(const Problem& problem);

// The plan in words, for explain(). `smem` is the bytes of shared memory.
std::string describe_plan(const Problem& problem, const Plan& plan, std::size_t smem,
                          const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
