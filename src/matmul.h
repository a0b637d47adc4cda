// Matmul on the host, for src/operation.h.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/matmul/matmul.h"
#include "src/operation.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct Host {
  using Call = MatmulCall;
  struct Checked {
    Problem problem;
    lk_matmul_options options;
    std::int64_t k;  // as the views say; problem.k is 0 if alpha is
    bool empty;
  };

  static constexpr lk_op kId = LK_OP_MATMUL;
  static constexpr const char* kName = "matmul";
  static constexpr const char* kNothing = "elements";

  static KernelTable<Problem> table();
  static Checked checked(const MatmulCall& call);  // in src/matmul_check.cc
  static std::string describe(const Checked& call);
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
