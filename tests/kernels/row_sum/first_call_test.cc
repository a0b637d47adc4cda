// What must work as the very first library call of a process: a process a case (first_call.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/row_sum/row_sum_fixture.h"
#include "tests/support/first_call.h"

namespace libkernels::test {
namespace {

// Small integers, whose sums are exact.
Bits draw(const Layout& layout, DType type, std::uint64_t seed) {
  Bits bits(std::size_t(layout.elements()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = encode(double(random_bits(seed, i) % 8), type);
  }
  return bits;
}
Bits exact_sums(const Layout& layout, DType type, const Bits& bits) {
  Bits expected;
  for (std::int64_t r = 0; r < layout.rows; ++r) {
    const auto at = [&](std::int64_t c) {
      return decode(bits[std::size_t(r * layout.cols + c)], type);
    };
    expected.push_back(encode(reference::row_sum(layout.cols, at).sum, DType::f32));
  }
  return expected;
}

class FirstRowSum {
 public:
  FirstRowSum(const Backend& backend, DType type, const Layout& layout)
      : backend_(backend),
        type_(type),
        x_(backend.device(), type, layout),
        y_(backend.device(), DType::f32, row_major(layout.rows, 1)) {}

  void draw(std::uint64_t seed) {
    bits_ = test::draw(x_.layout(), type_, seed);
    x_.write(bits_);
  }
  void run(cudaStream_t stream) {
    const lk_cmatrix x = x_.cview();
    const lk_matrix y = y_.view();
    backend_.row_sum.run({.x = &x, .y = &y, .options = nullptr, .stream = stream});
  }
  testing::AssertionResult right() const {
    return bits_equal(y_.read(), exact_sums(x_.layout(), type_, bits_), DType::f32);
  }

 private:
  const Backend& backend_;
  DType type_;
  StridedMatrix x_, y_;
  Bits bits_;
};

// Rows that are split: the scratch, allocated on the stream, is a part of the graph.
TEST(RowSumFirstCall, I4GraphCapture) {
  check_first_capture([](const Backend& backend) {
    return FirstRowSum(backend, DType::bf16, row_major(3, 200001));
  });
}

// Each thread with another type, path and shape.
class RowSumFirstCallThreads : public FirstCallThreads {};

TEST_P(RowSumFirstCallThreads, I7SixteenThreads) {
  check(16, 3, [](const Backend& backend, int t) {
    const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
    const std::int64_t cols = std::int64_t{7} << t % 8;
    FirstRowSum call(backend, type,
                     t == 15      ? row_major(1, 70001)
                     : t % 4 == 3 ? col_major(5, cols)
                                  : row_major(3, cols, cols + 5, t % 5));
    call.draw(std::uint64_t(t));
    return call;
  });
}

INSTANTIATE_TEST_SUITE_P(, RowSumFirstCallThreads, testing::ValuesIn(backends()), backend_name);

}  // namespace
}  // namespace libkernels::test
