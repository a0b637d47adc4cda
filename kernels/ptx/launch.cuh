// Launching a kernel, and asking what it needs: host code for the launchers that stand beside the
// kernels, with one body per backend.
//
//   return ptx::launch(&gelu_kernel<Cfg>, {.grid = dim3(n), .block = dim3(256)}, stream, params);
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::ptx {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t smem = 0;  // bytes of dynamic shared memory: sizeof(Smem)
  dim3 cluster = {1, 1, 1};
  bool pdl = false;  // programmatic dependent launch: the kernel must execute griddepcontrol.wait
};

// What a kernel takes of an SM.
struct FuncAttributes {
  int registers = 0;            // per thread; 0 if unknown (emulated)
  std::size_t smem_static = 0;  // bytes
  std::size_t local_bytes = 0;  // per thread: stack frame and spills
  int max_threads_per_cta = 0;
};

// Enqueues kernel(params) on the stream. Returns the launch's own error, never an earlier one.
template <class Params>
[[nodiscard]] cudaError_t launch(void (*kernel)(Params), const LaunchShape& shape,
                                 cudaStream_t stream, const Params& params);

// Loads the kernel on the current device and tells what it needs.
template <class Params>
[[nodiscard]] cudaError_t func_attributes(void (*kernel)(Params), FuncAttributes* out);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/launch.inl"
#else
#include "kernels/ptx/cuda/launch.inl"
#endif
