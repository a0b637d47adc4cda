// The device's clock. Included by ptx.cuh only.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// mov.u64 t, %globaltimer;                                              sm_30, PTX 3.1, thread
// Nanoseconds of a clock that all SMs share; its steps may be as long as a microsecond. For
// measuring instruments: no kernel of the library reads a clock.
LK_DEVICE std::uint64_t globaltimer();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/timer.inl"
#else
#include "kernels/ptx/cuda/timer.inl"
#endif
