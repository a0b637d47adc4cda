// Barriers of a CTA and of a warp. Included by ptx.cuh only.
//
// Kernels may also write __syncthreads() (= bar.sync 0 over the whole CTA) and __syncwarp().
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// bar.sync id, threads;                                                 sm_20, CTA
// id 0..15; threads a multiple of 32: how many arrive (bar_sync and bar_arrive together).
LK_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads);

// bar.arrive id, threads;                                               sm_20, CTA
LK_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads);

// bar.warp.sync membermask;                                             sm_30, warp
LK_DEVICE void bar_warp_sync(std::uint32_t membermask = 0xffffffffu);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/barrier.inl"
#else
#include "kernels/ptx/cuda/barrier.inl"
#endif
