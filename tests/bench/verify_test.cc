#include "bench/verify.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace libkernels::bench {
namespace {

TEST(Verify, ReferenceKeepsTheNegativeTail) {
  EXPECT_DOUBLE_EQ(gelu_reference(0, GeluForm::tanh), 0);
  EXPECT_DOUBLE_EQ(gelu_reference(0, GeluForm::erf), 0);
  EXPECT_NEAR(gelu_reference(1, GeluForm::erf), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(gelu_reference(1, GeluForm::tanh), 0.8411919906082768, 1e-8);
  EXPECT_NEAR(gelu_reference(-5, GeluForm::erf) / -1.4332578593959615e-06, 1, 1e-12);
  EXPECT_LT(gelu_reference(-10, GeluForm::tanh), 0);
  EXPECT_DOUBLE_EQ(gelu_reference(100, GeluForm::tanh), 100);
}

TEST(Verify, UlpsOfTheTypes) {
  EXPECT_EQ(ulp(DType::f32, 1.0), std::ldexp(1, -23));
  EXPECT_EQ(ulp(DType::f16, 1.5), std::ldexp(1, -10));
  EXPECT_EQ(ulp(DType::bf16, -2.0), std::ldexp(1, -6));
  EXPECT_EQ(ulp(DType::f32, 0), std::ldexp(1, -149));
  EXPECT_EQ(ulp(DType::f16, 1e-8), std::ldexp(1, -24));
}

TEST(Verify, ValuesAreNormalAndTheSameForASeed) {
  constexpr std::size_t kCount = 20000;
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const auto values = normal_values(type, kCount, 1);
    EXPECT_EQ(values, normal_values(type, kCount, 1));
    EXPECT_NE(values, normal_values(type, kCount, 2));
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      const double v = decode(type, values.data(), i);
      sum += v;
      squares += v * v;
    }
    EXPECT_NEAR(sum / kCount, 0, 0.05);
    EXPECT_NEAR(squares / kCount, 1, 0.05);
  }
}

std::vector<float> exact(const GeluReference& reference) {
  return {reference.y.begin(), reference.y.end()};
}

TEST(Verify, AcceptsTheRoundedReferenceAndSeesOneWrongElement) {
  for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
    const GeluReference reference(DType::f32, DType::f32, form, 1000, 7);
    std::vector<float> y = exact(reference);
    const ErrorSummary right = compare(reference, y.data(), y.size());
    EXPECT_LE(right.max_ulp, 0.5);
    EXPECT_LE(right.max_fraction, 0.25);
    y[777] += 1;
    const ErrorSummary wrong = compare(reference, y.data(), y.size());
    EXPECT_EQ(wrong.worst, 777u);
    EXPECT_GT(wrong.max_fraction, 1);
    EXPECT_GT(wrong.max_baseline_fraction, 1);
  }
}

TEST(Verify, CountsPoison) {
  const GeluReference reference(DType::f32, DType::f32, GeluForm::tanh, 100, 7);
  std::vector<float> y = exact(reference);
  std::memset(&y[3], 0xff, sizeof(float));
  EXPECT_EQ(compare(reference, y.data(), y.size()).not_finite, 1u);
}

}  // namespace
}  // namespace libkernels::bench
