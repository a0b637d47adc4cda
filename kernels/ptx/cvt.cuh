// Conversions between storage types and fp32. Included by ptx.cuh only.
//
// 16-bit values travel as their bits, two to a register with the lower index in the low half.
// bf16 to fp32 is a shift, not an instruction of sm_80: see kernels/common/convert.cuh.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// cvt.f32.f16 d, bits;           exact                                  sm_53, thread
LK_DEVICE float cvt_f32_f16(std::uint16_t bits);

// cvt.rn.f16.f32 d, x;           to nearest even, overflow to inf       sm_53, thread
LK_DEVICE std::uint16_t cvt_rn_f16_f32(float x);

// cvt.rn.bf16.f32 d, x;          to nearest even, overflow to inf       sm_80, thread
LK_DEVICE std::uint16_t cvt_rn_bf16_f32(float x);

// cvt.rn.f16x2.f32 d, hi, lo;                                           sm_80, thread
LK_DEVICE std::uint32_t cvt_rn_f16x2_f32(float hi, float lo);

// cvt.rn.bf16x2.f32 d, hi, lo;                                          sm_80, thread
LK_DEVICE std::uint32_t cvt_rn_bf16x2_f32(float hi, float lo);

// cvt.rna.tf32.f32 d, x;         to nearest, ties away from zero        sm_80, PTX 7.0, thread
// The bits of an fp32, the low 13 of them 0. A NaN with its payload in these becomes inf.
LK_DEVICE std::uint32_t cvt_rna_tf32_f32(float x);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/cvt.inl"
#else
#include "kernels/ptx/cuda/cvt.inl"
#endif
