#include "src/row_sum.h"

#include <fmt/format.h>

#include "include/libkernels/error.h"
#include "src/check.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {
namespace {

constexpr const char* kOp = "row_sum";

// Best first.
constexpr const KernelRow<Problem>* kTable[] = {
    &sm80,
};

// A call that passed every check that needs no device.
struct Call {
  Problem problem;
  lk_row_sum_options options;
  bool empty;  // y has no elements: a row without columns still has a sum
};

bool is_offered(DType x, DType y) {
  const bool x_offered = x == DType::f32 || x == DType::f16 || x == DType::bf16;
  return x_offered && (y == x || y == DType::f32);
}

Call checked(const RowSumCall& call) {
  const lk_row_sum_options options = checked_options(kOp, call.options);
  const Operand x = check_input(kOp, "x", call.x);
  const Operand y = check_output(kOp, "y", call.y);
  if (y.rows != x.rows || y.cols != 1) {
    throw invalid_argument(fmt::format(
        "row_sum: x is {} x {} and y is {} x {}; y needs as many rows as x and one column", x.rows,
        x.cols, y.rows, y.cols));
  }
  if (!is_offered(x.dtype, y.dtype)) {
    throw unsupported(
        fmt::format("row_sum: x is {} and y is {}; offered are f32 -> f32, f16 -> f16 or f32, and "
                    "bf16 -> bf16 or f32",
                    name(x.dtype), name(y.dtype)));
  }
  check_disjoint(y, x, InPlace::refused);
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

std::string describe_problem(const Problem& p) {
  return fmt::format(
      "row_sum\n"
      "x: {}, {} x {}, strides {} and {}\n"
      "y: {}, {} x 1, stride {}\n",
      name(p.x_type), p.rows, p.cols, p.x_row_stride, p.x_col_stride, name(p.y_type), p.rows,
      p.y_stride);
}

const KernelRow<Problem>& chosen(const Call& c, const DeviceProperties& properties,
                                 const char* pin) {
  return choose(LK_OP_ROW_SUM, table(), c.problem, properties, pin, nullptr);
}

}  // namespace

KernelTable<Problem> table() { return kTable; }

void run(const RowSumCall& call) {
  const Call c = checked(call);
  if (c.empty) return;
  const DeviceProperties& properties = current_device(LK_OP_ROW_SUM);
  launch(LK_OP_ROW_SUM, chosen(c, properties, call.pin), c.problem, properties, c.options.call,
         call.stream);
}

std::size_t workspace(const RowSumCall& call) {
  const Call c = checked(call);
  if (c.empty) return 0;
  const DeviceProperties& properties = current_device(LK_OP_ROW_SUM);
  return chosen(c, properties, call.pin).workspace_bytes(c.problem, properties);
}

std::string explain(const RowSumCall& call) {
  const Call c = checked(call);
  const std::string problem = describe_problem(c.problem);
  if (c.empty) return problem + "no rows: nothing is launched\n";
  return problem + explain_dispatch(LK_OP_ROW_SUM, table(), c.problem, c.options.call, call.pin);
}

CallResources resources(const RowSumCall& call) {
  const Call c = checked(call);
  if (c.empty) throw invalid_argument("row_sum: no kernel runs for a problem without rows");
  const auto& row = chosen(c, current_device(LK_OP_ROW_SUM), call.pin);
  return call_resources(LK_OP_ROW_SUM, row, c.problem);
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
