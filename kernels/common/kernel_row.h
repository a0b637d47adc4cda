// What a kernel file hands to dispatch: one row of its operation's table, as a constant.
//
// A row is the whole host-side face of a kernel. It takes a Problem (shape, strides, types: what to
// dispatch on) and a LaunchContext (what this call may use), and knows nothing of the public API.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "include/libkernels/arch.h"
#include "kernels/ptx/backend.h"
#include "kernels/ptx/device_properties.h"

namespace libkernels::inline LK_BACKEND {

// What one call may use.
struct LaunchContext {
  const DeviceProperties& properties;
  int max_sms;      // SMs whose worth of CTAs this call may launch: 1 .. properties.sm_count
  bool pdl;         // launch as a programmatic dependent, where the kernel can
  void* workspace;  // device scratch of at least workspace_bytes(problem), or null if that is 0
  cudaStream_t stream;
  const char** launch_name = nullptr;  // where a call of several launches names the one under way

  void name_launch(const char* name) const {
    if (launch_name != nullptr) *launch_name = name;
  }
};

// What a kernel takes of an SM.
struct KernelResources {
  int threads_per_cta;
  int registers;            // per thread: the compiler's count, or the launch bounds' limit
  bool registers_exact;     // which of the two
  std::size_t smem_bytes;   // static + dynamic
  std::size_t local_bytes;  // per thread: stack and spills
};

template <class Problem>
struct KernelRow {
  const char* name;  // "<op>_<arch>[_variant]": what LIBKERNELS_FORCE takes
  Arch arch;
  // Null if the kernel can run `problem` on such a device (whose generation dispatch has checked),
  // else the reason as a clause: "needs a unit column stride". Pure, cheap, the same in every call.
  const char* (*supports)(const Problem& problem, const DeviceProperties& properties);
  // Enqueues the kernel. The problem is supported and its output has elements (the input of a
  // reduction may have none).
  cudaError_t (*launch)(const Problem& problem, const LaunchContext& context);
  // The plan in words, for explain(): lines "path: ..." and "launch: grid .., block ..", each ended
  // by a newline; what strides or alignment cost. It wants fmt, which nvcc cannot read: write it in
  // a .cc.
  std::string (*describe)(const Problem& problem, const LaunchContext& context);
  // Device scratch that launch needs; 0 for most.
  std::size_t (*workspace_bytes)(const Problem& problem, const DeviceProperties& properties);
  // Of the instantiation that `problem` takes.
  cudaError_t (*resources)(const Problem& problem, KernelResources* out);
  // Loads every instantiation on the current device.
  cudaError_t (*preload)();
};

template <class Problem>
Problem problem_of(cudaError_t (*launch)(const Problem& problem, const LaunchContext& context));

// The row whose functions are the static members of R.
template <class R>
constexpr auto row_of(const char* name, Arch arch) {
  return KernelRow<decltype(problem_of(&R::launch))>{.name = name,
                                                     .arch = arch,
                                                     .supports = &R::supports,
                                                     .launch = &R::launch,
                                                     .describe = &R::describe,
                                                     .workspace_bytes = &R::workspace_bytes,
                                                     .resources = &R::resources,
                                                     .preload = &R::preload};
}

}  // namespace libkernels::inline LK_BACKEND
