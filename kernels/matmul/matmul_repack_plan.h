// Matmul on sm90, of operands that the copy engine cannot read: they are first copied to scratch,
// with lines that start on 128 bytes. Pure host code, tested without a GPU.
//
// An operand keeps its adjacent dimension; without a unit stride, the closer one becomes adjacent.
// But where wgmma wants K adjacent, it becomes so: a matrix with M or N adjacent is transposed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/common/divide.h"
#include "kernels/matmul/matmul_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr int kRepackVector = 16;                            // bytes
inline constexpr int kRepackThreads = 256;                          // of a CTA
inline constexpr int kRepackUnroll = 4;                             // vectors of a thread
inline constexpr int kRepackItem = kRepackThreads * kRepackUnroll;  // vectors of a CTA
// What a CTA transposes: as many vectors, of so many lines of the copy that are adjacent in memory.
inline constexpr int kRepackRow = 128;  // bytes
inline constexpr int kRepackRows = kRepackItem * kRepackVector / kRepackRow;

// The copy of an operand: `length` elements of each of `lines`, the line stride apart, in each of
// `batch` matrices. Strides in elements.
struct Repack {
  const void* from;
  std::int64_t line_stride, step, batch_stride;
  std::int64_t lines, length, batch;
  int element;        // bytes
  bool transposes;    // line stride 1, step not
  bool dense;         // what is adjacent follows without a gap: all of a matrix may be read
  std::size_t place;  // bytes into the scratch
  std::int64_t pitch;
  Divider per_line;    // vectors; where it transposes, items of kRepackRows of K
  Divider per_matrix;  // lines; where it transposes, items of kRepackRow bytes of lines
  std::int64_t items;  // of kRepackItem vectors; 0: the operand stays where it is

  std::size_t bytes() const { return std::size_t(element * pitch * lines * batch); }
};

struct RepackParams {
  Repack a, b;  // of the problem as it is: not transposed
  void* scratch;
};

struct RepackPlan {
  RepackParams params;
  Problem problem;      // with what was copied in place of what could not be read
  std::size_t scratch;  // bytes
  std::size_t traffic;  // of the copies, read and written
};

// Null if copying first is possible and pays, else why not.
const char* why_not_repacked(const Problem& problem, const DeviceProperties& properties);

// `scratch`: where the copies go; null as long as nothing is launched.
RepackPlan make_repack_plan(const Problem& problem, void* scratch);

// CTAs, but for the cap that a call may put on them.
std::int64_t repack_items(const RepackParams& params);

// The plan in words, for explain().
std::string describe_repack_plan(const Problem& problem, const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
