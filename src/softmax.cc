#include "src/softmax.h"

#include <fmt/format.h>

#include <cmath>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

constexpr const char* kOp = "softmax";

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
    &sm80,
    &sm80_split,
    &sm80_strided,
};

// A call that passed every check that needs no device.
struct Call {
  Problem problem;
  lk_softmax_options options;
  bool empty;
};

// A field that is 0 or 1.
void check_flag(const char* field, std::int32_t value, const char* zero, const char* one) {
  if (value == 0 || value == 1) return;
  throw invalid_argument(
      fmt::format("softmax: options.{} is {}; 0 ({}) or 1 ({})", field, value, zero, one));
}

lk_softmax_options checked(const lk_softmax_options* given) {
  const lk_softmax_options options = checked_options(kOp, given);
  check_flag("has_scale", options.has_scale, "no scale", "options.scale is one");
  check_flag("log", options.log, "softmax", "its logarithm");
  check_flag("neg_inf_row", options.neg_inf_row, "LK_NEG_INF_ROW_NAN", "LK_NEG_INF_ROW_ZERO");
  if (options.has_scale == 1 && !std::isfinite(options.scale)) {
    throw invalid_argument(
        fmt::format("softmax: options.scale is {}; a finite number", options.scale));
  }
  if (options.has_scale == 0 && options.scale != 0) {
    throw invalid_argument(fmt::format(
        "softmax: options.scale is {}, but options.has_scale is 0; a scale needs has_scale = 1, "
        "and without one it is 0",
        options.scale));
  }
  return options;
}

Call checked(const SoftmaxCall& call) {
  const lk_softmax_options options = checked(call.options);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  check_same_shape_call(x, y, device());
  return {.problem = {.x = x.data,
                      .y = const_cast<void*>(y.data),
                      .x_type = x.dtype,
                      .y_type = y.dtype,
                      .scale = options.has_scale == 1 ? options.scale : 1.0f,
                      .log = options.log == 1,
                      .zero_neg_inf_row = options.neg_inf_row == LK_NEG_INF_ROW_ZERO,
                      .rows = x.rows,
                      .cols = x.cols,
                      .x_row_stride = x.row_stride,
                      .x_col_stride = x.col_stride,
                      .y_row_stride = y.row_stride,
                      .y_col_stride = y.col_stride},
          .options = options,
          .empty = x.empty()};
}

std::string describe_problem(const Problem& p) {
  return fmt::format(
      "{}, scale {}, rows of only -inf become {}{}\n"
      "x: {}, {} x {}, strides {} and {}\n"
      "y: {}, {} x {}, strides {} and {}\n",
      p.log ? "log-softmax" : "softmax", p.scale,
      !p.zero_neg_inf_row ? "NaN"
      : p.log             ? "-inf"
                          : "0",
      p.x == p.y && p.x != nullptr ? ", in place" : "", name(p.x_type), p.rows, p.cols,
      p.x_row_stride, p.x_col_stride, name(p.y_type), p.rows, p.cols, p.y_row_stride,
      p.y_col_stride);
}

const KernelRow<Problem>& chosen(const Call& c, const DeviceProperties& properties,
                                 const char* pin) {
  return choose(LK_OP_SOFTMAX, table(), c.problem, properties, pin, nullptr);
}

}  // namespace

KernelTable<Problem> table() { return kTable; }

void run(const SoftmaxCall& call) {
  const Call c = checked(call);
  if (c.empty) return;
  const DeviceProperties& properties = current_device(LK_OP_SOFTMAX);
  launch(LK_OP_SOFTMAX, chosen(c, properties, call.pin), c.problem, properties, c.options.call,
         call.stream);
}

std::size_t workspace(const SoftmaxCall& call) {
  const Call c = checked(call);
  if (c.empty) return 0;
  const DeviceProperties& properties = current_device(LK_OP_SOFTMAX);
  return chosen(c, properties, call.pin).workspace_bytes(c.problem, properties);
}

std::string explain(const SoftmaxCall& call) {
  const Call c = checked(call);
  const std::string problem = describe_problem(c.problem);
  if (c.empty) return problem + "no elements: nothing is launched\n";
  return problem + explain_dispatch(LK_OP_SOFTMAX, table(), c.problem, c.options.call, call.pin);
}

CallResources resources(const SoftmaxCall& call) {
  const Call c = checked(call);
  if (c.empty) throw invalid_argument("softmax: no kernel runs for a problem without elements");
  return call_resources(LK_OP_SOFTMAX, chosen(c, current_device(LK_OP_SOFTMAX), call.pin),
                        c.problem);
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
