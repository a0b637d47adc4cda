// wgmma on the host: operands by row and column, and the sums of a Hopper tensor core in doubles,
// with the constants of the published models as parameters, so that a GPU that differs says which
// ones are its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kernels/ptx/mma_reference.h"
#include "tests/kernels/ptx/wgmma_case.h"

namespace libkernels::test::wgmma {

inline constexpr int kM = 64, kStepBytes = 32;

// ---- Element types ----------------------------------------------------------------------------

struct Type {
  Format format;
  int bytes;
  int dropped;   // low bits that the instruction ignores
  bool has_inf;  // e4m3 has none, and one NaN a sign
};

inline Type type_of(std::string_view name) {
  if (name == "f16") return {kF16, 2, 0, true};
  if (name == "bf16") return {kBF16, 2, 0, true};
  if (name == "tf32") return {mma::kTF32, 4, 13, true};
  if (name == "e4m3") return {{4, 3}, 1, 0, false};
  return {{5, 2}, 1, 0, true};
}

inline double value_of(const Type& t, std::uint32_t bits) {
  bits >>= t.dropped;
  if (t.has_inf) return decode(bits, t.format);
  // The exponent that others keep for inf and NaN is an ordinary one.
  const std::uint32_t fraction = bits & 7u, biased = bits >> 3 & 15u;
  if (fraction == 7 && biased == 15) return std::numeric_limits<double>::quiet_NaN();
  if (biased < 15) return decode(bits, t.format);
  const double v = std::ldexp(1 + fraction / 8.0, 15 - 7);
  return bits & 0x80u ? -v : v;
}

// ---- Tiles ------------------------------------------------------------------------------------

// Elements as the low bits of words, and the bytes that the kernel reads.
struct Operand {
  Type type;
  int rows, k;
  std::vector<std::uint32_t> bits;  // [rows, k]

  std::vector<unsigned char> bytes() const {
    std::vector<unsigned char> all(bits.size() * std::size_t(type.bytes));
    for (std::size_t i = 0; i < bits.size(); ++i) {
      std::memcpy(&all[i * std::size_t(type.bytes)], &bits[i], std::size_t(type.bytes));
    }
    return all;
  }
};

struct Problem {
  Operand a, b;
  std::vector<std::uint32_t> c;  // [64, n]
};

inline Operand draw_operand(const std::string& kind, const Type& t, int rows, int steps,
                            std::uint64_t seed) {
  Operand o{t, rows, steps * kStepBytes / t.bytes, {}};
  const std::size_t count = std::size_t(o.rows) * std::size_t(o.k);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t noise = random_word(seed + 7, i) & ((1u << t.dropped) - 1u);
    o.bits.push_back(mma::draw_element(kind, t.format, seed, i) << t.dropped | noise);
  }
  if (kind ==
      "cancelling") {  // in each product the second half takes back the first, but for a bit
    const std::size_t k = std::size_t(kStepBytes / t.bytes);
    for (std::size_t i = 0; i < count; ++i) {
      if (i % k < k / 2) continue;
      const std::size_t row = i / std::size_t(o.k);
      const bool is_a = rows == kM && seed % 2 == 1;
      const std::uint32_t flip = is_a ? t.format.sign() : row % 2 && i % 3 == 0 ? 1u : 0u;
      o.bits[i] = o.bits[i - k / 2] ^ flip << t.dropped;
    }
  }
  return o;
}

inline Problem draw_problem(const std::string& kind, const WgmmaCase& c, std::uint64_t seed) {
  Problem p{draw_operand(kind, type_of(c.a), kM, c.steps, 4 * seed + 1),
            draw_operand(kind, type_of(c.b), c.n, c.steps, 4 * seed + 2),
            {}};
  for (std::size_t i = 0; i < std::size_t(kM * c.n); ++i) {
    p.c.push_back(mma::draw_element(kind, kF32, 4 * seed + 3, i));
    if (kind == "cancelling" && i % 3 == 0) p.c.back() = 0;
  }
  return p;
}

// ---- The model --------------------------------------------------------------------------------

struct Model {
  int block_bytes;    // of K that are added at once
  int fraction_bits;  // kept of each product at the largest exponent
  int output_bits;    // kept of the sum behind its leading one
  bool operator==(const Model&) const = default;
};

// arXiv 2511.10909 (MMA-Sim), Hopper.
inline Model published_model(const Type& a) {
  return a.bytes == 1 ? Model{kStepBytes, 13, 13} : Model{kStepBytes, 25, 23};
}

struct Element {
  double value;
  mma::Scaled scaled;
};
inline std::vector<Element> elements(const Operand& o) {
  constexpr int kZeroExponent = -126;
  std::vector<Element> all;
  for (const std::uint32_t bits : o.bits) {
    const double v = value_of(o.type, bits);
    all.push_back({v, std::isfinite(v) ? mma::scaled(v, o.type.format, kZeroExponent)
                                       : mma::Scaled{0, kZeroExponent}});
  }
  return all;
}

inline std::uint32_t block(const Model& m, const Element* a, const Element* b, int n,
                           std::uint32_t c_bits) {
  const double c = decode(c_bits, kF32);
  double plain = c;
  for (int i = 0; i < n; ++i) plain += a[i].value * b[i].value;
  if (std::isnan(plain)) return 0x7fffffffu;
  if (std::isinf(plain)) return encode(plain, kF32);
  const mma::Scaled start = mma::scaled(c, kF32, -126);
  int largest = start.exponent;
  for (int i = 0; i < n; ++i) {
    largest = std::max(largest, a[i].scaled.exponent + b[i].scaled.exponent);
  }
  const auto aligned = [&](double significand, int exponent) {
    return std::trunc(std::ldexp(significand, m.fraction_bits + exponent - largest));
  };
  double sum = aligned(start.significand, start.exponent);
  for (int i = 0; i < n; ++i) {
    sum += aligned(a[i].scaled.significand * b[i].scaled.significand,
                   a[i].scaled.exponent + b[i].scaled.exponent);
  }
  if (sum == 0) return 0;
  const double value = std::ldexp(sum, largest - m.fraction_bits);
  const int exponent = std::max(std::ilogb(value), kF32.min_exponent());
  if (exponent > kF32.bias()) return encode(value > 0 ? HUGE_VAL : -HUGE_VAL, kF32);
  const double kept = std::trunc(std::ldexp(value, m.output_bits - exponent));
  if (kept == 0) return value < 0 ? kF32.sign() : 0;
  return encode(std::ldexp(kept, exponent - m.output_bits), kF32);
}

// One result of D.
inline std::uint32_t result(const Model& m, const Problem& p, const std::vector<Element>& a,
                            const std::vector<Element>& b, int row, int column, bool scale_d) {
  const int n = p.b.rows, k = p.a.k, of_block = m.block_bytes / p.a.type.bytes;
  std::uint32_t sum = scale_d ? p.c[std::size_t(row * n + column)] : 0;
  for (int first = 0; first < k; first += of_block) {
    sum = block(m, &a[std::size_t(row * k + first)], &b[std::size_t(column * k + first)], of_block,
                sum);
  }
  return sum;
}

}  // namespace libkernels::test::wgmma
