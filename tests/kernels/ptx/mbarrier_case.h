// What mbarrier_kernels.cu offers to mbarrier_test.cc, per backend.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace libkernels::test {

inline constexpr int kScriptWarps = 3;  // of each of the two CTAs of the cluster

enum class ScriptOp : std::uint32_t {
  arrive,            // of one; from the peer by mapa, as all that follow but complete_tx
  arrive_count,      // argument: how many
  expect_tx,         // bytes
  arrive_expect_tx,  // bytes
  complete_tx,       // bytes; by the owner
  reinit,            // invalidate, and a new count; by the owner
};

struct ScriptStep {
  ScriptOp op;
  std::uint32_t who;  // rank * kScriptWarps + warp
  std::uint32_t argument;
};

struct MbarrierKernels {
  // CTA 0 has a barrier of `count`; step by step with cluster barriers between. After step i,
  // out[i] has bit P set if the phase of parity P is over by test_wait, 2 + P by try_wait.
  cudaError_t (*script)(const ScriptStep* steps, int n, std::uint32_t count, std::uint32_t* out,
                        cudaStream_t stream);
  // rounds of a ring between warps: each passes a number on, and adds to it.
  cudaError_t (*ring)(int rounds, int ctas, std::uint32_t* out, cudaStream_t stream);
};

}  // namespace libkernels::test
