// Matmul with very few rows or columns, on sm80: from a problem to what a kernel runs. Pure host
// code, tested without a GPU.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/matmul/matmul_stream.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct StreamPlan {
  int tile;  // index into kStreamTiles
  bool w_is_a;
  StreamParams params;
};

// Null, or why the kernel leaves the problem to others.
const char* refuse_stream(const Problem& problem, const DeviceProperties& device);

StreamPlan make_stream_plan(const Problem& problem);

std::string describe_stream_plan(const StreamPlan& plan, const LaunchContext& context);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
