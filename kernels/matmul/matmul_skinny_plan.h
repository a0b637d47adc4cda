// Matmul with few rows or columns, on sm90: from a problem to what a kernel runs. Pure host code,
// tested without a GPU.
#pragma once

#include <string>

#include "kernels/matmul/matmul_skinny.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct SkinnyPlan {
  SkinnyTile tile;
  int tile_index;  // in kSkinnyTiles
  DType w_type, x_type;
  ptx::Major w_major, x_major;
  bool w_is_a;  // else W is B^T
  std::int64_t rows, cols;
  int ctas;                     // of a cluster: those that share X, times parts of K
  std::int64_t clusters;        // of the grid
  ptx::TiledTensor w, x;        // the tensor maps of params
  SkinnyParams params;          // the rest of them, but where scratch is
  SkinnyCombineParams combine;  // if params.splits > 1
  std::size_t scratch_bytes;
};

// Null, or why the kernel leaves the problem to others.
const char* refuse_skinny(const Problem& problem, const DeviceProperties& device);

// max_sms does not change the sums' order.
SkinnyPlan make_skinny_plan(const Problem& problem, const DeviceProperties& device, int max_sms);

// Rows of a CTA's tile, and how K is cut: in `splits` that are added up through scratch, of `parts`
// each in a cluster.
struct SkinnyCut {
  int rows, parts, splits;
};
// The same with another tile and cut. For tuning.
SkinnyPlan make_skinny_plan_of(const Problem& problem, const SkinnyTile& tile, SkinnyCut cut,
                               std::int64_t most_clusters);

std::string describe_skinny_plan(const SkinnyPlan& plan);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
