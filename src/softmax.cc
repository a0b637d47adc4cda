#include "src/softmax.h"

#include <fmt/format.h>

#include <cmath>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::softmax {
namespace {

constexpr const char* kOp = Host::kName;

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
#if defined(LK_HAVE_SM90)
    &sm90_strided,
#endif
    &sm80,
#if defined(LK_HAVE_SM90)
    &sm90_cluster,
#endif
    &sm80_block,    // a CTA a row
    &sm80_split,    // longer rows
    &sm80_strided,  // no unit column stride
};

// A field that is 0 or 1.
void check_flag(const char* field, std::int32_t value, const char* zero, const char* one) {
  if (value == 0 || value == 1) return;
  throw invalid_argument(
      fmt::format("softmax: options.{} is {}; 0 ({}) or 1 ({})", field, value, zero, one));
}

lk_softmax_options options_of(const SoftmaxCall& call) {
  const lk_softmax_options options = checked_options(kOp, call.options);
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

}  // namespace

KernelTable<Problem> Host::table() { return kTable; }

Host::Checked Host::checked(const SoftmaxCall& call) {
  const lk_softmax_options options = options_of(call);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  check_same_shape_call(x, y, options.call, device());
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

std::string Host::describe(const Checked& call) {
  const Problem& p = call.problem;
  const char* masked = !p.zero_neg_inf_row ? "NaN" : p.log ? "-inf" : "0";
  return fmt::format("{}, scale {}, rows of only -inf become {}{}\n",
                     p.log ? "log-softmax" : "softmax", p.scale, masked,
                     p.x == p.y && p.x != nullptr ? ", in place" : "") +
         describe_view("x", p.x_type, p.rows, p.cols, p.x_row_stride, p.x_col_stride) + "\n" +
         describe_view("y", p.y_type, p.rows, p.cols, p.y_row_stride, p.y_col_stride) + "\n";
}

}  // namespace libkernels::inline LK_BACKEND::op::softmax
