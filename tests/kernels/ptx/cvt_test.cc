// cvt.cuh against the conversions of tests/support/storage.h, and both backends against each other.
// Payloads of NaNs are not compared between f16 and f32. Cost: 0.3 s emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> cvt_cases();
}
namespace cuda {
std::span<const test::PtxCase> cvt_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

// To 16 bits, a NaN becomes the canonical one.
std::uint32_t narrowed(std::uint32_t bits, DType type) {
  return is_nan(bits, DType::f32) ? 0x7fffu : encode(decode(bits, kF32), type);
}

// To 10 bits of fraction, ties away from zero; what is not finite only loses its low bits.
std::uint32_t rounded_away(std::uint32_t bits) {
  constexpr int kKept = 10, kDropped = 13;
  const double x = decode(bits, kF32);
  if (!std::isfinite(x)) return bits >> kDropped << kDropped;
  if (x == 0) return bits;
  const int unit = std::max(std::ilogb(x), kF32.min_exponent()) - kKept;
  return encode(std::ldexp(std::round(std::ldexp(x, -unit)), unit), kF32) | (bits & kF32.sign());
}

struct Conversion {
  const char* name;
  std::uint32_t (*expect)(const Words& in);
  bool to_f32;
};
void PrintTo(const Conversion& p, std::ostream* out) { *out << p.name; }
const Conversion kConversions[] = {
    {"cvt_f32_f16", [](const Words& w) { return encode(decode(w[0] & 0xffffu, kF16), kF32); },
     true},
    {"cvt_rn_f16_f32", [](const Words& w) { return narrowed(w[0], DType::f16); }, false},
    {"cvt_rn_bf16_f32", [](const Words& w) { return narrowed(w[0], DType::bf16); }, false},
    {"cvt_rn_f16x2_f32",
     [](const Words& w) { return narrowed(w[0], DType::f16) << 16 | narrowed(w[1], DType::f16); },
     false},
    {"cvt_rn_bf16x2_f32",
     [](const Words& w) { return narrowed(w[0], DType::bf16) << 16 | narrowed(w[1], DType::bf16); },
     false},
    {"cvt_rna_tf32_f32", [](const Words& w) { return rounded_away(w[0]); }, false},
};

// From f16: all patterns. From fp32: random bits; and around every value of each 16-bit type, the
// middles to its neighbour, one fp32 ulp to either side of these, and special values.
Words inputs_of(const Conversion& conversion, int inputs) {
  Words first;
  if (conversion.to_f32) {
    first = all_16bit_patterns();
  } else {
    first = draw(4096, 1, 5, special_bits(DType::f32));
    for (const std::uint32_t sign : {0u, kF32.sign()}) {
      for (std::uint32_t high = 0; high < 1u << 18;
           high += 1021) {  // ties of tf32, and their sides
        for (const std::uint32_t low : {0xfffu, 0x1000u, 0x1001u}) {
          first.push_back(sign | high << 13 | low);
        }
      }
    }
    for (const Format f : {kF16, kBF16}) {
      for (std::uint32_t low = 0; low < 0xff00u; low += 7) {
        const std::uint32_t middle = bits_of(float((decode(low, f) + decode(low + 1, f)) / 2));
        for (const std::uint32_t bits : {middle, middle - 1, middle + 1}) first.push_back(bits);
      }
    }
    first.resize(first.size() / 64 * 64);
  }
  Words in = first;
  for (int j = 1; j < inputs; ++j) {  // the other operands are the same words in another order
    for (std::size_t t = 0; t < first.size(); ++t) in.push_back(first[(t * 5 + 3) % first.size()]);
  }
  return in;
}

class Cvt : public testing::TestWithParam<Conversion> {};

TEST_P(Cvt, MatchesTheDefinition) {
  const PtxCase& c = find_case(emu::cvt_cases(), GetParam().name);
  const Words in = inputs_of(GetParam(), c.inputs);
  const std::size_t threads = in.size() / std::size_t(c.inputs);
  Words expected(threads);
  for (std::size_t t = 0; t < threads; ++t) {
    expected[t] = GetParam().expect(thread_words(in, threads, t));
  }
  EXPECT_TRUE(same_words(in, run_case(c, emu_device(), in), expected, threads,
                         GetParam().to_f32 ? NaNs::same_class : NaNs::same_bits));
}

TEST_P(Cvt, BackendsAgree) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  const PtxCase& c = find_case(emu::cvt_cases(), GetParam().name);
  const Words in = inputs_of(GetParam(), c.inputs);
  const std::size_t threads = in.size() / std::size_t(c.inputs);
  EXPECT_TRUE(same_words(in, run_case(find_case(cuda::cvt_cases(), c.name), cuda_device(), in),
                         run_case(c, emu_device(), in), threads,
                         GetParam().to_f32 ? NaNs::same_class : NaNs::same_bits));
#endif
}

INSTANTIATE_TEST_SUITE_P(, Cvt, testing::ValuesIn(kConversions),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace libkernels::test
