// Loads and stores of global and shared memory. Included by ptx.cuh only.
//
// T is one of the access types below and fixes the width: the pointer must be aligned to sizeof(T).
//   std::uint8_t .b8   std::uint16_t .b16   std::uint32_t .b32   uint2 .v2.b32   uint4 .v4.b32
// Values travel as their bits: an fp32 is read as Storage<DType::f32>::decode(ld_global(p)), with p
// a const std::uint32_t* (kernels/common/storage.cuh).
#pragma once

#include <concepts>

#include "kernels/ptx/cache_policy.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

template <class T>
concept AccessType = std::same_as<T, std::uint8_t> || std::same_as<T, std::uint16_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, uint2> || std::same_as<T, uint4>;

// 32 bytes, for the 256-bit accesses of sm_100.
struct alignas(32) uint8x32 {
  std::uint32_t v[8];
};

// ld.global.{b8,b16,b32,v2.b32,v4.b32} d, [p];                          sm_50, thread
template <AccessType T>
LK_DEVICE T ld_global(const T* p);

// ld.global.nc.{b8,b16,b32,v2.b32,v4.b32} d, [p];                       sm_50, thread
// The memory must not be written by anyone while the kernel runs.
template <AccessType T>
LK_DEVICE T ld_global_nc(const T* p);

// ld.global.nc.L1::no_allocate.{b8,b16,b32,v2.b32,v4.b32} d, [p];       sm_70, thread
template <AccessType T>
LK_DEVICE T ld_global_nc_L1_no_allocate(const T* p);

// ld.global.v8.b32 d, [p];                                              sm_100, PTX 8.8, thread
LK_DEVICE uint8x32 ld_global_v8_b32(const uint8x32* p);

// st.global.{b8,b16,b32,v2.b32,v4.b32} [p], v;                          sm_50, thread
template <AccessType T>
LK_DEVICE void st_global(T* p, T v);

// st.global.v8.b32 [p], v;                                              sm_100, PTX 8.8, thread
LK_DEVICE void st_global_v8_b32(uint8x32* p, const uint8x32& v);

// ld.acquire.gpu.global.{b32,b64} d, [p];                               sm_70, PTX 6.0, thread
// T is std::uint32_t or std::uint64_t. If it reads what st.release stored, everything before that
// store happened.
template <class T>
LK_DEVICE T ld_acquire_gpu_global(const T* p);

// st.release.gpu.global.{b32,b64} [p], v;                               sm_70, PTX 6.0, thread
// T is std::uint32_t or std::uint64_t.
template <class T>
LK_DEVICE void st_release_gpu_global(T* p, T v);

// ld.relaxed.gpu.global.b64 d, [p];                                     sm_70, PTX 6.0, thread
// T is std::uint64_t, whole: what one st.relaxed stored. Orders nothing else.
template <class T>
LK_DEVICE T ld_relaxed_gpu_global(const T* p);

// st.relaxed.gpu.global.b64 [p], v;                                     sm_70, PTX 6.0, thread
template <class T>
LK_DEVICE void st_relaxed_gpu_global(T* p, T v);

// createpolicy.fractional.L2::evict_{first,last}.b64 policy, 1.0;       sm_80, PTX 7.4, thread
LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_first();
LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_last();

// ld.global.L2::cache_hint.{v2.b32,v4.b32} d, [p], policy;              sm_80, PTX 7.4, thread
template <AccessType T>
LK_DEVICE T ld_global_L2_cache_hint(const T* p, CachePolicy policy);

// st.global.L2::cache_hint.{v2.b32,v4.b32} [p], v, policy;              sm_80, PTX 7.4, thread
template <AccessType T>
LK_DEVICE void st_global_L2_cache_hint(T* p, T v, CachePolicy policy);

// ld.shared.{b8,b16,b32,v2.b32,v4.b32} d, [p];                          sm_50, thread
template <AccessType T>
LK_DEVICE T ld_shared(const T* p);

// st.shared.{b8,b16,b32,v2.b32,v4.b32} [p], v;                          sm_50, thread
template <AccessType T>
LK_DEVICE void st_shared(T* p, T v);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/ld_st.inl"
#else
#include "kernels/ptx/cuda/ld_st.inl"
#endif
