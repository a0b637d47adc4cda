// For tests of where GeLU reads and writes: a pool of values with their results from one contiguous
// call, and a check that any pair of views gives each value those bits, and touches nothing else.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "tests/kernels/gelu/gelu_fixture.h"

namespace libkernels::test {

class GeluLayoutTest : public GeluTest {
 protected:
  struct Pool {
    Bits x, y;
  };
  // Normal values of deviation 3, and special ones. Its results' accuracy is accuracy_test.cc's.
  static const Pool& pool() {
    static std::map<std::string, Pool> pools;
    Pool& p = pools[show(param())];
    if (p.x.empty()) {
      p.x = special_bits(param().x_type);
      for (std::uint64_t i = 0; i < 994; ++i) {
        p.x.push_back(encode(3 * random_normal(9, i), param().x_type));
      }
      p.y = evaluate(p.x);
    }
    return p;
  }
  static std::size_t pick(std::int64_t i, std::uint64_t seed) {
    return random_bits(seed, std::uint64_t(i)) % pool().x.size();
  }

  // The view of x holds pool values, drawn by the place they have in memory, so that elements which
  // share a place (strides of 0) agree.
  static Bits drawn(const Layout& x, std::uint64_t seed, const Bits& from) {
    Bits bits;
    for (std::int64_t r = 0; r < x.rows; ++r) {
      for (std::int64_t c = 0; c < x.cols; ++c) bits.push_back(from[pick(x.index(r, c), seed)]);
    }
    return bits;
  }

  // False if the kernel leaves such views to the portable one.
  static bool check(const Layout& x_layout, const Layout& y_layout, int max_sms = 0,
                    std::uint64_t seed = 1) {
    SCOPED_TRACE("x " + show(x_layout) + ", y " + show(y_layout));
    const Bits x_bits = drawn(x_layout, seed, pool().x);
    StridedMatrix x(device(), param().x_type, x_layout, x_bits);
    StridedMatrix y(device(), param().y_type, y_layout);
    x.buffer().forbid_writes();  // F7
    if (!try_call(x.cview(), y.view(), max_sms)) return false;
    EXPECT_TRUE(bits_equal(y.read(), drawn(x_layout, seed, pool().y), param().y_type));
    EXPECT_TRUE(y.gaps_intact());
    EXPECT_TRUE(bits_equal(x.read(), x_bits, param().x_type)) << "the input was written";
    EXPECT_TRUE(x.gaps_intact());
    return true;
  }
};

}  // namespace libkernels::test
