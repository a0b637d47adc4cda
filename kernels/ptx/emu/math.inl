#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE float ex2_approx_f32(float x) { return emulator::ex2_approx(x); }
// .ftz: a subnormal argument or result becomes a zero of its sign.
LK_DEVICE float flushed(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}
LK_DEVICE float ex2_approx_ftz_f32(float x) { return flushed(emulator::ex2_approx(flushed(x))); }
LK_DEVICE float rcp_approx_ftz_f32(float x) { return flushed(emulator::rcp_approx(flushed(x))); }
LK_DEVICE float lg2_approx_f32(float x) { return emulator::lg2_approx(x); }
LK_DEVICE float rcp_approx_f32(float x) { return emulator::rcp_approx(x); }
LK_DEVICE float rsqrt_approx_f32(float x) { return emulator::rsqrt_approx(x); }
LK_DEVICE float tanh_approx_f32(float x) { return emulator::tanh_approx(x); }

// What max.NaN and min.NaN return for any NaN.
inline constexpr std::uint32_t kCanonicalNaN = 0x7fffffffu;

// +0 counts as greater than -0. A NaN loses against a number; two make the canonical one.
LK_DEVICE float max_f32(float a, float b) {
  if (a != a) return b != b ? std::bit_cast<float>(kCanonicalNaN) : b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
LK_DEVICE float min_f32(float a, float b) {
  if (a != a) return b != b ? std::bit_cast<float>(kCanonicalNaN) : b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
LK_DEVICE float max_NaN_f32(float a, float b) {
  if (a != a || b != b) return std::bit_cast<float>(kCanonicalNaN);
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
LK_DEVICE float min_NaN_f32(float a, float b) {
  if (a != a || b != b) return std::bit_cast<float>(kCanonicalNaN);
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

// Of both halves of a word by its own: F of two fp32, exact in the type that they come from. The
// canonical NaN there is 0x7fff.
template <class Decode, class Encode, class F>
LK_DEVICE std::uint32_t of_halves(std::uint32_t a, std::uint32_t b, Decode decode, Encode encode,
                                  F f) {
  const auto half = [&](int shift) {
    const float d = f(decode(std::uint16_t(a >> shift)), decode(std::uint16_t(b >> shift)));
    return std::uint32_t(d != d ? std::uint16_t{0x7fff} : encode(d)) << shift;
  };
  return half(16) | half(0);
}
LK_DEVICE float f32_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t(bits) << 16);
}
LK_DEVICE std::uint32_t max_NaN_f16x2(std::uint32_t a, std::uint32_t b) {
  return of_halves(a, b, emulator::f32_from_f16, emulator::f16_from_f32, max_NaN_f32);
}
LK_DEVICE std::uint32_t max_NaN_bf16x2(std::uint32_t a, std::uint32_t b) {
  return of_halves(a, b, f32_from_bf16, emulator::bf16_from_f32, max_NaN_f32);
}
LK_DEVICE std::uint32_t min_f16x2(std::uint32_t a, std::uint32_t b) {
  return of_halves(a, b, emulator::f32_from_f16, emulator::f16_from_f32, min_f32);
}
LK_DEVICE std::uint32_t min_bf16x2(std::uint32_t a, std::uint32_t b) {
  return of_halves(a, b, f32_from_bf16, emulator::bf16_from_f32, min_f32);
}

// A product of two halves is exact in fp32.
LK_DEVICE std::uint32_t mul_rn_f16x2(std::uint32_t a, std::uint32_t b) {
  const auto half = [&](int shift) {
    const float product = emulator::f32_from_f16(std::uint16_t(a >> shift)) *
                          emulator::f32_from_f16(std::uint16_t(b >> shift));
    return std::uint32_t(emulator::f16_from_f32(product)) << shift;
  };
  return half(16) | half(0);
}

// Bit 3 of a selector replicates the sign of the byte that bits 0 to 2 pick.
LK_DEVICE std::uint32_t prmt_b32(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = std::uint64_t(b) << 32 | a;
  std::uint32_t d = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t pick = selector >> (4 * i);
    std::uint32_t byte = std::uint32_t(bytes >> (8 * (pick & 7))) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * i);
  }
  return d;
}

LK_DEVICE std::uint32_t shf_r_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  return std::uint32_t((std::uint64_t(hi) << 32 | lo) >> (n & 31));
}
LK_DEVICE std::uint32_t shf_l_wrap_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  return std::uint32_t(((std::uint64_t(hi) << 32 | lo) << (n & 31)) >> 32);
}
LK_DEVICE std::uint32_t shf_l_clamp_b32(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) {
  return std::uint32_t(((std::uint64_t(hi) << 32 | lo) << (n < 32 ? n : 32)) >> 32);
}
LK_DEVICE std::uint64_t mul_hi_u64(std::uint64_t a, std::uint64_t b) {
  return std::uint64_t((static_cast<unsigned __int128>(a) * b) >> 64);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
