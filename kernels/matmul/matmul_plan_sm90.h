// Matmul on sm90: from a problem to what a kernel runs. Pure host code, tested without a GPU.
//
// As on sm80 (matmul_plan.h) the plan first makes the unit stride of C run along the columns, and
// each operand keeps its own layout in shared memory: wgmma takes both of 16-bit elements. f32 it
// takes with K adjacent, and A any way out of registers: so what has M or N adjacent becomes A. All
// operands come by the copy engine, so A and B need a unit stride, and everything else in multiples
// of 16 bytes.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/matmul/matmul_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A tile of C and how a CTA computes it.
struct TileSm90 {
  int m, n;
  int groups_m, groups_n;  // warpgroups that multiply; each has m / groups_m x n / groups_n
  int stages;              // in shared memory
  // What it takes on an H200, ns: a stage of K where all SMs are busy, and the rest of a lone tile.
  int stage_ns, tile_ns;

  constexpr int groups() const { return groups_m * groups_n; }
  constexpr int threads() const { return 128 * (1 + groups()); }
};

struct VariantSm90 {
  Arithmetic arithmetic;
  DType type_a, type_b;
  Major a, b;
  int tile;  // index into tiles_sm90(arithmetic)
};

// How sums become C (matmul_epilogue_sm90.cuh).
enum class Finish : std::int8_t {
  tensor,  // 16-bit C that the copy engine can write; no C_in, no GeLU in this and the next three
  wide,    // the same, where a CTA has only one, small tile: 16 bytes a lane are there sooner
  half,    // any 16-bit C with a unit stride
  full,    // fp32 C of any strides
  block,   // anything, by matmul_epilogue.cuh
};

// What a kernel is told beside the tensor maps.
struct ParamsSm90 {
  int k_stages;           // of a tile
  bool batch_a, batch_b;  // the operand has a matrix for each product
  Finish finish;
  bool streams;  // finish tensor: C is larger than the L2, and shall not push A and B out of it
  Raster raster;
  Epilogue epilogue;
};

struct PlanSm90 {
  VariantSm90 variant;
  TileSm90 tile;
  bool transposed;
  std::int64_t m, n, k, batch;
  Operand a, b;
  ParamsSm90 params;
};

// Does it compute C^T = B^T A^T? Where C has unit strides down its columns; of f32, where otherwise
// B alone would have N adjacent.
bool transposes_sm90(const Problem& problem);

// Of all of C with such tiles on so many SMs, ns, but for what every launch takes.
double cost_sm90(const TileSm90& tile, const Problem& problem, int sms);

// Null if there is a product of types that wgmma takes, else why not.
const char* why_not_multiplied(const Problem& problem);
// Null if the copy engine can read an operand, with what `major` says adjacent, else why not.
const char* why_not_copied(const Operand& o, Major major, std::int64_t mn, std::int64_t batch);
// Null if the copy engine can read both operands, else why not.
const char* why_not_sm90(const Problem& problem);

PlanSm90 make_plan_sm90(const Problem& problem, const DeviceProperties& properties);
// The same with a certain tile of tiles_sm90(), or with any, whatever it costs.
PlanSm90 make_plan_sm90(const Problem& problem, const DeviceProperties& properties, int tile);
PlanSm90 make_plan_sm90_tile(const Problem& problem, const DeviceProperties& properties,
                             const TileSm90& tile);

// CTAs of a launch on so many SMs.
unsigned grid_sm90(const PlanSm90& plan, int sms);

// The plan in words, for explain().
std::string describe_plan_sm90(const Problem& problem, const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
