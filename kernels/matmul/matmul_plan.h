// Matmul on sm80: from a problem to what a kernel runs. Pure host code, tested without a GPU.
//
// The plan first makes the unit stride of C, if it has one, run along the columns: C^T = B^T A^T.
// Then each operand gets a layout in shared memory, by its own unit stride, so that nothing is ever
// transposed on the way: `k` where K is adjacent, `mn` where M (of A) or N (of B) is. What is left:
//
//   async   cp.async, 16 bytes a chunk: both operands have a unit stride, and address, other stride
//           and batch stride are multiples of 16 bytes. fp32: always, an element at a time where
//           that does not hold, or where K is adjacent, since its stages have M and N adjacent.
//   staged  Anything else but fp32, and fp8: chunks go through registers. Where the operand has a
//           unit stride and the chunk is not next to an end of its run, by aligned vectors that are
//           realigned; element by element elsewhere.
//
// A tile of C is a CTA's work; which size is the least of a small cost model (tile_cost).
#pragma once

#include <cstdint>
#include <string>

#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/matmul_raster.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// What the inner product of a kernel is made of.
enum class Arithmetic : std::int8_t { f16, bf16, f8, tf32, tf32x3, fp32 };
enum class Major : std::int8_t { k, mn };
enum class Load : std::int8_t { async, staged };

// A tile of C and how a CTA computes it.
struct Tile {
  int m, n;
  int k_bytes;           // of a row of a stage in K: 64 or 128 (32 for fp32)
  int warps_m, warps_n;  // of the CTA; each has m / warps_m x n / warps_n of the tile
  int stages;            // in shared memory
  int ctas_per_sm;       // that shall fit: bounds the registers

  constexpr int threads() const { return 32 * warps_m * warps_n; }
};

// Which instantiation: the tables of tiles are in matmul_tiles.h.
struct Variant {
  Arithmetic arithmetic;
  Load load;
  Major a, b;
  int tile;  // index into tiles_of(arithmetic, load)
};

// An operand as a kernel reads it; `mn` is M for A and N for B. Strides in elements.
struct Operand {
  const void* data;
  std::int64_t mn_stride, k_stride, batch_stride;
  DType type;
  bool unit;  // staged: the stride of its major dimension is 1
  bool wide;  // fp32: M or N is adjacent, 16 aligned bytes a copy
};

// Kernel arguments.
struct Params {
  Operand a, b;
  std::int64_t m, n, k;
  Raster raster;
  Epilogue epilogue;
};

struct Plan {
  Variant variant;
  Tile tile;
  bool transposed;
  Params params;
};

Arithmetic arithmetic_of(const Problem& problem);

Plan make_plan(const Problem& problem, const DeviceProperties& properties);

// The plan in words, for explain().
std::string describe_plan(const Problem& problem, const Plan& plan, const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
