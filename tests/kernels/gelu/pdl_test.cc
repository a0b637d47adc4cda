// A chain of calls as programmatic dependents of one another computes what the plain chain does:
// each waits for the data of the one before, and before it overwrites what that one still reads.
// Cost: 1 s emulated, where a kernel that does not wait is a fault; 4 s on a GPU, which may overlap
// the calls.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/kernels/gelu/gelu_fixture.h"
#include "tests/support/fill.h"

namespace libkernels::test {
namespace {

constexpr int kLinks = 8;

class GeluPdl : public GeluTest {
 protected:
  // x to y to x to y ... on one stream, then the contents of x.
  static Bits chain(const Bits& bits, bool pdl) {
    const Layout layout = row_major(1, std::int64_t(bits.size()));
    StridedMatrix x(device(), param().x_type, layout, bits);
    StridedMatrix y(device(), param().y_type, layout);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(device().stream_create(&stream), cudaSuccess);
    lk_gelu_options o = options();
    o.call.pdl = pdl;
    for (int link = 0; link < kLinks; ++link) {
      StridedMatrix& from = link % 2 == 0 ? x : y;
      StridedMatrix& to = link % 2 == 0 ? y : x;
      const lk_cmatrix in = from.cview();
      const lk_matrix out = to.view();
      param().kernel.backend->gelu.run(
          {.x = &in, .y = &out, .options = &o, .stream = stream, .pin = param().kernel.info->name});
    }
    EXPECT_EQ(device().stream_synchronize(stream), cudaSuccess);
    EXPECT_EQ(device().stream_destroy(stream), cudaSuccess);
    EXPECT_TRUE(x.gaps_intact());
    EXPECT_TRUE(y.gaps_intact());
    return x.read();
  }

  static void expect_same(std::size_t elements, int trials) {
    const Bits bits = normal_bits(elements, param().x_type, 11);
    const Bits plain = chain(bits, false);
    ASSERT_NE(plain, bits);
    for (int trial = 0; trial < (emulated() ? 1 : trials); ++trial) {
      ASSERT_TRUE(bits_equal(chain(bits, true), plain, param().y_type)) << elements;
    }
  }
};

// One wave: the dependents are triggered early.
TEST_P(GeluPdl, AChainOfSmallCalls) { expect_same(20011, 20); }

// Several waves on any device: they are not.
TEST_P(GeluPdl, AChainOfLargeCalls) { expect_same(emulated() ? 120011 : 3000017, 4); }

INSTANTIATE_TEST_SUITE_P(, GeluPdl, testing::ValuesIn(gelu_params([](const GeluParam& p) {
                           return p.x_type == p.y_type && p.form == LK_GELU_TANH;
                         })),
                         gelu_name);

}  // namespace
}  // namespace libkernels::test
