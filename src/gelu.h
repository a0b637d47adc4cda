// GeLU on the host: checks, the table of kernels, launch. What Backend and the registry take.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/gelu/gelu.h"
#include "src/backend.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND::op::gelu {

KernelTable<Problem> table();

void run(const GeluCall& call);
std::size_t workspace(const GeluCall& call);
std::string explain(const GeluCall& call);
CallResources resources(const GeluCall& call);

}  // namespace libkernels::inline LK_BACKEND::op::gelu
