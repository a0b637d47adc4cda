// A call of any operation on any of its types: for what holds of all of them. A new operation gets
// a line in each switch here, in kAllOps and in op_name, without which the tests that walk the
// registry fail.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "include/libkernels/error.h"
#include "tests/kernels/matmul/matmul_fixture.h"
#include "tests/kernels/row_sum/row_sum_fixture.h"
#include "tests/reference/gelu.h"
#include "tests/reference/softmax.h"

namespace libkernels::test {

inline constexpr lk_op kAllOps[] = {LK_OP_GELU, LK_OP_SOFTMAX, LK_OP_ROW_SUM, LK_OP_MATMUL};

[[noreturn]] inline void unknown_operation(lk_op op) {
  throw std::runtime_error("tests/kernels/all/any_call.h knows no operation " + std::to_string(op));
}

inline std::string op_name(lk_op op) {
  static constexpr const char* kNames[] = {"", "gelu", "softmax", "row_sum", "matmul"};
  if (op < LK_OP_GELU || op > LK_OP_MATMUL) unknown_operation(op);
  return kNames[op];
}

// An operation and the types of a call: x and y, or A, B and C.
struct AnyTypes {
  lk_op op;
  MatmulTypes of;
};

inline std::string show(const AnyTypes& t) {
  std::string text = op_name(t.op) + "_" + name(t.of.a) + "_";
  if (t.op == LK_OP_MATMUL) text += std::string(name(t.of.b)) + "_";
  static constexpr const char* kMath[] = {"", "_tf32", "_tf32x3"};
  return text + name(t.of.c) + kMath[t.of.math];
}

inline std::vector<AnyTypes> types_of(lk_op op) {
  std::vector<AnyTypes> all;
  if (op == LK_OP_MATMUL) {
    for (const MatmulTypes& t : kMatmulTypes) all.push_back({op, t});
  } else {
    for (const auto& [x, y] : kRowSumTypes) all.push_back({op, {x, x, y}});
  }
  return all;
}
inline std::vector<AnyTypes> all_types() {
  std::vector<AnyTypes> all;
  for (const lk_op op : kAllOps) {
    for (const AnyTypes& t : types_of(op)) all.push_back(t);
  }
  return all;
}

// x is rows x cols and y as well, or rows x 1; A is rows x depth, B depth x cols, C rows x cols.
struct AnyShape {
  std::int64_t rows, cols, depth = 1;
  bool columns = false;  // all of them column-major
  std::int64_t offset = 0, gap = 0;

  Layout layout(std::int64_t r, std::int64_t c) const {
    return columns ? col_major(r, c, r + gap, offset) : row_major(r, c, c + gap, offset);
  }
  Layout x(lk_op op) const { return layout(rows, op == LK_OP_MATMUL ? depth : cols); }
  Layout b() const { return layout(depth, cols); }
  Layout y(lk_op op) const { return layout(rows, op == LK_OP_ROW_SUM ? 1 : cols); }
};

inline std::string show(const AnyShape& s) {
  return std::to_string(s.rows) + "x" + std::to_string(s.cols) + "x" + std::to_string(s.depth) +
         (s.columns ? " column-major" : "") + " offset " + std::to_string(s.offset) + " gap " +
         std::to_string(s.gap);
}

struct AnyOptions {
  int max_sms = 0;
  cudaStream_t stream = nullptr;
  const char* pin = nullptr;
};

// The views of a call, wherever they point.
struct AnyViews {
  AnyTypes types;
  lk_cmatrix x, b;  // b: of matmul alone
  lk_matrix y;

  // f(the operation's functions, its call).
  template <class F>
  auto with(const Backend& backend, const AnyOptions& o, const F& f) const {
    const auto unary = [&](const auto& functions, auto options, auto call) {
      options.call.max_sms = o.max_sms;
      call = {&x, &y, &options, o.stream, o.pin};
      return f(functions, call);
    };
    switch (types.op) {
      case LK_OP_GELU:
        return unary(backend.gelu, LK_OPTIONS_INIT(lk_gelu_options), GeluCall{});
      case LK_OP_SOFTMAX:
        return unary(backend.softmax, LK_OPTIONS_INIT(lk_softmax_options), SoftmaxCall{});
      case LK_OP_ROW_SUM:
        return unary(backend.row_sum, LK_OPTIONS_INIT(lk_row_sum_options), RowSumCall{});
      case LK_OP_MATMUL: {
        lk_matmul_options options = LK_OPTIONS_INIT(lk_matmul_options);
        options.call.max_sms = o.max_sms;
        options.math = types.of.math;
        return f(backend.matmul, MatmulCall{&x, &b, &y, &options, o.stream, o.pin});
      }
      default:
        unknown_operation(types.op);
    }
  }

  void run(const Backend& backend, const AnyOptions& o = {}) const {
    with(backend, o, [](const auto& functions, const auto& call) { functions.run(call); });
  }
  std::string explain(const Backend& backend, const AnyOptions& o = {}) const {
    return with(backend, o,
                [](const auto& functions, const auto& call) { return functions.explain(call); });
  }
  CallResources resources(const Backend& backend, const AnyOptions& o = {}) const {
    return with(backend, o,
                [](const auto& functions, const auto& call) { return functions.resources(call); });
  }
};

inline lk_cmatrix any_cview(const Layout& l, DType type, const void* data) {
  return {data, std::int32_t(type), l.rows, l.cols, l.row_stride, l.col_stride};
}

// Views into memory that is not there, far apart, each off a 256-byte boundary by `shape.offset`
// elements: for whatever launches nothing.
inline AnyViews far_views(const AnyTypes& t, const AnyShape& shape) {
  const auto at = [&](std::uintptr_t place, DType type) {
    return reinterpret_cast<void*>((place << 50) + std::uintptr_t(shape.offset) * size_of(type));
  };
  const Layout y = shape.y(t.op);
  return {t,
          any_cview(shape.x(t.op), t.of.a, at(1, t.of.a)),
          any_cview(shape.b(), t.of.b, at(2, t.of.b)),
          {at(3, t.of.c), std::int32_t(t.of.c), y.rows, y.cols, y.row_stride, y.col_stride}};
}

// A call with its memory, which is guarded and poisoned.
class AnyCall {
 public:
  AnyCall(const Backend& backend, const AnyTypes& types, const AnyShape& shape)
      : backend_(backend),
        shape_(shape),
        x_(device(), types.of.a, shape.x(types.op)),
        y_(device(), types.of.c, shape.y(types.op)),
        views_{types, x_.cview(), x_.cview(), y_.view()} {
    if (types.op != LK_OP_MATMUL) return;
    b_.emplace(device(), types.of.b, shape.b());
    views_.b = b_->cview();
  }
  AnyCall(const Backend& backend, const AnyTypes& types, const AnyShape& shape, std::uint64_t seed)
      : AnyCall(backend, types, shape) {
    draw(seed);
  }

  // Inputs: normal ones or, where sums of them are to be exact, small integers.
  void draw(std::uint64_t seed) {
    x_bits_ = drawn(x_, seed);
    if (b_) b_bits_ = drawn(*b_, seed + 1000);
  }
  void forbid_writes_to_inputs() {
    x_.buffer().forbid_writes();
    if (b_) b_->buffer().forbid_writes();
  }
  // Everywhere one value.
  void fill_output(std::uint32_t bits) {
    y_.write(Bits(std::size_t(y_.layout().elements()), bits));
  }

  bool supported(const char* pin) const {
    try {
      views_.resources(backend_, {.pin = pin});
      return true;
    } catch (const unsupported&) {
      return false;
    }
  }
  void run(const AnyOptions& o = {}) const { views_.run(backend_, o); }

  Bits result() const { return y_.read(); }
  const AnyViews& views() const { return views_; }
  StridedMatrix& x() { return x_; }
  StridedMatrix& y() { return y_; }

  // Is the output what the contract says, and everything else as it was?
  testing::AssertionResult right() const {
    if (x_.read() != x_bits_ || (b_ && b_->read() != b_bits_)) {
      return testing::AssertionFailure() << "an input was written";
    }
    for (const StridedMatrix* m : {&x_, &y_}) {
      if (auto intact = m->gaps_intact(); !intact) return intact;
    }
    const Bits got = result();
    Failures failures;
    for (std::int64_t r = 0; r < shape_.rows; ++r) check_row(r, got, &failures);
    return failures.result(got.size());
  }

 private:
  struct Expected {
    double value, bound;  // beside half an ulp of the output
  };

  Device& device() const { return backend_.device(); }
  const AnyTypes& types() const { return views_.types; }

  Bits drawn(StridedMatrix& m, std::uint64_t seed) const {
    const std::size_t n = std::size_t(m.layout().elements());
    Bits bits;
    if (types().op == LK_OP_GELU || types().op == LK_OP_SOFTMAX) {
      bits = normal_bits(n, m.type(), seed);
    } else {
      for (std::size_t i = 0; i < n; ++i) {
        bits.push_back(encode(int(random_word(seed, i) % 7) - 3, m.type()));
      }
    }
    m.write(bits);
    return bits;
  }

  std::vector<double> row(const Bits& bits, DType type, std::int64_t r, std::int64_t cols) const {
    std::vector<double> v;
    for (std::int64_t c = 0; c < cols; ++c)
      v.push_back(decode(bits[std::size_t(r * cols + c)], type));
    return v;
  }

  std::vector<Expected> expected_row(std::int64_t r) const {
    const std::vector<double> x = row(x_bits_, types().of.a, r, x_.layout().cols);
    std::vector<Expected> expected;
    switch (types().op) {
      case LK_OP_GELU:  // tanh, the default
        for (const double v : x) {
          const double y = reference::gelu_tanh(v);
          expected.push_back({y, reference::gelu_tanh_bound(v, y)});
        }
        return expected;
      case LK_OP_SOFTMAX: {
        const reference::SoftmaxRow y = reference::softmax(x);
        for (std::size_t c = 0; c < x.size(); ++c) expected.push_back({y.y[c], y.bound[c]});
        return expected;
      }
      case LK_OP_ROW_SUM:
        return {
            {reference::row_sum(x_.layout().cols, [&](auto c) { return x[std::size_t(c)]; }).sum,
             0}};
      case LK_OP_MATMUL:
        for (std::int64_t c = 0; c < shape_.cols; ++c) {
          double sum = 0;
          for (std::int64_t k = 0; k < shape_.depth; ++k) {
            sum +=
                x[std::size_t(k)] * decode(b_bits_[std::size_t(k * shape_.cols + c)], types().of.b);
          }
          expected.push_back({sum, 0});
        }
        return expected;
      default:
        unknown_operation(types().op);
    }
  }

  void check_row(std::int64_t r, const Bits& got, Failures* failures) const {
    const std::vector<Expected> expected = expected_row(r);
    for (std::size_t c = 0; c < expected.size(); ++c) {
      const std::size_t i = std::size_t(r) * expected.size() + c;
      const auto [value, bound] = expected[c];
      const DType type = types().of.c;
      if (got[i] == encode(value, type)) continue;
      const double half = type == DType::f32 ? 0 : ulp_at(value, format_of(type)) / 2;
      const double error = std::fabs(decode(got[i], type) - value);
      if (bound > 0 && error <= bound + half) continue;
      failures->add(i, "of", show(shape_), "got", decode(got[i], type), "expected", value, "bound",
                    bound + half);
    }
  }

  const Backend& backend_;
  AnyShape shape_;
  StridedMatrix x_, y_;
  std::optional<StridedMatrix> b_;
  AnyViews views_;
  Bits x_bits_, b_bits_;
};

}  // namespace libkernels::test
