// Softmax on the host: checks, the table of kernels, launch. What Backend and the registry take.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/softmax/softmax.h"
#include "src/backend.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND::op::softmax {

KernelTable<Problem> table();

void run(const SoftmaxCall& call);
std::size_t workspace(const SoftmaxCall& call);
std::string explain(const SoftmaxCall& call);
CallResources resources(const SoftmaxCall& call);

}  // namespace libkernels::inline LK_BACKEND::op::softmax
