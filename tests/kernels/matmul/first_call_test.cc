// What must work as the very first library call of a process: a process a case (first_call.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"
#include "tests/support/first_call.h"

namespace libkernels::test {
namespace {

// C = relu(A A^T): integers, so right to the bit.
class FirstMatmul {
 public:
  static constexpr std::int64_t kN = 96;

  FirstMatmul(const Backend& backend, DType type, std::int64_t pitch = kN)
      : backend_(backend),
        type_(type),
        a_(backend.device(), type, row_major(kN, kN, pitch)),
        c_(backend.device(), DType::f32, row_major(kN, kN)) {}

  void draw(std::uint64_t seed) {
    bits_ = inputs(type_, seed);
    a_.write(bits_);
  }
  void run(cudaStream_t stream) {
    const lk_cmatrix a = a_.cview();
    lk_cmatrix transposed = a;
    std::swap(transposed.row_stride, transposed.col_stride);
    const lk_matrix c = c_.view();
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.activation = LK_ACT_RELU;
    backend_.matmul.run({.a = &a, .b = &transposed, .c = &c, .options = &o, .stream = stream});
  }
  testing::AssertionResult right() const {
    return bits_equal(c_.read(), expected(bits_, type_), DType::f32);
  }

 private:
  static Bits inputs(DType type, std::uint64_t seed) {
    Bits bits;
    for (std::int64_t i = 0; i < kN * kN; ++i) {
      bits.push_back(encode(int(random_word(seed, std::uint64_t(i)) % 7) - 3, type));
    }
    return bits;
  }
  static Bits expected(const Bits& a, DType type) {
    reference::MatmulProblem p;
    p.m = p.n = p.k = kN;
    p.activation = reference::MatmulActivation::relu;
    for (std::int64_t i = 0; i < kN * kN; ++i) {
      p.a.push_back(decode(a[std::size_t(i)], type));
      p.b.push_back(decode(a[std::size_t(i % kN * kN + i / kN)], type));
    }
    Bits bits;
    for (const auto& e : reference::matmul(p)) bits.push_back(encode(e.value, DType::f32));
    return bits;
  }

  const Backend& backend_;
  DType type_;
  StridedMatrix a_, c_;
  Bits bits_;
};

TEST(MatmulFirstCall, I4GraphCapture) {
  check_first_capture([](const Backend& backend) { return FirstMatmul(backend, DType::bf16); });
}

// I5, I7: each thread with another type.
class MatmulFirstCallThreads : public FirstCallThreads {};

TEST_P(MatmulFirstCallThreads, I7EightThreads) {
  check(8, 1, [](const Backend& backend, int t) {
    constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8_e5m2};
    FirstMatmul call(backend, kTypes[t % 4], 100 + t);
    call.draw(std::uint64_t(t));
    return call;
  });
}

INSTANTIATE_TEST_SUITE_P(, MatmulFirstCallThreads, testing::ValuesIn(backends()), backend_name);

}  // namespace
}  // namespace libkernels::test
