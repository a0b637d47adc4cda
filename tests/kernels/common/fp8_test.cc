// fp8.cuh: every fp8 value, in every place, beside every other, becomes the f16 of its value; a NaN
// becomes one. Cost: 0.3 s emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>

#include "tests/support/backends.h"
#include "tests/support/ptx_run.h"

namespace libkernels {
namespace emu {
std::span<const test::PtxCase> fp8_cases();
}
namespace cuda {
std::span<const test::PtxCase> fp8_cases();
}
}  // namespace libkernels

namespace libkernels::test {
namespace {

// By the formats' definition (OCP 8-bit floating point): e4m3 has no infinities and one NaN.
double value_of(std::uint32_t bits, bool e4m3) {
  if (!e4m3) return decode(bits, Format{5, 2});
  if ((bits & 0x7fu) == 0x7fu) return std::nan("");
  const int exponent = int(bits >> 3 & 15u);
  const double fraction = double(bits & 7u) / 8 + (exponent ? 1 : 0);
  const double magnitude = std::ldexp(fraction, (exponent ? exponent : 1) - 7);
  return bits & 0x80u ? -magnitude : magnitude;
}

bool right(std::uint32_t half, std::uint32_t bits, bool e4m3) {
  const double value = value_of(bits, e4m3);
  return std::isnan(value) ? is_nan(half, DType::f16) : half == encode(value, kF16);
}

void check(std::span<const PtxCase> cases, Device& device) {
  constexpr unsigned kPairs = 1 << 16;
  for (const PtxCase& c : cases) {
    const bool e4m3 = std::string(c.name).starts_with("e4m3");
    Words in(kPairs);
    for (unsigned pair = 0; pair < kPairs; ++pair) {  // above them, others
      in[pair] = pair | (pair * 40503u + 77u) << 16;
    }
    const Words out = run_case(c, device, in);
    Failures failures;
    for (std::size_t i = 0; i < 2 * out.size(); ++i) {
      const std::size_t t = i / 2 % kPairs, at = i / 2 / kPairs * 2 + i % 2;
      const std::uint32_t bits = in[t] >> (8 * at) & 0xff,
                          half = out[i / 2] >> (16 * (i % 2)) & 0xffff;
      if (!right(half, bits, e4m3)) {
        failures.add(i, "byte", at, "of", show(in[t], DType::f32), "got", show(half, DType::f16));
      }
    }
    EXPECT_TRUE(failures.result(2 * out.size())) << c.name;
  }
}

TEST(Fp8, EmulatedIsExact) { check(emu::fp8_cases(), emu_device()); }

TEST(Fp8, GpuIsExact) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
#if defined(LK_HAVE_CUDA)
  check(cuda::fp8_cases(), cuda_device());
#endif
}

}  // namespace
}  // namespace libkernels::test
