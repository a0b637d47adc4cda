// Deterministic test data: element i is a function of (seed, i) alone, so a tensor can be drawn in
// any order and any part of it again.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "tests/support/storage.h"

namespace libkernels::test {

// 64 random bits (splitmix64 of a Weyl sequence).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
constexpr std::uint32_t random_word(std::uint64_t seed, std::uint64_t index) {
  return std::uint32_t(random_bits(seed, index) >> 32);
}

// In [0, 1).
inline double random_unit(std::uint64_t seed, std::uint64_t index) {
  return std::ldexp(double(random_bits(seed, index) >> 11), -53);
}

// Mean 0, variance 1.
inline double random_normal(std::uint64_t seed, std::uint64_t index) {
  const double u = 1.0 - random_unit(seed, 2 * index);
  const double v = random_unit(seed, 2 * index + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

// n elements of a storage type, as bits.
inline std::vector<std::uint32_t> normal_bits(std::size_t n, DType type, std::uint64_t seed) {
  std::vector<std::uint32_t> bits(n);
  for (std::size_t i = 0; i < n; ++i) bits[i] = encode(random_normal(seed, i), type);
  return bits;
}

// Every pattern of a 16-bit type once: index = bits.
inline std::vector<std::uint32_t> all_16bit_patterns() {
  std::vector<std::uint32_t> bits(1u << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = std::uint32_t(i);
  return bits;
}

// Zeros, ones, infinities, NaNs, the ends of the subnormal and normal ranges; both signs.
inline std::vector<std::uint32_t> special_bits(DType type) {
  const Format f = format_of(type);
  const std::uint32_t least_normal = 1u << f.mantissa_bits;
  const std::uint32_t magnitudes[] = {
      0u,
      1u,
      2u,
      least_normal - 1u,
      least_normal,
      least_normal + 1u,
      encode(1.0, f) - 1u,
      encode(1.0, f),
      encode(1.0, f) + 1u,
      encode(2.0, f),
      f.infinity() - 1u,
      f.infinity(),
      f.infinity() + 1u,                             // a signalling NaN
      f.infinity() | (1u << (f.mantissa_bits - 1)),  // a quiet one
      f.sign() - 1u,
  };
  std::vector<std::uint32_t> bits;
  for (const std::uint32_t m : magnitudes) {
    bits.push_back(m);
    bits.push_back(m | f.sign());
  }
  return bits;
}

}  // namespace libkernels::test
