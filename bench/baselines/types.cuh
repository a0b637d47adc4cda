// From a DType of a call to the kernel that has it as a template argument.
#pragma once

#include <type_traits>

#include "bench/baselines/baseline.h"
#include "kernels/common/storage.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

template <DType T>
using Type = std::integral_constant<DType, T>;

// f(Type<T>{}) for f32, f16, bf16. Throws Refusal for any other type.
template <class F>
auto with_type(DType type, F f) {
  switch (type) {
    case DType::f32:
      return f(Type<DType::f32>{});
    case DType::f16:
      return f(Type<DType::f16>{});
    case DType::bf16:
      return f(Type<DType::bf16>{});
    default:
      throw bench::Refusal(std::string("does not take ") + name(type));
  }
}

// f(input's Type, output's Type) for equal types and fp32 out of a 16-bit type.
template <class F>
auto with_types(DType in, DType out, F f) {
  return with_type(in, [&](auto in_type) {
    if (in == out) return f(in_type, in_type);
    if (out == DType::f32) return f(in_type, Type<DType::f32>{});
    throw bench::Refusal(std::string("does not write ") + name(out));
  });
}

// The same for a product's types: fp8 too, which writes f16, bf16 and fp32.
template <class F>
auto with_product_types(DType in, DType out, F f) {
  const auto of_fp8 = [&](auto in_type) {
    return with_type(out, [&](auto out_type) { return f(in_type, out_type); });
  };
  if (in == DType::f8_e4m3) return of_fp8(Type<DType::f8_e4m3>{});
  if (in == DType::f8_e5m2) return of_fp8(Type<DType::f8_e5m2>{});
  return with_types(in, out, f);
}

// Element i. e5m2 is the high byte of an fp16; e4m3, without its sign moved to where fp16 has it,
// is an fp16 whose exponent counts from 7 instead of 15. (Its NaN becomes 480: no input here has
// one.)
template <DType T>
LK_DEVICE float load(const void* p, std::int64_t i) {
  if constexpr (T == DType::f8_e4m3 || T == DType::f8_e5m2) {
    const std::uint32_t bits = ptx::ld_global(static_cast<const std::uint8_t*>(p) + i);
    if constexpr (T == DType::f8_e5m2) return ptx::cvt_f32_f16(std::uint16_t(bits << 8));
    constexpr float kBias = 256;
    return kBias * ptx::cvt_f32_f16(std::uint16_t((bits & 0x80u) << 8 | (bits & 0x7fu) << 7));
  } else {
    return Storage<T>::decode(
        ptx::ld_global(static_cast<const typename Storage<T>::Element*>(p) + i));
  }
}

template <DType T>
LK_DEVICE void store(void* p, std::int64_t i, float v) {
  ptx::st_global(static_cast<typename Storage<T>::Element*>(p) + i, Storage<T>::encode(v));
}

LK_DEVICE std::int64_t at(const bench::Strides& s, std::int64_t row, std::int64_t col) {
  return row * s.row + col * s.col;
}

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace libkernels::inline LK_BACKEND::bench_device
