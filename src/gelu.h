// GeLU on the host, for src/operation.h.
#pragma once

#include <string>

#include "kernels/gelu/gelu.h"
#include "src/operation.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

struct Host {
  using Call = GeluCall;
  using Checked = CheckedCall<Problem, lk_gelu_options>;

  static constexpr lk_op kId = LK_OP_GELU;
  static constexpr const char* kName = "gelu";
  static constexpr const char* kNothing = "elements";

  static KernelTable<Problem> table();
  static Checked checked(const GeluCall& call);
  static std::string describe(const Checked& call);
};

}  // namespace libkernels::inline LK_BACKEND::op::gelu
