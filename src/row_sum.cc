#include "src/row_sum.h"

#include <fmt/format.h>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

constexpr const char* kOp = Host::kName;

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
#if defined(LK_HAVE_SM90)
    &sm90,
#endif
    &sm80,
};

}  // namespace

KernelTable<Problem> Host::table() { return kTable; }

Host::Checked Host::checked(const RowSumCall& call) {
  const lk_row_sum_options options = checked_options(kOp, call.options);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  if (y.rows != x.rows || y.cols != 1) {
    throw invalid_argument(fmt::format(
        "row_sum: x is {} x {} and y is {} x {}; y needs as many rows as x and one column", x.rows,
        x.cols, y.rows, y.cols));
  }
  check_same_type_or_f32(x, y);
  check_disjoint(y, x, InPlace::refused);
  for (const Operand* v : {&x, &y}) check_workspace_apart(options.call, *v);
  if (costly_checks()) {
    check_memory(x, device());
    check_memory(y, device());
  }
  return {.problem = {.x = x.data,
                      .y = const_cast<void*>(y.data),
                      .x_type = x.dtype,
                      .y_type = y.dtype,
                      .rows = x.rows,
                      .cols = x.cols,
                      .x_row_stride = x.row_stride,
                      .x_col_stride = x.col_stride,
                      .y_stride = y.row_stride},
          .options = options,
          .empty = y.empty()};
}

std::string Host::describe(const Checked& call) {
  const Problem& p = call.problem;
  return "row_sum\n" +
         describe_view("x", p.x_type, p.rows, p.cols, p.x_row_stride, p.x_col_stride) +
         fmt::format("\ny: {}, {} x 1, stride {}\n", name(p.y_type), p.rows, p.y_stride);
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
