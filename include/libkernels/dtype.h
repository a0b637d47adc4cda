// Storage types, as values and as a map from C++ types.
//
// This header and arch.h are the only public headers that device code includes, so both must stay
// free of everything but constexpr code.
#pragma once

#include <cstddef>
#include <cstdint>

// The CUDA storage types are only named here; include <cuda_fp16.h>, <cuda_bf16.h> or <cuda_fp8.h>
// where you need them complete.
struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace libkernels {

// A storage type. The values are part of the ABI (lk_dtype in c_api.h) and never change. 0 is no
// type, so that a zeroed descriptor is refused instead of being read as fp32.
enum class DType : std::int32_t {
  f32 = 1,      // IEEE binary32
  f16 = 2,      // IEEE binary16
  bf16 = 3,     // bfloat16
  f8_e4m3 = 4,  // OCP e4m3 (matmul inputs only)
  f8_e5m2 = 5,  // OCP e5m2 (matmul inputs only)
};

// True for the five values above: a DType that crossed an ABI may hold anything.
constexpr bool is_valid(DType t) {
  return static_cast<std::int32_t>(t) >= 1 && static_cast<std::int32_t>(t) <= 5;
}

// Bytes of one element; 0 for an invalid value.
constexpr std::size_t size_of(DType t) {
  switch (t) {
    case DType::f32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::f8_e4m3:
    case DType::f8_e5m2:
      return 1;
  }
  return 0;
}

// "f32", "f16", "bf16", "f8_e4m3", "f8_e5m2", or "invalid".
constexpr const char* name(DType t) {
  switch (t) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::f8_e4m3:
      return "f8_e4m3";
    case DType::f8_e5m2:
      return "f8_e5m2";
  }
  return "invalid";
}

// dtype_of<T>::value is the DType stored as T; other types have no `value`.
template <class T>
struct dtype_of {};
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<__half> {
  static constexpr DType value = DType::f16;
};
template <>
struct dtype_of<__nv_bfloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct dtype_of<__nv_fp8_e4m3> {
  static constexpr DType value = DType::f8_e4m3;
};
template <>
struct dtype_of<__nv_fp8_e5m2> {
  static constexpr DType value = DType::f8_e5m2;
};

}  // namespace libkernels
