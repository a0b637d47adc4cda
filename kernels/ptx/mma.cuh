// Products of small matrices by a warp: D = A B + C. Included by ptx.cuh only.
//
// A is M x K, row major, B is K x N, column major; C and D are fp32. With g = lane / 4 and
// q = lane % 4, register i of a lane holds
//   16-bit  A: row g + 8 (i % 2), columns 2q + 8 (i / 2) (low half) and the next
//           B: column g, rows 2q + 8 i (low half) and the next
//   tf32    A: row g + 8 (i % 2), column q + 4 (i / 2)
//           B: column g, row q + 4 i
//   C, D    row g + 8 (i / 2), column 2q + i % 2
// The order and precision of the sum inside are the hardware's (emu/mma_model.h).
#pragma once

#include "kernels/ptx/mma_type.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// Registers of A and of B in a lane.
template <int kM, int kK, MmaType kType>
inline constexpr int kMmaA = kM* kK* mma_bytes(kType) / (4 * 32);
template <int kN, int kK, MmaType kType>
inline constexpr int kMmaB = kN* kK* mma_bytes(kType) / (4 * 32);

// mma.sync.aligned.m16n8k{16,8}.row.col.f32.{f16.f16,bf16.bf16}.f32 d, a, b, c;
// mma.sync.aligned.m16n8k{8,4}.row.col.f32.tf32.tf32.f32 d, a, b, c;    sm_80, PTX 7.0, warp
// d may be c.
template <int kM, int kN, int kK, MmaType kType>
LK_DEVICE void mma_sync(float (&d)[4], const std::uint32_t (&a)[kMmaA<kM, kK, kType>],
                        const std::uint32_t (&b)[kMmaB<kN, kK, kType>], const float (&c)[4]);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/mma.inl"
#else
#include "kernels/ptx/cuda/mma.inl"
#endif
