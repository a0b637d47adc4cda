// Softmax on the host, for src/operation.h.
#pragma once

#include <string>

#include "kernels/softmax/softmax.h"
#include "src/operation.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

struct Host {
  using Call = SoftmaxCall;
  using Checked = CheckedCall<Problem, lk_softmax_options>;

  static constexpr lk_op kId = LK_OP_SOFTMAX;
  static constexpr const char* kName = "softmax";
  static constexpr const char* kNothing = "elements";

  static KernelTable<Problem> table();
  static Checked checked(const SoftmaxCall& call);
  static std::string describe(const Checked& call);
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
