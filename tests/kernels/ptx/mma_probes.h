// Sums that tell the constants of a tensor core apart, one question each, after Fasi et al. (2021).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/ptx/mma_reference.h"

namespace libkernels::test::mma {

struct Probe {
  std::string question;
  Problem problem;  // its result in row 0, column 0
};

struct Product {
  unsigned k;
  double a, b;
};

inline Probe make_probe(const Shape& s, std::string question, double c,
                        const std::vector<Product>& products) {
  Problem p{std::vector<std::uint32_t>(kM * s.k), std::vector<std::uint32_t>(kN * s.k),
            std::vector<std::uint32_t>(kM * kN)};
  p.c[0] = encode(c, kF32);
  for (const Product& x : products) {
    p.a[x.k] = encode(x.a, s.format) << s.dropped;
    p.b[x.k] = encode(x.b, s.format) << s.dropped;
  }
  return {std::move(question), std::move(p)};
}

inline std::vector<Probe> precision_probes(const Shape& s) {
  std::vector<Probe> all;
  for (unsigned bits = 23; bits <= 27; ++bits) {
    const unsigned count = 1u << (bits - 23);
    if (count > s.k) break;
    std::vector<Product> products;
    for (unsigned k = 0; k < count; ++k)
      products.push_back({k, 0x1p-13, std::ldexp(1, 13 - int(bits))});
    all.push_back(
        make_probe(s, "kept to 2^-" + std::to_string(bits) + " beside 1, in the first products?", 1,
                   products));
    all.push_back(make_probe(s, "1 - 2^-" + std::to_string(bits) + ": truncated or rounded?", 1,
                             {{0, -0x1p-13, std::ldexp(1, 13 - int(bits))}}));
    all.push_back(make_probe(s, "-1 - 2^-" + std::to_string(bits) + ": which way?", -1,
                             {{0, -0x1p-13, std::ldexp(1, 13 - int(bits))}}));
    all.push_back(make_probe(
        s, "2.25 - 2.25 + 2^-" + std::to_string(bits) + ": is a product's exponent normalised?",
        -2.25, {{0, 1.5, 1.5}, {1, 0x1p-13, std::ldexp(1, 13 - int(bits))}}));
  }
  return all;
}

// 2^20 and its opposite: what is small beside them survives only where they have cancelled before.
inline std::vector<Probe> order_probes(const Shape& s) {
  constexpr double kLarge = 0x1p10, kSmall = 0x1p-10;
  std::vector<Probe> all;
  for (unsigned m = 2; m < s.k; ++m) {
    all.push_back(make_probe(s, "are products 0, 1 added before product " + std::to_string(m) + "?",
                             0, {{0, kLarge, kLarge}, {1, -kLarge, kLarge}, {m, kSmall, kSmall}}));
  }
  for (unsigned m = 0; m + 2 < s.k; ++m) {
    all.push_back(make_probe(
        s, "are the last two products added before product " + std::to_string(m) + "?", 0,
        {{m, kSmall, kSmall}, {s.k - 2, kLarge, kLarge}, {s.k - 1, -kLarge, kLarge}}));
  }
  for (unsigned m = 1; m < s.k; ++m) {
    all.push_back(make_probe(s, "is C added to product 0 before product " + std::to_string(m) + "?",
                             kLarge * kLarge, {{0, -kLarge, kLarge}, {m, kSmall, kSmall}}));
  }
  return all;
}

inline std::vector<Probe> edge_probes(const Shape& s) {
  const double least = std::ldexp(1, s.format.min_exponent() - s.format.mantissa_bits);
  std::vector<Probe> all{
      make_probe(s, "C = -0, products +0", -0.0, {}),
      make_probe(s, "C = -0, a product -0", -0.0, {{0, -1, 0}}),
      make_probe(s, "1 - 1", 1, {{0, -1, 1}}),
      make_probe(s, "the least subnormal of A times 1", 0, {{0, least, 1}}),
      make_probe(s, "the least subnormal of A beside 1.5 of it", 0,
                 {{0, least, 1.5}, {1, 2 * least, 1}}),
      make_probe(s, "inf - inf", HUGE_VAL, {{0, -HUGE_VAL, 1}}),
      make_probe(s, "inf * 0", 0, {{0, HUGE_VAL, 0}}),
      make_probe(s, "the least subnormal of C", 0x1p-149, {}),
  };
  if (s.format.exponent_bits < 8) return all;
  const double most = decode(kF32.infinity() - 1u, kF32);
  const std::vector<Probe> wide{
      make_probe(s, "0 times 2^100: does its exponent hide 2^-70?", 0,
                 {{0, 0x1p100, 0}, {1, 0x1p-60, 0x1p-10}}),
      make_probe(s, "the largest fp32 and half a step", most, {{0, 0x1p51, 0x1p52}}),
      make_probe(s, "the largest fp32 and a step", most, {{0, 0x1p52, 0x1p52}}),
      make_probe(s, "2^140 - 2^140 + 1", 1, {{0, 0x1p70, 0x1p70}, {1, -0x1p70, 0x1p70}}),
      make_probe(s, "2^-150 + 2^-150", 0, {{0, 0x1p-75, 0x1p-75}, {1, 0x1p-75, 0x1p-75}}),
      make_probe(s, "-2^-150", 0, {{0, -0x1p-75, 0x1p-75}}),
      make_probe(s, "2^-150 + 2^-151", 0, {{0, 0x1p-75, 0x1p-75}, {1, 0x1p-76, 0x1p-75}}),
  };
  all.insert(all.end(), wide.begin(), wide.end());
  return all;
}

inline std::vector<Probe> probes_of(const Shape& s) {
  std::vector<Probe> all = precision_probes(s);
  for (const Probe& p : order_probes(s)) all.push_back(p);
  for (const Probe& p : edge_probes(s)) all.push_back(p);
  return all;
}

}  // namespace libkernels::test::mma
