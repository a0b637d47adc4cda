// Softmax of views without unit column stride: tiles of neighbouring rows.
//
// A tile is as many rows as `lanes` vectors of 16 bytes hold, all columns. Its lanes stand beside
// each other along the rows, so that adjacent rows are read and written as whole sectors; its slots
// share the columns: slot s of a CTA takes columns s, s + slots, ... of the CTA's. All of a tile
// waits in shared memory, of one CTA or of the CTAs of a cluster, which take neighbouring ranges of
// columns. Longer rows go in chunks: one launch leaves the maximum and the sum of each in scratch
// memory, a second combines them, a third writes. The row is read twice.
//
// All of this follows from the number of columns and the types: a row's bits depend on nothing
// else.
#pragma once

#include "kernels/softmax/softmax_plan.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

inline constexpr int kTileMostThreads = 256;

// Rows of a vector of x.
constexpr int tile_items(DType x_type) { return kVectorBytes / int(size_of(x_type)); }

// `most_cluster`: CTAs of a cluster, 1 where there are none.
Plan make_strided_plan(const Problem& problem, int most_cluster);

// Dynamic shared memory: what the warps and the CTAs of a cluster tell each other of the rows, and
// the vectors.
std::size_t strided_smem_bytes(const Plan& plan, DType x_type);

// Rows of up to so many chunks are combined by a warp each, others by a CTA of kTileMostThreads.
inline constexpr int kWarpChunks = 1024;
std::int64_t combining_ctas(const Plan& plan);

std::string describe_strided_plan(const Problem& problem, const Plan& plan, unsigned grid);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
