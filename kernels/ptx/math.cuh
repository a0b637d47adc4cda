// Arithmetic that C++ has no operator for. Included by ptx.cuh only.
//
// Fused multiply-add is fmaf() and absolute value fabsf(), as in C++: kernels are compiled with
// -fmad=false, so nothing else fuses. Functions without ftz in their name keep subnormals.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// ex2.approx.f32 d, x;        2^x, at most 2 ulp off                    sm_20, thread
LK_DEVICE float ex2_approx_f32(float x);

// ex2.approx.ftz.f32 d, x;    the same, subnormal arguments and results become 0  sm_20, thread
// One instruction where the form above takes four (sm_90).
LK_DEVICE float ex2_approx_ftz_f32(float x);

// lg2.approx.f32 d, x;        log2 x, 2^-22 absolute on (0.5, 2), else relative   sm_20, thread
LK_DEVICE float lg2_approx_f32(float x);

// rcp.approx.f32 d, x;        1 / x, at most 1 ulp off                  sm_20, thread
LK_DEVICE float rcp_approx_f32(float x);

// rcp.approx.ftz.f32 d, x;    the same, subnormal arguments and results become 0  sm_20, thread
LK_DEVICE float rcp_approx_ftz_f32(float x);

// rsqrt.approx.f32 d, x;      x^-0.5, relative 2^-22.9                  sm_20, thread
LK_DEVICE float rsqrt_approx_f32(float x);

// tanh.approx.f32 d, x;       relative 2^-11                            sm_75, thread
LK_DEVICE float tanh_approx_f32(float x);

// max.f32 d, a, b;            the other one if one is NaN; -0 is below +0  sm_10, thread
LK_DEVICE float max_f32(float a, float b);

// min.f32 d, a, b;            the other one if one is NaN; -0 is below +0  sm_10, thread
LK_DEVICE float min_f32(float a, float b);

// max.NaN.f32 d, a, b;        NaN (canonical) if either is NaN          sm_80, thread
LK_DEVICE float max_NaN_f32(float a, float b);

// min.NaN.f32 d, a, b;        NaN (canonical) if either is NaN          sm_80, thread
LK_DEVICE float min_NaN_f32(float a, float b);

// max.NaN.f16x2 d, a, b;      two halves, each as max.NaN.f32           sm_80, thread
LK_DEVICE std::uint32_t max_NaN_f16x2(std::uint32_t a, std::uint32_t b);

// max.NaN.bf16x2 d, a, b;     two bf16, each as max.NaN.f32             sm_80, thread
LK_DEVICE std::uint32_t max_NaN_bf16x2(std::uint32_t a, std::uint32_t b);

// min.f16x2 d, a, b;          two halves, each as min.f32               sm_80, thread
LK_DEVICE std::uint32_t min_f16x2(std::uint32_t a, std::uint32_t b);

// min.bf16x2 d, a, b;         two bf16, each as min.f32                 sm_80, thread
LK_DEVICE std::uint32_t min_bf16x2(std::uint32_t a, std::uint32_t b);

// mul.rn.f16x2 d, a, b;       two halves, subnormals kept               sm_53, thread
LK_DEVICE std::uint32_t mul_rn_f16x2(std::uint32_t a, std::uint32_t b);

// prmt.b32 d, a, b, selector; bytes of {b, a} picked by 4-bit indices   sm_20, thread
LK_DEVICE std::uint32_t prmt_b32(std::uint32_t a, std::uint32_t b, std::uint32_t selector);

// shf.r.wrap.b32 d, lo, hi, n;   low word of {hi, lo} >> (n & 31)       sm_32, thread
LK_DEVICE std::uint32_t shf_r_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n);

// shf.l.wrap.b32 d, lo, hi, n;   high word of {hi, lo} << (n & 31)      sm_32, thread
LK_DEVICE std::uint32_t shf_l_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n);

// shf.l.clamp.b32 d, lo, hi, n;  high word of {hi, lo} << min(n, 32)    sm_32, thread
LK_DEVICE std::uint32_t shf_l_clamp_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n);

// mul.hi.u64 d, a, b;         high 64 bits of a b                       sm_20, thread
LK_DEVICE std::uint64_t mul_hi_u64(std::uint64_t a, std::uint64_t b);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/math.inl"
#else
#include "kernels/ptx/cuda/math.inl"
#endif
