#include "tests/support/storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/support/fill.h"

namespace libkernels::test {
namespace {

constexpr Format kFormats[] = {kF16, kBF16};

TEST(Storage, KnownValues) {
  EXPECT_EQ(decode(0x3c00, kF16), 1.0);
  EXPECT_EQ(decode(0x0001, kF16), std::ldexp(1.0, -24));
  EXPECT_EQ(decode(0x7bff, kF16), 65504.0);
  EXPECT_EQ(decode(0x3f80, kBF16), 1.0);
  EXPECT_EQ(decode(0xc000, kBF16), -2.0);
  EXPECT_EQ(decode(0x0001, kBF16), std::ldexp(1.0, -133));
  EXPECT_EQ(encode(65519.99, kF16), 0x7bffu);  // below the middle between 65504 and 2^16
  EXPECT_EQ(encode(65520.0, kF16), 0x7c00u);
  EXPECT_EQ(encode(-65520.0, kF16), 0xfc00u);
  EXPECT_EQ(encode(std::ldexp(1.0, -25), kF16), 0u);  // a tie, to even
  EXPECT_EQ(encode(std::ldexp(1.5, -25), kF16), 1u);
  EXPECT_EQ(encode(-0.0, kBF16), 0x8000u);
  EXPECT_TRUE(is_nan(encode(std::nan(""), kF16), DType::f16));
}

TEST(Storage, EveryPatternComesBack) {
  for (const Format f : kFormats) {
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
      const double value = decode(bits, f);
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode(value, f), bits);
    }
  }
}

// Against the definition: the middle between two neighbours goes to the even one, anything else to
// the nearer.
TEST(Storage, RoundsToNearestEven) {
  for (const Format f : kFormats) {
    for (std::uint32_t low = 0; low + 1 < f.infinity(); ++low) {
      const double a = decode(low, f), b = decode(low + 1, f), middle = (a + b) / 2;
      ASSERT_EQ(encode(middle, f), low % 2 == 0 ? low : low + 1) << low;
      ASSERT_EQ(encode(std::nextafter(middle, a), f), low) << low;
      ASSERT_EQ(encode(std::nextafter(middle, b), f), low + 1) << low;
      ASSERT_EQ(encode(-std::nextafter(middle, b), f), (low + 1) | f.sign()) << low;
    }
  }
}

TEST(Storage, Fp32AgreesWithTheCompiler) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const std::uint32_t bits = random_word(7, i);
    const float x = float_of(bits);
    if (std::isnan(x)) continue;
    ASSERT_EQ(decode(bits, kF32), double(x));
    const double y = double(x) * (1 + random_unit(8, i) * 1e-6);
    ASSERT_EQ(encode(y, kF32), bits_of(float(y)));
  }
}

TEST(Storage, UlpsCountSteps) {
  EXPECT_EQ(ulp_steps(bits_of(1.0f), bits_of(std::nextafterf(1.0f, 2.0f)), kF32), 1);
  EXPECT_EQ(ulp_steps(bits_of(0.0f), bits_of(-0.0f), kF32), 0);
  EXPECT_EQ(ulp_steps(0x00000001u, 0x80000001u, kF32), 2);
  EXPECT_EQ(ulp_at(1.0, kF32), std::ldexp(1.0, -23));
  EXPECT_EQ(ulp_at(0.0, kF16), std::ldexp(1.0, -24));
  EXPECT_EQ(ulp_at(1.9999, kBF16), std::ldexp(1.0, -7));
}

TEST(Fill, IsDeterministicAndSpread) {
  EXPECT_EQ(random_bits(1, 5), random_bits(1, 5));
  EXPECT_NE(random_bits(1, 5), random_bits(2, 5));
  double sum = 0, squares = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random_normal(3, std::uint64_t(i));
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.03);
  EXPECT_NEAR(squares / kDraws, 1, 0.05);
  EXPECT_EQ(special_bits(DType::f16).size(), special_bits(DType::f32).size());
}

}  // namespace
}  // namespace libkernels::test
