// Storage types in registers: fp32 values in and out of 32-bit words.
//
// decode and encode convert one element and touch no memory; unpack and pack do it for a word,
// which holds Storage<T>::kPerWord elements, the lower index in the low half. Every conversion to a
// 16-bit type rounds to nearest even, once; every conversion from one is exact.
#pragma once

#include "include/libkernels/dtype.h"
#include "kernels/common/bits.cuh"

namespace libkernels::inline LK_BACKEND {

template <DType T>
struct Storage;

template <>
struct Storage<DType::f32> {
  using Element = std::uint32_t;
  static constexpr int kPerWord = 1;
  static LK_DEVICE float decode(Element bits) { return bit_cast<float>(bits); }
  static LK_DEVICE Element encode(float x) { return bit_cast<Element>(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) { x[0] = decode(word); }
  static LK_DEVICE std::uint32_t pack(const float* x) { return encode(x[0]); }
};

template <>
struct Storage<DType::f16> {
  using Element = std::uint16_t;
  static constexpr int kPerWord = 2;
  static LK_DEVICE float decode(Element bits) { return ptx::cvt_f32_f16(bits); }
  static LK_DEVICE Element encode(float x) { return ptx::cvt_rn_f16_f32(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) {
    x[0] = decode(Element(word));
    x[1] = decode(Element(word >> 16));
  }
  static LK_DEVICE std::uint32_t pack(const float* x) { return ptx::cvt_rn_f16x2_f32(x[1], x[0]); }
};

// bf16 is the high half of an fp32.
template <>
struct Storage<DType::bf16> {
  using Element = std::uint16_t;
  static constexpr int kPerWord = 2;
  static LK_DEVICE float decode(Element bits) { return bit_cast<float>(std::uint32_t(bits) << 16); }
  static LK_DEVICE Element encode(float x) { return ptx::cvt_rn_bf16_f32(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) {
    x[0] = bit_cast<float>(word << 16);
    x[1] = bit_cast<float>(word & 0xffff0000u);
  }
  static LK_DEVICE std::uint32_t pack(const float* x) { return ptx::cvt_rn_bf16x2_f32(x[1], x[0]); }
};

}  // namespace libkernels::inline LK_BACKEND
