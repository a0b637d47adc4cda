// Atomic read-modify-write of global memory. Included by ptx.cuh only.
//
// Integers only: what floating-point atomics add up depends on who comes first.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// atom.relaxed.gpu.global.add.u32 d, [p], v;                            sm_70, PTX 6.0, thread
// Returns what was there. Orders nothing.
LK_DEVICE std::uint32_t atom_add_relaxed_gpu_global(std::uint32_t* p, std::uint32_t v);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/atom.inl"
#else
#include "kernels/ptx/cuda/atom.inl"
#endif
