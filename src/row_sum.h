// Row-sum on the host, for src/operation.h.
#pragma once

#include <string>

#include "kernels/row_sum/row_sum.h"
#include "src/operation.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct Host {
  using Call = RowSumCall;
  using Checked = CheckedCall<Problem, lk_row_sum_options>;

  static constexpr lk_op kId = LK_OP_ROW_SUM;
  static constexpr const char* kName = "row_sum";
  static constexpr const char* kNothing = "rows";

  static KernelTable<Problem> table();
  static Checked checked(const RowSumCall& call);
  static std::string describe(const Checked& call);
};

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
