// Division by a multiplication (kernels/common/divide.h) against the division it stands for.
// Cost: below a second.
#include "kernels/common/divide.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace libkernels {
namespace {

// What divide.cuh does on the device.
std::int64_t quotient(std::int64_t n, const Divider& d) {
  const std::uint64_t high =
      d.multiplier != 0
          ? std::uint64_t((static_cast<unsigned __int128>(std::uint64_t(n)) * d.multiplier) >> 64)
          : std::uint64_t(n);
  return std::int64_t(high >> d.shift);
}

constexpr std::int64_t kMost = INT64_MAX;

std::vector<std::int64_t> divisors() {
  std::vector<std::int64_t> list;
  for (std::int64_t d = 1; d <= 300; ++d) list.push_back(d);
  for (int bit = 8; bit < 63; ++bit) {
    const std::int64_t power = std::int64_t{1} << bit;
    for (std::int64_t around = -2; around <= 2; ++around) list.push_back(power + around);
  }
  list.push_back(kMost);
  list.push_back(kMost - 1);
  return list;
}

TEST(Divide, AgreesNextToEveryMultiple) {
  std::mt19937_64 random(7);
  for (const std::int64_t d : divisors()) {
    const Divider divider = make_divider(d);
    EXPECT_EQ(divider.divisor, d);
    for (int draw = 0; draw < 200; ++draw) {
      const std::int64_t n = std::int64_t(random() >> 1) >> (random() % 63);
      const std::int64_t multiple = n - n % d;
      for (const std::int64_t m : {n, multiple, multiple - 1, kMost, kMost - 1, std::int64_t{0}}) {
        if (m < 0) continue;
        ASSERT_EQ(quotient(m, divider), m / d) << m << " / " << d;
      }
    }
  }
}

}  // namespace
}  // namespace libkernels
