#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

// Loads of memory that others may write stay in order (volatile, "memory"); .nc loads are pure.

template <>
LK_DEVICE std::uint8_t ld_global<std::uint8_t>(const std::uint8_t* p) {
  std::uint32_t d;
  asm volatile("ld.global.b8 %0, [%1];" : "=r"(d) : "l"(p) : "memory");
  return std::uint8_t(d);
}
template <>
LK_DEVICE std::uint16_t ld_global<std::uint16_t>(const std::uint16_t* p) {
  std::uint16_t d;
  asm volatile("ld.global.b16 %0, [%1];" : "=h"(d) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE std::uint32_t ld_global<std::uint32_t>(const std::uint32_t* p) {
  std::uint32_t d;
  asm volatile("ld.global.b32 %0, [%1];" : "=r"(d) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE uint2 ld_global<uint2>(const uint2* p) {
  uint2 d;
  asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE uint4 ld_global<uint4>(const uint4* p) {
  uint4 d;
  asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "l"(p)
               : "memory");
  return d;
}

template <>
LK_DEVICE std::uint8_t ld_global_nc<std::uint8_t>(const std::uint8_t* p) {
  std::uint32_t d;
  asm("ld.global.nc.b8 %0, [%1];" : "=r"(d) : "l"(p));
  return std::uint8_t(d);
}
template <>
LK_DEVICE std::uint16_t ld_global_nc<std::uint16_t>(const std::uint16_t* p) {
  std::uint16_t d;
  asm("ld.global.nc.b16 %0, [%1];" : "=h"(d) : "l"(p));
  return d;
}
template <>
LK_DEVICE std::uint32_t ld_global_nc<std::uint32_t>(const std::uint32_t* p) {
  std::uint32_t d;
  asm("ld.global.nc.b32 %0, [%1];" : "=r"(d) : "l"(p));
  return d;
}
template <>
LK_DEVICE uint2 ld_global_nc<uint2>(const uint2* p) {
  uint2 d;
  asm("ld.global.nc.v2.b32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "l"(p));
  return d;
}
template <>
LK_DEVICE uint4 ld_global_nc<uint4>(const uint4* p) {
  uint4 d;
  asm("ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
      : "l"(p));
  return d;
}

template <>
LK_DEVICE std::uint8_t ld_global_nc_L1_no_allocate<std::uint8_t>(const std::uint8_t* p) {
  std::uint32_t d;
  asm("ld.global.nc.L1::no_allocate.b8 %0, [%1];" : "=r"(d) : "l"(p));
  return std::uint8_t(d);
}
template <>
LK_DEVICE std::uint16_t ld_global_nc_L1_no_allocate<std::uint16_t>(const std::uint16_t* p) {
  std::uint16_t d;
  asm("ld.global.nc.L1::no_allocate.b16 %0, [%1];" : "=h"(d) : "l"(p));
  return d;
}
template <>
LK_DEVICE std::uint32_t ld_global_nc_L1_no_allocate<std::uint32_t>(const std::uint32_t* p) {
  std::uint32_t d;
  asm("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(d) : "l"(p));
  return d;
}
template <>
LK_DEVICE uint2 ld_global_nc_L1_no_allocate<uint2>(const uint2* p) {
  uint2 d;
  asm("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "l"(p));
  return d;
}
template <>
LK_DEVICE uint4 ld_global_nc_L1_no_allocate<uint4>(const uint4* p) {
  uint4 d;
  asm("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
      : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
      : "l"(p));
  return d;
}

template <>
LK_DEVICE void st_global<std::uint8_t>(std::uint8_t* p, std::uint8_t v) {
  asm volatile("st.global.b8 [%0], %1;" ::"l"(p), "r"(std::uint32_t(v)) : "memory");
}
template <>
LK_DEVICE void st_global<std::uint16_t>(std::uint16_t* p, std::uint16_t v) {
  asm volatile("st.global.b16 [%0], %1;" ::"l"(p), "h"(v) : "memory");
}
template <>
LK_DEVICE void st_global<std::uint32_t>(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
template <>
LK_DEVICE void st_global<uint2>(uint2* p, uint2 v) {
  asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(p), "r"(v.x), "r"(v.y) : "memory");
}
template <>
LK_DEVICE void st_global<uint4>(uint4* p, uint4 v) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z),
               "r"(v.w)
               : "memory");
}

LK_DEVICE uint8x32 ld_global_v8_b32(const uint8x32* p) {
  uint8x32 d;
  asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
               : "=r"(d.v[0]), "=r"(d.v[1]), "=r"(d.v[2]), "=r"(d.v[3]), "=r"(d.v[4]), "=r"(d.v[5]),
                 "=r"(d.v[6]), "=r"(d.v[7])
               : "l"(p)
               : "memory");
  return d;
}
LK_DEVICE void st_global_v8_b32(uint8x32* p, const uint8x32& v) {
  asm volatile("st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(p), "r"(v.v[0]),
               "r"(v.v[1]), "r"(v.v[2]), "r"(v.v[3]), "r"(v.v[4]), "r"(v.v[5]), "r"(v.v[6]),
               "r"(v.v[7])
               : "memory");
}

template <>
LK_DEVICE std::uint32_t ld_acquire_gpu_global<std::uint32_t>(const std::uint32_t* p) {
  std::uint32_t d;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(d) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE std::uint64_t ld_acquire_gpu_global<std::uint64_t>(const std::uint64_t* p) {
  std::uint64_t d;
  asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(d) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE void st_release_gpu_global<std::uint32_t>(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
template <>
LK_DEVICE void st_release_gpu_global<std::uint64_t>(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

template <>
LK_DEVICE std::uint64_t ld_relaxed_gpu_global<std::uint64_t>(const std::uint64_t* p) {
  std::uint64_t d;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(d) : "l"(p) : "memory");
  return d;
}
template <>
LK_DEVICE void st_relaxed_gpu_global<std::uint64_t>(std::uint64_t* p, std::uint64_t v) {
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_first() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}
LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_last() {
  CachePolicy policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy.bits));
  return policy;
}
template <>
LK_DEVICE uint2 ld_global_L2_cache_hint<uint2>(const uint2* p, CachePolicy policy) {
  uint2 d;
  asm volatile("ld.global.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
               : "=r"(d.x), "=r"(d.y)
               : "l"(p), "l"(policy.bits)
               : "memory");
  return d;
}
template <>
LK_DEVICE uint4 ld_global_L2_cache_hint<uint4>(const uint4* p, CachePolicy policy) {
  uint4 d;
  asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "l"(p), "l"(policy.bits)
               : "memory");
  return d;
}
template <>
LK_DEVICE void st_global_L2_cache_hint<uint2>(uint2* p, uint2 v, CachePolicy policy) {
  asm volatile("st.global.L2::cache_hint.v2.b32 [%0], {%1, %2}, %3;" ::"l"(p), "r"(v.x), "r"(v.y),
               "l"(policy.bits)
               : "memory");
}
template <>
LK_DEVICE void st_global_L2_cache_hint<uint4>(uint4* p, uint4 v, CachePolicy policy) {
  asm volatile("st.global.L2::cache_hint.v4.b32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(p), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w), "l"(policy.bits)
               : "memory");
}

template <>
LK_DEVICE std::uint8_t ld_shared<std::uint8_t>(const std::uint8_t* p) {
  std::uint32_t d;
  asm volatile("ld.shared.b8 %0, [%1];" : "=r"(d) : "r"(smem_address(p)) : "memory");
  return std::uint8_t(d);
}
template <>
LK_DEVICE std::uint16_t ld_shared<std::uint16_t>(const std::uint16_t* p) {
  std::uint16_t d;
  asm volatile("ld.shared.b16 %0, [%1];" : "=h"(d) : "r"(smem_address(p)) : "memory");
  return d;
}
template <>
LK_DEVICE std::uint32_t ld_shared<std::uint32_t>(const std::uint32_t* p) {
  std::uint32_t d;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(d) : "r"(smem_address(p)) : "memory");
  return d;
}
template <>
LK_DEVICE uint2 ld_shared<uint2>(const uint2* p) {
  uint2 d;
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
               : "=r"(d.x), "=r"(d.y)
               : "r"(smem_address(p))
               : "memory");
  return d;
}
template <>
LK_DEVICE uint4 ld_shared<uint4>(const uint4* p) {
  uint4 d;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w)
               : "r"(smem_address(p))
               : "memory");
  return d;
}

template <>
LK_DEVICE void st_shared<std::uint8_t>(std::uint8_t* p, std::uint8_t v) {
  asm volatile("st.shared.b8 [%0], %1;" ::"r"(smem_address(p)), "r"(std::uint32_t(v)) : "memory");
}
template <>
LK_DEVICE void st_shared<std::uint16_t>(std::uint16_t* p, std::uint16_t v) {
  asm volatile("st.shared.b16 [%0], %1;" ::"r"(smem_address(p)), "h"(v) : "memory");
}
template <>
LK_DEVICE void st_shared<std::uint32_t>(std::uint32_t* p, std::uint32_t v) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(smem_address(p)), "r"(v) : "memory");
}
template <>
LK_DEVICE void st_shared<uint2>(uint2* p, uint2 v) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(smem_address(p)), "r"(v.x), "r"(v.y)
               : "memory");
}
template <>
LK_DEVICE void st_shared<uint4>(uint4* p, uint4 v) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(smem_address(p)), "r"(v.x),
               "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
