// Launch control and the start of a kernel's shared memory. Included by ptx.cuh only.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// The CTA's dynamic shared memory as an object of type Smem, 1024-byte aligned. Smem's sizeof is
// the launch size: LaunchShape{.smem = sizeof(Smem)}.
template <class Smem>
LK_DEVICE Smem& dynamic_smem();

// griddepcontrol.wait;                                                  sm_90, PTX 7.8, thread
// Blocks until all prerequisite grids have completed and their memory is visible.
LK_DEVICE void griddepcontrol_wait();

// griddepcontrol.launch_dependents;                                     sm_90, PTX 7.8, CTA
// The dependent grid may start once every CTA has issued this or exited. Publishes no data.
LK_DEVICE void griddepcontrol_launch_dependents();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/control.inl"
#else
#include "kernels/ptx/cuda/control.inl"
#endif
