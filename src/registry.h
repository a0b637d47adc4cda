// All compiled kernels, whatever the operation, and the version of the library.
#pragma once

#include <span>

#include "include/libkernels/c_api.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

// In dispatch order, operation by operation.
std::span<const lk_kernel_info> kernels();

// "gelu"; null for a value that is no single operation.
const char* op_name(lk_op op);

const lk_version_info& version_info();

// Loads the kernels of `op` (LK_OP_ALL: of every operation) that run on the current device.
void preload(lk_op op);

}  // namespace libkernels::inline LK_BACKEND
