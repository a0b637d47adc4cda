// 8 x 8 matrices of 16-bit elements between shared memory and the registers of a warp, as mma.sync
// wants them. Included by ptx.cuh only.
//
// Matrix j is eight rows of 16 bytes; lane 8 j + r points at its row r, 16-byte aligned. The
// pointers of lanes beyond 8 kCount are not looked at. Register j of lane l is elements 2 (l % 4)
// and the next of row l / 4 of matrix j; of its transpose with kTrans.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// ldmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16 d, [row];    sm_75, PTX 6.5, warp
template <int kCount, bool kTrans = false>
LK_DEVICE void ldmatrix(std::uint32_t (&d)[kCount], const void* row);

// stmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16 [row], v;    sm_90, PTX 7.8, warp
template <int kCount, bool kTrans = false>
LK_DEVICE void stmatrix(void* row, const std::uint32_t (&v)[kCount]);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/ldmatrix.inl"
#else
#include "kernels/ptx/cuda/ldmatrix.inl"
#endif
