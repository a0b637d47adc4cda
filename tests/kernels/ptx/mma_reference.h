// What the tests of mma.sync share: operands by row and column, their places in the registers of a
// warp, and the sum of a tensor core in doubles, with the constants of the published models as
// parameters, so that a GPU that differs says which ones are its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fill.h"
#include "tests/support/ptx_run.h"
#include "tests/support/storage.h"

namespace libkernels::test::mma {

inline constexpr unsigned kM = 16, kN = 8, kWarp = 32;
inline constexpr Format kTF32{8, 10};  // in the high bits of a word

struct Shape {
  Format format;
  unsigned k;
  unsigned dropped;  // low bits that the instruction ignores
};

inline Shape shape_of(std::string_view name) {  // "m16n8k16_bf16"
  const Format f = name.ends_with("bf16") ? kBF16 : name.ends_with("_f16") ? kF16 : kTF32;
  const unsigned k = name.starts_with("m16n8k16") ? 16 : name.starts_with("m16n8k8") ? 8 : 4;
  return {f, k, f.bits() == kTF32.bits() ? 13u : 0u};
}

// ---- Operands ---------------------------------------------------------------------------------

struct Problem {
  std::vector<std::uint32_t> a, b, c;  // [kM][k], [kN][k], [kM][kN]: bits
};

// The words of a warp's registers: word j of lane l at j * threads + l.
inline void scatter(const Shape& s, const Problem& p, std::size_t threads, std::uint32_t* in) {
  const unsigned per_word = s.dropped ? 1 : 2, words_a = kM * s.k / per_word / kWarp;
  const unsigned words_b = kN * s.k / per_word / kWarp;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const unsigned g = lane / 4, q = lane % 4;
    std::uint32_t* word = in + lane;
    const auto put = [&](std::uint32_t bits) { *word = bits, word += threads; };
    const auto put_elements = [&](const std::uint32_t* row, unsigned i) {
      // Four lanes hold 4 or 8 columns between them.
      const unsigned column = per_word * q + 4 * per_word * i;
      put(s.dropped ? row[column] : row[column] | row[column + 1] << 16);
    };
    for (unsigned i = 0; i < words_a; ++i) put_elements(&p.a[(g + 8 * (i % 2)) * s.k], i / 2);
    for (unsigned i = 0; i < words_b; ++i) put_elements(&p.b[g * s.k], i);
    for (unsigned i = 0; i < 4; ++i) put(p.c[(g + 8 * (i / 2)) * kN + 2 * q + i % 2]);
  }
}

inline std::vector<std::uint32_t> gather(const std::uint32_t* out, std::size_t threads) {
  std::vector<std::uint32_t> d(kM * kN);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      d[(lane / 4 + 8 * (i / 2)) * kN + 2 * (lane % 4) + i % 2] = out[i * threads + lane];
    }
  }
  return d;
}

// ---- Draws ------------------------------------------------------------------------------------

inline const std::vector<std::string>& draws() {
  static const std::vector<std::string> all = {"normal",     "near_exponents", "wide_exponents",
                                               "cancelling", "subnormal",      "special",
                                               "any_bits"};
  return all;
}

// An element of format f, in the bits of an fp32 or of 16 bits.
inline std::uint32_t draw_element(const std::string& kind, Format f, std::uint64_t seed,
                                  std::uint64_t i) {
  const std::uint32_t word = random_word(seed, i);
  const std::uint32_t mask = (f.sign() << 1) - 1u;  // 0xffffffff for fp32
  const std::uint32_t fraction = (1u << f.mantissa_bits) - 1u;
  const auto with_exponent = [&](int biased) {
    return (word & (f.sign() | fraction)) | std::uint32_t(biased) << f.mantissa_bits;
  };
  const std::uint32_t pick = random_word(seed ^ 0x5eed, i);
  if (kind == "near_exponents") return with_exponent(f.bias() - 6 + int(pick % 12));
  if (kind == "wide_exponents") return with_exponent(int(pick % (2u * unsigned(f.bias()))));
  if (kind == "subnormal") return pick % 4 == 0 ? with_exponent(f.bias()) : with_exponent(0);
  if (kind == "any_bits") return word & mask;
  if (kind == "special" && pick % 8 == 0) {
    const std::uint32_t specials[] = {
        0u, f.sign(),         f.infinity(), f.infinity() | f.sign(), f.infinity() + 1u,
        1u, f.infinity() - 1u};
    return specials[pick / 8 % std::size(specials)];
  }
  return encode(random_normal(seed, i), f);
}

inline Problem draw_problem(const std::string& kind, const Shape& s, std::uint64_t seed) {
  Problem p;
  const auto element = [&](std::uint64_t of, std::uint64_t i) {
    // Whatever the ignored bits hold must not matter.
    const std::uint32_t noise = random_word(seed + 7, i) & ((1u << s.dropped) - 1u);
    return draw_element(kind, s.format, seed * 3 + of, i) << s.dropped | noise;
  };
  for (unsigned i = 0; i < kM * s.k; ++i) p.a.push_back(element(0, i));
  for (unsigned i = 0; i < kN * s.k; ++i) p.b.push_back(element(1, i));
  for (unsigned i = 0; i < kM * kN; ++i) p.c.push_back(draw_element(kind, kF32, seed * 3 + 2, i));
  if (kind == "cancelling") {  // the second half takes back what the first one gives, but for a bit
    for (unsigned r = 0; r < kM; ++r) {
      for (unsigned i = 0; i < s.k / 2; ++i) {
        p.a[r * s.k + s.k / 2 + i] = p.a[r * s.k + i] ^ s.format.sign() << s.dropped;
      }
    }
    for (unsigned j = 0; j < kN; ++j) {
      for (unsigned i = 0; i < s.k / 2; ++i) {
        p.b[j * s.k + s.k / 2 + i] = p.b[j * s.k + i] ^ std::uint32_t(i % 3 == 0) << s.dropped;
      }
    }
    for (unsigned i = 0; i < kM * kN; i += 3) p.c[i] = 0;
  }
  return p;
}

// ---- The model --------------------------------------------------------------------------------

struct Model {
  unsigned block;     // products added at once
  int fraction_bits;  // kept of each at the largest exponent
  int zero_exponent;  // of a factor that is 0
  bool operator==(const Model&) const = default;
};

inline Model published_model(const Shape& s, int cc_major) {
  const unsigned per_16_bytes = s.dropped ? 4 : 8;
  if (cc_major >= 9) return {s.k, 25, -126};
  return {std::min(s.k, per_16_bytes), 24, -126};
}

struct Scaled {
  double significand;
  int exponent;
};
inline Scaled scaled(double x, Format f, int zero_exponent) {
  if (x == 0) return {x, zero_exponent};
  const int exponent = std::max(std::ilogb(x), f.min_exponent());
  return {std::ldexp(x, -exponent), exponent};
}

inline std::uint32_t model_block(const Model& m, const Shape& s, const std::uint32_t* a,
                                 const std::uint32_t* b, std::uint32_t c_bits) {
  const double c = decode(c_bits, kF32);
  double plain = c;
  std::vector<Scaled> terms{scaled(c, kF32, -126)};
  for (unsigned i = 0; i < m.block; ++i) {
    const double x = decode(a[i] >> s.dropped, s.format), y = decode(b[i] >> s.dropped, s.format);
    plain += x * y;
    if (!std::isfinite(x * y)) continue;
    const Scaled sx = scaled(x, s.format, m.zero_exponent);
    const Scaled sy = scaled(y, s.format, m.zero_exponent);
    terms.push_back({sx.significand * sy.significand, sx.exponent + sy.exponent});
  }
  if (std::isnan(plain)) return 0x7fffffffu;
  if (std::isinf(plain)) return encode(plain, kF32);
  int largest = terms[0].exponent;
  for (const Scaled& t : terms) largest = std::max(largest, t.exponent);
  double sum = 0;
  for (const Scaled& t : terms) {
    sum += std::trunc(std::ldexp(t.significand, m.fraction_bits + t.exponent - largest));
  }
  if (sum == 0) return 0;
  const double value = std::ldexp(sum, largest - m.fraction_bits);
  const int exponent = std::max(std::ilogb(value), kF32.min_exponent());
  if (exponent > kF32.bias()) return encode(value > 0 ? HUGE_VAL : -HUGE_VAL, kF32);
  const double truncated = std::trunc(std::ldexp(value, kF32.mantissa_bits - exponent));
  if (truncated == 0) return 0;
  return encode(std::ldexp(truncated, exponent - kF32.mantissa_bits), kF32);
}

inline std::vector<std::uint32_t> evaluate(const Model& m, const Shape& s, const Problem& p) {
  std::vector<std::uint32_t> d = p.c;
  for (unsigned r = 0; r < kM; ++r) {
    for (unsigned j = 0; j < kN; ++j) {
      for (unsigned first = 0; first < s.k; first += m.block) {
        std::uint32_t& sum = d[r * kN + j];
        sum = model_block(m, s, &p.a[r * s.k + first], &p.b[j * s.k + first], sum);
      }
    }
  }
  return d;
}

}  // namespace libkernels::test::mma
