// Many sums of mma_model.h at a time, in arithmetic that vectorises.
//
// With 2^e the largest exponent among a sum's terms and f the bits kept behind it, each term is
// truncated to a multiple of q = 2^(e - f). Products have at most 22 bits, so fp32 holds them, and
// scaling by 1/q is exact: conversion to an integer is the truncation. The at most 16 (f = 25) or 32
// (f = 13) of them, each below 2^(f + 2), add up in 32 bits. What leaves the range where that holds
// (and what is not finite) goes through mma_block.
#include "kernels/ptx/emu/wgmma_tile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/ptx/emu/core.h"

namespace libkernels::emulator {
namespace {

constexpr int kLanesF32 = 8;
using Floats = float __attribute__((vector_size(kLanesF32 * 4)));
using Ints = std::int32_t __attribute__((vector_size(kLanesF32 * 4)));
using Doubles = double __attribute__((vector_size(kLanesF32 * 8)));
using Longs = std::int64_t __attribute__((vector_size(kLanesF32 * 8)));

constexpr std::uint32_t kExponentMask = 0x7f800000, kMinNormal = 0x00800000;
constexpr int kFractionBits = 23, kBias = 127, kDoubleFractionBits = 52;
// Largest exponents of sums that the fast way can do: q and its inverse are normal numbers, what a
// product loses to underflow is below q, and nothing overflows.
constexpr float kSmallest = 0x1p-100f, kLargest = 0x1p+118f;

struct Decoded {
  float value, power;
};

float power_of_f32(std::uint32_t bits) {
  bits &= kExponentMask;
  return std::bit_cast<float>(bits ? bits : kMinNormal);
}

Decoded decode_f16(std::uint32_t bits) {
  const float value = f32_from_f16(std::uint16_t(bits));
  if (value == 0) return {value, 0x1p-126f};
  const std::uint32_t power = std::bit_cast<std::uint32_t>(value) & kExponentMask;
  constexpr float kSmallestPower = 0x1p-14f;
  const float p = std::bit_cast<float>(power);
  return {value, p < kSmallestPower ? kSmallestPower : p};
}

// By the model's own decoding, which knows e4m3 and e5m2.
Decoded decode_by_model(MmaInput type, std::uint32_t bits) {
  MmaVector v;
  v.decode(type, &bits, 1);
  if (!v.finite) {
    return {std::bit_cast<float>(kExponentMask), std::bit_cast<float>(kExponentMask)};
  }
  const float power = std::bit_cast<float>(std::uint32_t(v.exponent[0] + kBias) << kFractionBits);
  const float value = float(v.significand[0]) * power / float(1 << v.fraction_bits);
  return {value, power};
}

using Table = std::array<Decoded, 256>;
Table make_table(MmaInput type) {
  Table table;
  for (std::uint32_t i = 0; i < table.size(); ++i) table[i] = decode_by_model(type, i);
  return table;
}

Decoded decode_one(MmaInput type, std::uint32_t bits) {
  static const Table e4m3 = make_table(MmaInput::e4m3), e5m2 = make_table(MmaInput::e5m2);
  constexpr std::uint32_t kIgnoredOfTf32 = 0x1fff;
  switch (type) {
    case MmaInput::f16:
      return decode_f16(bits);
    case MmaInput::bf16:
      bits <<= 16;
      return {std::bit_cast<float>(bits), power_of_f32(bits)};
    case MmaInput::tf32:
      bits &= ~kIgnoredOfTf32;
      return {std::bit_cast<float>(bits), power_of_f32(bits)};
    case MmaInput::e4m3:
      return e4m3[bits];
    default:
      return e5m2[bits];
  }
}

template <class T>
void load_row(const unsigned char* bytes, std::uint32_t* bits) {
  T row[kWgmmaRowBytes / sizeof(T)];
  std::memcpy(row, bytes, sizeof(row));
  for (std::size_t k = 0; k < std::size(row); ++k) bits[k] = row[k];
}

// float(x), towards zero to so many bits behind the leading one; x holds normal fp32 or 0.
[[gnu::always_inline]] inline void truncate(const Doubles& x, int kept, float* result) {
  const Longs mask = Longs{} + (std::int64_t(-1) << (kDoubleFractionBits - kept));
  const Floats f = __builtin_convertvector((Doubles)((Longs)x & mask), Floats);
  std::memcpy(result, &f, sizeof(f));
}

// Eight results of one row: columns j to j + 7. False if some of them need the slow way.
template <int kK>
[[gnu::always_inline]] inline bool sum_fast(const MmaNumerics& numerics, const float* a,
                                            const float* a_powers, const Floats* b,
                                            const Floats* b_powers, float* d, bool add) {
  Floats c{};
  if (add) std::memcpy(&c, d, sizeof(c));
  const Ints c_power = (Ints)c & std::int32_t(kExponentMask);
  const Ints min_normal = Ints{} + std::int32_t(kMinNormal);
  Floats largest = (Floats)(c_power > min_normal ? c_power : min_normal);
  for (int k = 0; k < kK; ++k) {
    const Floats power = b_powers[k] * a_powers[k];
    largest = largest > power ? largest : power;
  }
  const Ints outside = (largest < kSmallest) | (largest > kLargest);
  std::int64_t any[sizeof(Ints) / 8];
  std::memcpy(any, &outside, sizeof(any));
  if (any[0] | any[1] | any[2] | any[3]) return false;

  // 2^e -> 2^(f - e) and 2^(e - f), in the bits.
  const Ints exponent = (Ints)largest;
  const std::int32_t f = numerics.fraction_bits << kFractionBits;
  const Floats inverse = (Floats)((2 * kBias << kFractionBits) + f - exponent);
  const Floats unit = (Floats)(exponent - f);
  Ints sum{};
  for (int k = 0; k < kK; ++k) {
    sum += __builtin_convertvector(b[k] * a[k] * inverse, Ints);
  }
  const Ints c_term = __builtin_convertvector(c * inverse, Ints);
  const Doubles total =
      __builtin_convertvector(sum, Doubles) + __builtin_convertvector(c_term, Doubles);
  truncate(total * __builtin_convertvector(unit, Doubles), numerics.output_bits, d);
  return true;
}

void sum_slow(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b, int row,
              int column, float* d, bool add) {
  const MmaVector x = a.vector(row);
  for (int j = 0; j < kLanesF32; ++j) {
    // The fill of a tile's outside is worth a short way.
    const bool zero =
        (a.is_zero(row) && b.is_finite(column + j)) || (b.is_zero(column + j) && a.is_finite(row));
    if (zero && (!add || d[j] == 0)) {
      d[j] = 0;
      continue;
    }
    const std::uint32_t c = add ? std::bit_cast<std::uint32_t>(d[j]) : 0;
    d[j] = std::bit_cast<float>(mma_block(numerics, x, b.vector(column + j), a.k(), c));
  }
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LK_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define LK_VECTORS
#endif

template <int kK>
[[gnu::always_inline]] inline void tile(const MmaNumerics& numerics, const WgmmaOperand& a,
                                        const WgmmaOperand& b, bool add, float* d) {
  float rows[kWgmmaM][kK], row_powers[kWgmmaM][kK];
  for (int i = 0; i < kWgmmaM; ++i) {
    for (int k = 0; k < kK; ++k) rows[i][k] = a.values(k)[i], row_powers[i][k] = a.powers(k)[i];
  }
  const int n = b.rows();
  for (int j = 0; j < n; j += kLanesF32) {
    Floats columns[kK], column_powers[kK];
    for (int k = 0; k < kK; ++k) {
      std::memcpy(&columns[k], b.values(k) + j, sizeof(Floats));
      std::memcpy(&column_powers[k], b.powers(k) + j, sizeof(Floats));
    }
    for (int i = 0; i < kWgmmaM; ++i) {
      float* at = d + i * n + j;
      if (!sum_fast<kK>(numerics, rows[i], row_powers[i], columns, column_powers, at, add)) {
        sum_slow(numerics, a, b, i, j, at, add);
      }
    }
  }
}

LK_VECTORS void tile_16(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b,
                        bool add, float* d) {
  tile<16>(numerics, a, b, add, d);
}
LK_VECTORS void tile_8(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b,
                       bool add, float* d) {
  tile<8>(numerics, a, b, add, d);
}
LK_VECTORS void tile_32(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b,
                        bool add, float* d) {
  tile<32>(numerics, a, b, add, d);
}

}  // namespace

void WgmmaOperand::decode(MmaInput type, const unsigned char* bytes, int rows) {
  type_ = type;
  rows_ = rows;
  const int es = type == MmaInput::tf32 ? 4 : type <= MmaInput::bf16 ? 2 : 1;
  k_ = kWgmmaRowBytes / es;
  for (int r = 0; r < rows; ++r, bytes += kWgmmaRowBytes) {
    if (es == 4) {
      load_row<std::uint32_t>(bytes, bits_[r]);
    } else if (es == 2) {
      load_row<std::uint16_t>(bytes, bits_[r]);
    } else {
      load_row<std::uint8_t>(bytes, bits_[r]);
    }
    float largest = 0, largest_power = 0;
    for (int k = 0; k < k_; ++k) {
      const Decoded x = decode_one(type, bits_[r][k]);
      values_[k][r] = x.value;
      powers_[k][r] = x.power;
      largest = std::max(largest, std::fabs(x.value));
      largest_power = std::max(largest_power, x.power);
    }
    finite_[r] = largest_power < std::numeric_limits<float>::infinity();
    zero_[r] = largest == 0 && finite_[r];
  }
}

MmaVector WgmmaOperand::vector(int row) const {
  MmaVector v;
  v.decode(type_, bits_[row], k_);
  return v;
}

void wgmma_tile(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b, bool add,
                float* d) {
  switch (a.k()) {
    case 8:
      return tile_8(numerics, a, b, add, d);
    case 16:
      return tile_16(numerics, a, b, add, d);
    default:
      return tile_32(numerics, a, b, add, d);
  }
}

}  // namespace libkernels::emulator
