// What must work as the very first library call of a process: a process a case (first_call.h).
// Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/kernels/gelu/gelu_fixture.h"
#include "tests/support/first_call.h"

namespace libkernels::test {
namespace {

Bits expected_of(const Bits& x, lk_gelu_form form, DType type, const Bits& got) {
  // Within the contract's bound counts as right: no earlier call may have made a table.
  Bits expected(got);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = decode(x[i], type);
    const double r = form == LK_GELU_TANH ? reference::gelu_tanh(v) : reference::gelu_erf(v);
    const double fp32 =
        form == LK_GELU_TANH ? reference::gelu_tanh_bound(v, r) : reference::gelu_erf_bound(v, r);
    const double half = type == DType::f32 ? 0 : ulp_at(r, format_of(type)) / 2;
    if (!(std::fabs(decode(got[i], type) - r) <= fp32 + half)) expected[i] = encode(r, type);
  }
  return expected;
}

class FirstGelu {
 public:
  FirstGelu(const Backend& backend, DType type, lk_gelu_form form, const Layout& layout)
      : backend_(backend),
        type_(type),
        x_(backend.device(), type, layout),
        y_(backend.device(), type, layout) {
    options_.form = form;
  }

  void draw(std::uint64_t seed) {
    bits_ = normal_bits(std::size_t(x_.layout().elements()), type_, seed);
    x_.write(bits_);
  }
  void run(cudaStream_t stream) {
    const lk_cmatrix x = x_.cview();
    const lk_matrix y = y_.view();
    // Tanh is the default.
    const lk_gelu_options* options = options_.form == LK_GELU_TANH ? nullptr : &options_;
    backend_.gelu.run({.x = &x, .y = &y, .options = options, .stream = stream});
  }
  testing::AssertionResult right() const {
    const Bits got = y_.read();
    const auto equal =
        bits_equal(got, expected_of(bits_, lk_gelu_form(options_.form), type_, got), type_);
    return equal ? y_.gaps_intact() : equal;
  }

 private:
  const Backend& backend_;
  DType type_;
  StridedMatrix x_, y_;
  lk_gelu_options options_ = LK_OPTIONS_INIT(lk_gelu_options);
  Bits bits_;
};

TEST(GeluFirstCall, I4GraphCapture) {
  check_first_capture([](const Backend& backend) {
    return FirstGelu(backend, DType::bf16, LK_GELU_TANH, row_major(1, 3000));
  });
}

// Each thread with another form, type and shape.
class GeluFirstCallThreads : public FirstCallThreads {};

TEST_P(GeluFirstCallThreads, I7SixteenThreads) {
  check(16, 5, [](const Backend& backend, int t) {
    const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
    FirstGelu call(backend, type, t % 2 == 0 ? LK_GELU_TANH : LK_GELU_ERF,
                   row_major(3, 131 + t, 140 + t, t % 5));
    call.draw(std::uint64_t(t));
    return call;
  });
}

INSTANTIATE_TEST_SUITE_P(, GeluFirstCallThreads, testing::ValuesIn(backends()), backend_name);

}  // namespace
}  // namespace libkernels::test
