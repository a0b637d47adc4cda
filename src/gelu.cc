#include "src/gelu.h"

#include <fmt/format.h>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

constexpr const char* kOp = "gelu";

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
#if defined(LK_HAVE_SM100)
    &sm100,
#endif
#if defined(LK_HAVE_SM90)
    &sm90,
#endif
    &sm80,
};

// A call that passed every check that needs no device.
struct Call {
  Problem problem;
  lk_gelu_options options;
  bool empty;
};

lk_gelu_options checked(const lk_gelu_options* given) {
  const lk_gelu_options options = checked_options(kOp, given);
  if (options.form != LK_GELU_TANH && options.form != LK_GELU_ERF) {
    throw invalid_argument(
        fmt::format("gelu: options.form is {}; 0 (LK_GELU_TANH) or 1 (LK_GELU_ERF)", options.form));
  }
  if (options.reserved != 0) {
    throw unsupported(fmt::format(
        "gelu: options.reserved is {}; it is 0 in this version of libkernels", options.reserved));
  }
  return options;
}

Call checked(const GeluCall& call) {
  const lk_gelu_options options = checked(call.options);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  check_same_shape_call(x, y, device());
  return {.problem = {.x = x.data,
                      .y = const_cast<void*>(y.data),
                      .x_type = x.dtype,
                      .y_type = y.dtype,
                      .form = static_cast<Form>(options.form),
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
      "gelu, {} form{}\n"
      "x: {}, {} x {}, strides {} and {}\n"
      "y: {}, {} x {}, strides {} and {}\n",
      p.form == Form::tanh ? "tanh" : "erf", p.x == p.y && p.x != nullptr ? ", in place" : "",
      name(p.x_type), p.rows, p.cols, p.x_row_stride, p.x_col_stride, name(p.y_type), p.rows,
      p.cols, p.y_row_stride, p.y_col_stride);
}

}  // namespace

KernelTable<Problem> table() { return kTable; }

void run(const GeluCall& call) {
  const Call c = checked(call);
  if (c.empty) return;
  const DeviceProperties& properties = current_device(LK_OP_GELU);
  const auto& row = choose(LK_OP_GELU, table(), c.problem, properties, call.pin, nullptr);
  launch(LK_OP_GELU, row, c.problem, properties, c.options.call, call.stream);
}

std::size_t workspace(const GeluCall& call) {
  const Call c = checked(call);
  if (c.empty) return 0;
  const DeviceProperties& properties = current_device(LK_OP_GELU);
  return choose(LK_OP_GELU, table(), c.problem, properties, call.pin, nullptr)
      .workspace_bytes(c.problem, properties);
}

std::string explain(const GeluCall& call) {
  const Call c = checked(call);
  const std::string problem = describe_problem(c.problem);
  if (c.empty) return problem + "no elements: nothing is launched\n";
  return problem + explain_dispatch(LK_OP_GELU, table(), c.problem, c.options.call, call.pin);
}

CallResources resources(const GeluCall& call) {
  const Call c = checked(call);
  if (c.empty) throw invalid_argument("gelu: no kernel runs for a problem without elements");
  const auto& row =
      choose(LK_OP_GELU, table(), c.problem, current_device(LK_OP_GELU), call.pin, nullptr);
  return call_resources(LK_OP_GELU, row, c.problem);
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
