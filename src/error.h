// The calling thread's last error, for the C ABI.
#pragma once

#include "include/libkernels/c_api.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

const char* status_name(lk_status status);

// Keeps the first 4095 bytes of `text` as the calling thread's message (a longer one ends in "...")
// and returns `status`. Needs no memory, and may be called as late as the thread runs any code.
lk_status record_error(lk_status status, const char* text) noexcept;
const char* last_error_message() noexcept;

}  // namespace libkernels::inline LK_BACKEND
