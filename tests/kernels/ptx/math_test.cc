// math.cuh: exact instructions bit for bit against arithmetic of this file, approximations within
// the bounds that the PTX manual documents; then, on a GPU, both backends against each other.
// Cost: 0.2 s emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <ostream>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> math_cases();
}
namespace cuda {
std::span<const test::PtxCase> math_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

constexpr std::size_t kThreads = 4096;
constexpr std::uint32_t kCanonicalNaN = 0x7fffffffu;

// ---- Exact instructions -------------------------------------------------------------------------

// max and min: +0 counts as larger than -0. A NaN wins in the .NaN forms and loses in the others,
// unless both are; what comes out is the canonical one.
std::uint32_t extreme(const Words& w, bool maximum, bool propagate_nan) {
  const bool nan_a = is_nan(w[0], DType::f32), nan_b = is_nan(w[1], DType::f32);
  if ((nan_a && nan_b) || (propagate_nan && (nan_a || nan_b))) return kCanonicalNaN;
  if (nan_a || nan_b) return w[nan_a ? 1 : 0];
  const float a = float_of(w[0]), b = float_of(w[1]);
  if (a == 0 && b == 0) {
    const bool negative =
        maximum ? std::signbit(a) && std::signbit(b) : std::signbit(a) || std::signbit(b);
    return negative ? 0x80000000u : 0u;
  }
  return maximum == (a > b) ? w[0] : w[1];
}

// The same of both halves of a word, for a type of 16 bits.
template <DType kType, bool kMaximum, bool kPropagateNaN>
std::uint64_t extreme_of_halves(const Words& w) {
  constexpr std::uint32_t kCanonicalHalf = 0x7fffu;
  std::uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const std::uint32_t a = w[0] >> shift & 0xffffu, b = w[1] >> shift & 0xffffu;
    const auto widened = [](std::uint32_t half) { return bits_of(float(decode(half, kType))); };
    const std::uint32_t d = extreme({widened(a), widened(b)}, kMaximum, kPropagateNaN);
    result |= (d == kCanonicalNaN ? kCanonicalHalf : d == widened(a) ? a : b) << shift;
  }
  return result;
}

std::uint64_t product_of_halves(const Words& w) {
  std::uint32_t result = 0;
  for (int shift = 0; shift < 32; shift += 16) {
    const double product =
        decode(w[0] >> shift & 0xffffu, kF16) * decode(w[1] >> shift & 0xffffu, kF16);
    result |= (std::isnan(product) ? 0x7fffu : encode(product, kF16)) << shift;
  }
  return result;
}

std::uint64_t permute_bytes(const Words& w) {
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibble = (w[2] >> (4 * i)) & 15u;
    std::uint32_t byte = (w[(nibble & 7u) >= 4 ? 1 : 0] >> (8 * (nibble & 3u))) & 255u;
    if ((nibble & 8u) != 0) byte = (byte & 128u) != 0 ? 255u : 0u;  // replicate the sign
    result |= byte << (8 * i);
  }
  return result;
}

std::uint64_t wide(const Words& w) { return std::uint64_t(w[1]) << 32 | w[0]; }

std::uint64_t fused(const Words& w) {
  return bits_of(std::fmaf(float_of(w[0]), float_of(w[1]), float_of(w[2])));
}
std::uint64_t rounded_twice(const Words& w) {
  const volatile float product = float_of(w[0]) * float_of(w[1]);
  return bits_of(product + float_of(w[2]));
}

std::uint64_t high_product(const Words& w) {
  const std::uint64_t a = std::uint64_t(w[1]) << 32 | w[0], b = std::uint64_t(w[3]) << 32 | w[2];
  const std::uint64_t a_low = a & 0xffffffffu, a_high = a >> 32, b_low = b & 0xffffffffu,
                      b_high = b >> 32;
  const std::uint64_t middle = a_high * b_low + (a_low * b_low >> 32);  // no carry is lost
  const std::uint64_t other = a_low * b_high + (middle & 0xffffffffu);
  return a_high * b_high + (middle >> 32) + (other >> 32);
}

struct Exact {
  const char* name;
  int inputs;
  NaNs nans;
  std::uint64_t (*expect)(const Words& in);  // word 0 in the low half
};
void PrintTo(const Exact& p, std::ostream* out) { *out << p.name; }
const Exact kExact[] = {
    {"max_f32", 2, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return extreme(w, true, false); }},
    {"min_f32", 2, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return extreme(w, false, false); }},
    {"max_NaN_f32", 2, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return extreme(w, true, true); }},
    {"min_NaN_f32", 2, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return extreme(w, false, true); }},
    {"max_NaN_f16x2", 2, NaNs::same_bits, extreme_of_halves<DType::f16, true, true>},
    {"max_NaN_bf16x2", 2, NaNs::same_bits, extreme_of_halves<DType::bf16, true, true>},
    {"min_f16x2", 2, NaNs::same_bits, extreme_of_halves<DType::f16, false, false>},
    {"min_bf16x2", 2, NaNs::same_bits, extreme_of_halves<DType::bf16, false, false>},
    {"mul_rn_f16x2", 2, NaNs::same_bits, product_of_halves},
    {"prmt_b32", 3, NaNs::same_bits, permute_bytes},
    {"shf_r_wrap_b32", 3, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return std::uint32_t(wide(w) >> (w[2] & 31u)); }},
    {"shf_l_wrap_b32", 3, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return (wide(w) << (w[2] & 31u)) >> 32; }},
    {"shf_l_clamp_b32", 3, NaNs::same_bits,
     [](const Words& w) -> std::uint64_t { return (wide(w) << (w[2] < 32 ? w[2] : 32)) >> 32; }},
    {"fmaf", 3, NaNs::same_class, fused},
    {"mul_add", 3, NaNs::same_class, rounded_twice},
    {"mul_hi_u64", 4, NaNs::same_bits, high_product},
};

Words exact_inputs(const Exact& e) {
  Words edges = special_bits(DType::f32);
  const std::string name = e.name;
  if (name.ends_with("f16x2")) {
    edges = special_bits(name.ends_with("bf16x2") ? DType::bf16 : DType::f16);
    for (std::size_t i = 0; i < edges.size(); ++i) edges[i] |= edges[i * 7 % edges.size()] << 16;
  }
  if (e.inputs >= 3) edges = {0u, 1u, 31u, 32u, 33u, 0x3210u, 0x7654u, 0xfedcu, 0x80ff7f01u};
  Words in = draw(kThreads, e.inputs, 11, edges);
  if (name == "fmaf" || name == "mul_add") {
    // Near-cancelling triples, on which fusing shows: c = -(a * b), rounded.
    for (std::size_t t = kThreads / 2; t < kThreads; ++t) {
      const float a = float(random_normal(1, t)), b = float(random_normal(2, t));
      in[t] = bits_of(a);
      in[kThreads + t] = bits_of(b);
      in[2 * kThreads + t] = bits_of(-(a * b));
    }
  }
  return in;
}

class MathExact : public testing::TestWithParam<Exact> {};

TEST_P(MathExact, MatchesTheDefinition) {
  const Exact& e = GetParam();
  const Words in = exact_inputs(e);
  const PtxCase& c = find_case(emu::math_cases(), e.name);
  ASSERT_EQ(c.inputs, e.inputs);
  Words expected(kThreads * std::size_t(c.outputs));
  for (std::size_t t = 0; t < kThreads; ++t) {
    const std::uint64_t words = e.expect(thread_words(in, kThreads, t));
    expected[t] = std::uint32_t(words);
    if (c.outputs == 2) expected[kThreads + t] = std::uint32_t(words >> 32);
  }
  EXPECT_TRUE(same_words(in, run_case(c, emu_device(), in), expected, kThreads, e.nans));
}

TEST_P(MathExact, BackendsAgree) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const Exact& e = GetParam();
  const Words in = exact_inputs(e);
  EXPECT_TRUE(same_words(in, run_case(find_case(cuda::math_cases(), e.name), cuda_device(), in),
                         run_case(find_case(emu::math_cases(), e.name), emu_device(), in), kThreads,
                         e.nans));
#endif
}

INSTANTIATE_TEST_SUITE_P(, MathExact, testing::ValuesIn(kExact),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- Approximations -----------------------------------------------------------------------------

double relative(double exact, int log2_bound) { return std::ldexp(std::fabs(exact), log2_bound); }

struct Approximation {
  const char* name;
  double (*exact)(double x);
  // Largest documented error, without the half ulp that even the nearest value may be off.
  double (*bound)(double x, double exact);
  bool ftz = false;  // subnormal arguments and results become 0
};
void PrintTo(const Approximation& p, std::ostream* out) { *out << p.name; }
const Approximation kApproximations[] = {
    {"ex2_approx_f32", [](double x) { return std::exp2(x); },
     [](double, double y) { return 2 * ulp_at(y, kF32); }},
    {"ex2_approx_ftz_f32", [](double x) { return std::exp2(x); },
     [](double, double y) { return 2 * ulp_at(y, kF32); }, true},
    {"lg2_approx_f32", [](double x) { return std::log2(x); },
     [](double x, double y) { return x > 0.5 && x < 2 ? std::ldexp(1.0, -22) : relative(y, -22); }},
    {"rcp_approx_f32", [](double x) { return 1 / x; },
     [](double, double y) { return ulp_at(y, kF32); }},
    {"rcp_approx_ftz_f32", [](double x) { return 1 / x; },
     [](double, double y) { return ulp_at(y, kF32); }, true},
    {"rsqrt_approx_f32", [](double x) { return 1 / std::sqrt(x); },
     [](double, double y) { return std::fabs(y) * std::exp2(-22.9); }},
    {"tanh_approx_f32", [](double x) { return std::tanh(x); },
     [](double, double y) { return relative(y, -11); }},
};

Words approximation_inputs() {
  Words in = draw(kThreads, 1, 23, special_bits(DType::f32));
  // Where the functions are interesting: a third near 0 .. 20, a third over ex2's whole range.
  for (std::size_t t = 64; t < kThreads; ++t) {
    if (t % 3 == 0) in[t] = bits_of(float(random_normal(3, t) * 4));
    if (t % 3 == 1) in[t] = bits_of(float(random_unit(4, t) * 290 - 155));
  }
  const float edges[] = {-126.f, -126.5f,    -127.f, -148.f, -149.f, -149.5f,     -150.f,    -151.f,
                         127.f,  127.99999f, 128.f,  0.5f,   2.f,    0.99999994f, 1.0000001f};
  for (std::size_t i = 0; i < std::size(edges); ++i) in[40 + i] = bits_of(edges[i]);
  return in;
}

constexpr double kLeastNormal = 0x1p-126;

double argument(const Approximation& a, std::uint32_t bits) {
  const double x = decode(bits, kF32);
  return a.ftz && std::fabs(x) < kLeastNormal ? std::copysign(0.0, x) : x;
}

// Special values exactly, the rest within `scale` times the bound, or half an ulp.
testing::AssertionResult approximates(const Approximation& a, const Words& in, const Words& got,
                                      double scale, double* largest_ulps) {
  Failures failures;
  double worst = 0;
  for (std::size_t t = 0; t < in.size(); ++t) {
    const double x = argument(a, in[t]), y = a.exact(x), value = decode(got[t], kF32);
    bool right = false;
    if (std::isnan(y)) {
      right = std::isnan(value);
    } else if (x == 0 || std::isinf(x) || std::isinf(y)) {  // documented values, exact
      right = value == y && std::signbit(value) == std::signbit(y);
    } else {
      // A finite result beyond the largest fp32 may round to infinity, and only there.
      const double allowed = std::max(scale * a.bound(x, y), 0.5000001 * ulp_at(y, kF32));
      const bool overflows = std::fabs(y) + allowed >= std::ldexp(1.0, 128) * (1 - 0x1p-25);
      const bool flushes = a.ftz && std::fabs(y) - allowed < kLeastNormal;
      if (std::isinf(value)) {
        right = overflows && (value > 0) == (y > 0);
      } else if (a.ftz && std::fabs(value) < kLeastNormal) {
        right = flushes && value == 0;
      } else {
        right = std::fabs(value - y) <= allowed;
      }
      if (std::isfinite(value) && std::isfinite(y)) {
        worst = std::max(worst, std::fabs(value - y) / ulp_at(y, kF32));
      }
    }
    if (!right) {
      failures.add(t, "x", show(in[t], DType::f32), "got", show(got[t], DType::f32), "exact", y);
    }
  }
  if (largest_ulps != nullptr) *largest_ulps = worst;
  return failures.result(in.size());
}

class MathApproximate : public testing::TestWithParam<Approximation> {};

TEST_P(MathApproximate, EmulatedIsCorrectlyRounded) {
  const Words in = approximation_inputs();
  const Words got = run_case(find_case(emu::math_cases(), GetParam().name), emu_device(), in);
  EXPECT_TRUE(approximates(GetParam(), in, got, 0, nullptr));
}

// At its worst, the emulated instruction stays within the bound, and comes near it.
TEST_P(MathApproximate, EmulatedAtItsWorst) {
  const SettingsScope restore;
  emulator::settings().worst_ulp = true;
  const Words in = approximation_inputs();
  const Words got = run_case(find_case(emu::math_cases(), GetParam().name), emu_device(), in);
  EXPECT_TRUE(approximates(GetParam(), in, got, 1, nullptr));
  std::size_t far = 0, counted = 0;
  for (std::size_t t = 0; t < in.size(); ++t) {
    const double x = argument(GetParam(), in[t]), y = GetParam().exact(x),
                 value = decode(got[t], kF32);
    if (!std::isfinite(y) || !std::isfinite(value) || std::fabs(y) < 1e-30) continue;
    ++counted;
    far += std::fabs(value - y) > 0.25 * GetParam().bound(x, y) ? 1 : 0;
  }
  EXPECT_GT(2 * far, counted) << "worst_ulp hardly changes the results";
}

TEST_P(MathApproximate, GpuIsWithinTheBound) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const Words in = approximation_inputs();
  const Words got = run_case(find_case(cuda::math_cases(), GetParam().name), cuda_device(), in);
  double largest = 0;
  EXPECT_TRUE(approximates(GetParam(), in, got, 1, &largest));
  const Words emulated = run_case(find_case(emu::math_cases(), GetParam().name), emu_device(), in);
  std::int64_t steps = 0;
  for (std::size_t t = 0; t < in.size(); ++t) {
    const double a = decode(got[t], kF32), b = decode(emulated[t], kF32);
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    steps = std::max(steps, ulp_steps(got[t], emulated[t], kF32));
  }
  RecordProperty("largest_error_ulps", std::to_string(largest));
  std::printf("%s: at most %.3f ulp from exact, %lld steps from the emulator\n", GetParam().name,
              largest, static_cast<long long>(steps));
#endif
}

INSTANTIATE_TEST_SUITE_P(, MathApproximate, testing::ValuesIn(kApproximations),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace libkernels::test
