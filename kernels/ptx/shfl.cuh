// Exchanges between the lanes of a warp. Included by ptx.cuh only.
//
// T is a 32-bit type: float, int, unsigned. `membermask` names the lanes that execute the
// instruction together; each of them must, and a lane reads only lanes that do.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

inline constexpr std::uint32_t kFullWarp = 0xffffffffu;

// shfl.sync.bfly.b32 d, v, lane_mask, 0x1f, membermask;                 sm_30, warp
template <class T>
LK_DEVICE T shfl_sync_bfly(T v, std::uint32_t lane_mask, std::uint32_t membermask = kFullWarp);

// shfl.sync.idx.b32 d, v, lane, 0x1f, membermask;                       sm_30, warp
template <class T>
LK_DEVICE T shfl_sync_idx(T v, std::uint32_t lane, std::uint32_t membermask = kFullWarp);

// shfl.sync.up.b32 d, v, delta, 0, membermask;                          sm_30, warp
// Lanes below `delta` keep their own value.
template <class T>
LK_DEVICE T shfl_sync_up(T v, std::uint32_t delta, std::uint32_t membermask = kFullWarp);

// shfl.sync.down.b32 d, v, delta, 0x1f, membermask;                     sm_30, warp
// The last `delta` lanes keep their own value.
template <class T>
LK_DEVICE T shfl_sync_down(T v, std::uint32_t delta, std::uint32_t membermask = kFullWarp);

// vote.sync.ballot.b32 d, p, membermask;                                sm_30, warp
LK_DEVICE std::uint32_t vote_sync_ballot(bool p, std::uint32_t membermask = kFullWarp);

// vote.sync.any.pred d, p, membermask;                                  sm_30, warp
LK_DEVICE bool vote_sync_any(bool p, std::uint32_t membermask = kFullWarp);

// vote.sync.all.pred d, p, membermask;                                  sm_30, warp
LK_DEVICE bool vote_sync_all(bool p, std::uint32_t membermask = kFullWarp);

// elect.sync _|p, membermask;                                           sm_90, PTX 8.0, warp
// True in one lane of the mask, always the same for the same mask.
LK_DEVICE bool elect_sync(std::uint32_t membermask = kFullWarp);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/shfl.inl"
#else
#include "kernels/ptx/cuda/shfl.inl"
#endif
