// Row-sum on the host: checks, the table of kernels, launch. What Backend and the registry take.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/row_sum/row_sum.h"
#include "src/backend.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND::op::row_sum {

KernelTable<Problem> table();

void run(const RowSumCall& call);
std::size_t workspace(const RowSumCall& call);
std::string explain(const RowSumCall& call);
CallResources resources(const RowSumCall& call);

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
