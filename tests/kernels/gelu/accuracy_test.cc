// GeLU's accuracy: every 16-bit input; in fp32 every exponent of both signs and a dense sample of
// where the functions bend, at the borders of the bound's cases and where results turn subnormal.
// Cost: 2 s emulated, all cases together.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/kernels/gelu/gelu_fixture.h"

namespace libkernels::test {
namespace {

Bits fp32_sample() {
  Bits bits = special_bits(DType::f32);
  const auto add = [&](std::uint32_t b) {
    bits.push_back(b);
    bits.push_back(b | 0x80000000u);
  };
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint32_t mantissa = i == 0   ? 0u
                                     : i == 1 ? 0x7fffffu
                                              : random_word(exponent, i) & 0x7fffffu;
      add(exponent << 23 | mantissa);
    }
  }
  // Neighbourhoods: the bound's border, the last exact forms, the ends of the normal results (tanh
  // -10.06, erf -13) and of all results (-10.6, -14.2).
  for (const float centre : {0.5f, 1.0f, 2.0f, 3.0f, 5.0f, 9.0f, 10.0f, 10.06f, 10.5f, 10.6f, 13.0f,
                             13.1f, 14.0f, 14.1f, 14.2f, 14.4f, 15.0f}) {
    for (std::uint32_t i = 0; i < 16; ++i) {
      add(bits_of(centre) - i);
      add(bits_of(centre) + i);
      add(bits_of(centre * (1 + 0.001f * float(i))));
    }
  }
  for (std::uint64_t i = 0; i < 20000; ++i) {
    bits.push_back(bits_of(float(-15 + 30 * random_unit(17, i))));
    bits.push_back(bits_of(float(random_normal(18, i))));
  }
  return bits;
}

Bits inputs(DType type) { return type == DType::f32 ? fp32_sample() : all_16bit_patterns(); }

class GeluAccuracy : public GeluTest {
 protected:
  static void check(double scale) {
    const Bits x = inputs(param().x_type);
    const Bits got = evaluate(x);
    double largest = 0;
    EXPECT_TRUE(within_bound(
        x, param().x_type, got, param().y_type, [](double v) { return reference(v); },
        [scale](double v, double r) { return bound(v, r, scale); }, &largest));
    RecordProperty("largest_error_of_bound", std::to_string(largest));
    std::printf("%s: at most %.3f of the bound\n", show(param()).c_str(), largest);
  }
};

TEST_P(GeluAccuracy, WithinTheBound) { check(1); }

TEST_P(GeluAccuracy, WithinTwiceTheBoundAtWorstApproximations) {
  if (!emulated()) GTEST_SKIP() << "approximations at their worst are emulated only";
  const SettingsScope restore;
  emulator::settings().worst_ulp = true;
  check(2);
}

INSTANTIATE_TEST_SUITE_P(, GeluAccuracy, testing::ValuesIn(gelu_params()), gelu_name);

}  // namespace
}  // namespace libkernels::test
