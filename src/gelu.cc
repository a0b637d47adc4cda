#include "src/gelu.h"

#include <fmt/format.h>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::gelu {
namespace {

constexpr const char* kOp = Host::kName;

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

lk_gelu_options options_of(const GeluCall& call) {
  const lk_gelu_options options = checked_options(kOp, call.options);
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

}  // namespace

KernelTable<Problem> Host::table() { return kTable; }

Host::Checked Host::checked(const GeluCall& call) {
  const lk_gelu_options options = options_of(call);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  check_same_shape_call(x, y, options.call, device());
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

std::string Host::describe(const Checked& call) {
  const Problem& p = call.problem;
  return fmt::format("gelu, {} form{}\n", p.form == Form::tanh ? "tanh" : "erf",
                     p.x == p.y && p.x != nullptr ? ", in place" : "") +
         describe_view("x", p.x_type, p.rows, p.cols, p.x_row_stride, p.x_col_stride) + "\n" +
         describe_view("y", p.y_type, p.rows, p.cols, p.y_row_stride, p.y_col_stride) + "\n";
}

}  // namespace libkernels::inline LK_BACKEND::op::gelu
