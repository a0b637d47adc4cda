#pragma once

#include "kernels/ptx/emu/core.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::inline LK_BACKEND::ptx {

template <class Params>
struct KernelCall {
  void (*kernel)(Params);
  const Params& params;

  // Not instrumented: a kernel's parameters are not memory that it could race for.
  __attribute__((no_sanitize("thread"))) static void invoke(const void* self) {
    const auto* call = static_cast<const KernelCall*>(self);
    call->kernel(call->params);
  }
};

// Streams are synchronous: the whole grid has run when this returns.
template <class Params>
cudaError_t launch(void (*kernel)(Params), const LaunchShape& shape, cudaStream_t /*stream*/,
                   const Params& params) {
  const KernelCall<Params> call{kernel, params};
  return emulator::run({.grid = shape.grid,
                        .block = shape.block,
                        .cluster = shape.cluster,
                        .smem = shape.smem,
                        .pdl = shape.pdl,
                        .hooked = LK_EMU_HOOKED != 0,
                        .kernel = reinterpret_cast<const void*>(kernel),
                        .invoke = &KernelCall<Params>::invoke,
                        .argument = &call,
                        .params = &params,
                        .params_bytes = sizeof(Params)});
}

template <class Params>
cudaError_t func_attributes(void (* /*kernel*/)(Params), FuncAttributes* out) {
  *out = {.registers = 0,
          .smem_static = 0,
          .local_bytes = 0,
          .max_threads_per_cta = emulator::current_profile().max_threads_per_cta};
  return cudaSuccess;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
