// Calls as programmatic dependents of one another compute what plain ones do: each waits for the
// data of the one before, and before it overwrites what that one still reads.
// Cost: 1 s emulated, where a kernel that does not wait is a fault; 2 s on a GPU, which may overlap
// the calls.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

class RowSumPdl : public RowSumTest {
 protected:
  void SetUp() override {
    RowSumTest::SetUp();
    if (!IsSkipped()) {
      ASSERT_EQ(device().stream_create(&stream_), cudaSuccess);
    }
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    EXPECT_EQ(device().stream_destroy(stream_), cudaSuccess);
  }
  void enqueue(const lk_cmatrix& x, const lk_matrix& y, bool pdl) {
    lk_row_sum_options o = LK_OPTIONS_INIT(lk_row_sum_options);
    o.call.pdl = pdl;
    param().kernel.backend->row_sum.run(make_call(x, y, o, stream_));
  }
  void wait() { EXPECT_EQ(device().stream_synchronize(stream_), cudaSuccess); }

  // Sums of 16, of these sums again, and so on down to one, all of it twice over the same memory.
  Bits chain(const Bits& bits, bool pdl) {
    constexpr std::int64_t kCols = 16;
    std::vector<std::unique_ptr<StridedMatrix>> links;
    std::int64_t rows = std::int64_t(bits.size()) / kCols;
    links.push_back(
        std::make_unique<StridedMatrix>(device(), param().x_type, row_major(rows, kCols), bits));
    for (; rows > 0; rows /= kCols) {
      links.push_back(std::make_unique<StridedMatrix>(device(), param().y_type, column(rows)));
    }
    for (int round = 0; round < 2; ++round) {
      lk_cmatrix x = links[0]->cview();
      for (std::size_t i = 1; i < links.size(); ++i) {
        enqueue(x, links[i]->view(), pdl);
        x = links[i]->cview();
        x.rows = x.rows / kCols;
        x.cols = x.row_stride = kCols;
      }
    }
    wait();
    Bits all;
    for (std::size_t i = 1; i < links.size(); ++i) {
      const Bits sums = links[i]->read();
      all.insert(all.end(), sums.begin(), sums.end());
      EXPECT_TRUE(links[i]->gaps_intact());
    }
    return all;
  }

  cudaStream_t stream_ = nullptr;
};

TEST_P(RowSumPdl, AChainOfSmallCalls) {
  if (param().x_type != param().y_type) GTEST_SKIP() << "sums are the next link's elements";
  const Bits bits = normal(4096, 16, 11);
  const Bits plain = chain(bits, false);
  for (int trial = 0; trial < (emulated() ? 1 : 20); ++trial) {
    ASSERT_TRUE(bits_equal(chain(bits, true), plain, param().y_type));
  }
}

// Each path, also that of chunks, whose second pass reads what the first one wrote.
TEST_P(RowSumPdl, EveryPath) {
  const std::int64_t v = per_vector();
  for (const Layout& layout :
       {row_major(300, 17), row_major(40, 2 * v), row_major(40, 100 * v), row_major(9, 700 * v + 1),
        row_major(2, 2 * 8192 * v + 7), col_major(40, 99), col_major(300, 9),
        Layout{40, 33, 2, 80, 0}, Layout{3, 33, 66, 2, 0}}) {
    const Bits bits = normal(layout.rows, layout.cols, 12);
    const Bits plain = sums(layout, bits);
    StridedMatrix x(device(), param().x_type, layout, bits);
    StridedMatrix y(device(), param().y_type, column(layout.rows));
    for (int i = 0; i < 3; ++i) enqueue(x.cview(), y.view(), true);
    wait();
    EXPECT_TRUE(bits_equal(y.read(), plain, param().y_type)) << show(layout);
    EXPECT_TRUE(y.gaps_intact());
  }
}

INSTANTIATE_TEST_SUITE_P(, RowSumPdl, testing::ValuesIn(row_sum_params()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
