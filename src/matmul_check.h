// The argument checks of matmul.
#pragma once

#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "src/backend.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A call that passed every check that needs no device.
struct Call {
  Problem problem;
  lk_matmul_options options;
  std::int64_t k;  // as the views say; problem.k is 0 if alpha is
  bool empty;
};

Call checked(const MatmulCall& call);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
