// Matmul with few rows or columns, on sm90: from a problem to what a kernel runs. Pure host code,
// tested without a GPU.
#pragma once

#include <string>

#include "kernels/matmul/matmul_skinny.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct SkinnyPlan {
  SkinnyTile tile;
  int tile_index;  // in kSkinnyTiles
  ptx::Major w_major, x_major;
  bool w_is_a;  // else W is B^T
  std::int64_t rows, cols;
  int ctas;               // of a cluster: parts of K
  std::int64_t clusters;  // of the grid
  ptx::TiledTensor w, x;  // the tensor maps of params
  SkinnyParams params;    // the rest of them
};

// Null, or why the kernel leaves the problem to others.
const char* refuse_skinny(const Problem& problem, const DeviceProperties& properties);

SkinnyPlan make_skinny_plan(const Problem& problem, const DeviceProperties& properties,
                            int max_sms);
// The same with another tile, of another split of K. For tuning.
SkinnyPlan make_skinny_plan_of(const Problem& problem, const SkinnyTile& tile, int ctas,
                               std::int64_t clusters);

std::string describe_skinny_plan(const Problem& problem, const SkinnyPlan& plan);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
