// Registers passed from one warpgroup to another. Included by ptx.cuh only.
//
// A kernel that does so is compiled for a known number of registers (__launch_bounds__), and all
// warps of a warpgroup execute the instruction. 128 times the sum over warpgroups must not exceed
// what the launch reserved for the CTA.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <int kRegisters>
concept RegisterCount = kRegisters >= 24 && kRegisters <= 256 && kRegisters % 8 == 0;

// setmaxnreg.dec.sync.aligned.u32 kRegisters;                           sm_90a, PTX 8.0, warpgroup
template <int kRegisters>
requires RegisterCount<kRegisters> LK_DEVICE void setmaxnreg_dec();

// setmaxnreg.inc.sync.aligned.u32 kRegisters;                           sm_90a, PTX 8.0, warpgroup
// Blocks until the CTA has given up enough. The new registers hold anything.
template <int kRegisters>
requires RegisterCount<kRegisters> LK_DEVICE void setmaxnreg_inc();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/setmaxnreg.inl"
#else
#include "kernels/ptx/cuda/setmaxnreg.inl"
#endif
