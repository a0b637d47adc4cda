// What must work as the very first library call of a process: a process a case (first_call.h).
// Cost: 0.2 s emulated, all cases.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"
#include "tests/support/first_call.h"

namespace libkernels::test {
namespace {

// Is y the softmax of the rows of x? No earlier call may have made a table of results.
bool is_right(const Bits& x, const Bits& y, std::int64_t rows, DType type) {
  const std::size_t cols = x.size() / std::size_t(rows);
  for (std::size_t r = 0; r < std::size_t(rows); ++r) {
    std::vector<double> row(cols);
    for (std::size_t c = 0; c < cols; ++c) row[c] = decode(x[r * cols + c], type);
    const auto expected = reference::softmax(row);
    for (std::size_t c = 0; c < cols; ++c) {
      const double half = type == DType::f32 ? 0 : ulp_at(expected.y[c], format_of(type)) / 2;
      const double error = std::fabs(decode(y[r * cols + c], type) - expected.y[c]);
      if (!(error <= expected.bound[c] + half)) return false;
    }
  }
  return true;
}

class FirstSoftmax {
 public:
  FirstSoftmax(const Backend& backend, DType type, const Layout& layout)
      : backend_(backend),
        type_(type),
        x_(backend.device(), type, layout),
        y_(backend.device(), type, layout) {}

  void draw(std::uint64_t seed) {
    bits_ = normal_bits(std::size_t(x_.layout().elements()), type_, seed);
    x_.write(bits_);
  }
  void run(cudaStream_t stream) {
    const lk_cmatrix x = x_.cview();
    const lk_matrix y = y_.view();
    backend_.softmax.run({.x = &x, .y = &y, .options = nullptr, .stream = stream});
  }
  testing::AssertionResult right() const {
    if (!is_right(bits_, y_.read(), x_.layout().rows, type_)) {
      return testing::AssertionFailure() << "wrong: " << show(x_.layout());
    }
    return y_.gaps_intact();
  }

 private:
  const Backend& backend_;
  DType type_;
  StridedMatrix x_, y_;
  Bits bits_;
};

void check_capture(std::int64_t cols) {
  check_first_capture([&](const Backend& backend) {
    return FirstSoftmax(backend, DType::bf16, row_major(2, cols));
  });
}
// Of rows on chip, and of split rows, whose scratch is allocated in the graph.
TEST(SoftmaxFirstCall, I4GraphCapture) { check_capture(3000); }
TEST(SoftmaxFirstCall, I4GraphCaptureOfSplitRows) { check_capture(100000); }

// Each thread with another length and type.
class SoftmaxFirstCallThreads : public FirstCallThreads {};

TEST_P(SoftmaxFirstCallThreads, I7SixteenThreads) {
  check(16, 2, [](const Backend& backend, int t) {
    const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
    FirstSoftmax call(backend, type, row_major(3, t == 0 ? 60000 : 1 << (t % 12), -1, t % 5));
    call.draw(std::uint64_t(t));
    return call;
  });
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxFirstCallThreads, testing::ValuesIn(backends()), backend_name);

}  // namespace
}  // namespace libkernels::test
