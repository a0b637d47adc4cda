// Matmul on the host: checks, the table of kernels, launch. What Backend and the registry take.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/matmul/matmul.h"
#include "src/backend.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

KernelTable<Problem> table();

void run(const MatmulCall& call);
std::size_t workspace(const MatmulCall& call);
std::string explain(const MatmulCall& call);
CallResources resources(const MatmulCall& call);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
