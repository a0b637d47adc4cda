// The calling thread's last error, for the C ABI.
#pragma once

#include "include/libkernels/c_api.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

const char* status_name(lk_status status);

// Keeps `text` as the calling thread's message and returns `status`. Never throws: without memory
// for the text it keeps a shorter one.
lk_status record_error(lk_status status, const char* text) noexcept;
const char* last_error_message() noexcept;

}  // namespace libkernels::inline LK_BACKEND
