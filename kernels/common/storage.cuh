// Storage types in registers: fp32 values in and out of 32-bit words.
//
// A word holds Storage<T>::kPerWord elements, the lower index in the low half. Every conversion to
// a 16-bit type rounds to nearest even, once; every conversion from one is exact.
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
  static LK_DEVICE float load(Element bits) { return bit_cast<float>(bits); }
  static LK_DEVICE Element store(float x) { return bit_cast<Element>(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) { x[0] = load(word); }
  static LK_DEVICE std::uint32_t pack(const float* x) { return store(x[0]); }
};

template <>
struct Storage<DType::f16> {
  using Element = std::uint16_t;
  static constexpr int kPerWord = 2;
  static LK_DEVICE float load(Element bits) { return ptx::cvt_f32_f16(bits); }
  static LK_DEVICE Element store(float x) { return ptx::cvt_rn_f16_f32(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) {
    x[0] = load(Element(word));
    x[1] = load(Element(word >> 16));
  }
  static LK_DEVICE std::uint32_t pack(const float* x) { return ptx::cvt_rn_f16x2_f32(x[1], x[0]); }
};

// bf16 is the high half of an fp32.
template <>
struct Storage<DType::bf16> {
  using Element = std::uint16_t;
  static constexpr int kPerWord = 2;
  static LK_DEVICE float load(Element bits) { return bit_cast<float>(std::uint32_t(bits) << 16); }
  static LK_DEVICE Element store(float x) { return ptx::cvt_rn_bf16_f32(x); }
  static LK_DEVICE void unpack(std::uint32_t word, float* x) {
    x[0] = bit_cast<float>(word << 16);
    x[1] = bit_cast<float>(word & 0xffff0000u);
  }
  static LK_DEVICE std::uint32_t pack(const float* x) { return ptx::cvt_rn_bf16x2_f32(x[1], x[0]); }
};

}  // namespace libkernels::inline LK_BACKEND
