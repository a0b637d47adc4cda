#include "src/error.h"

#include <algorithm>
#include <cstring>

namespace libkernels::inline LK_BACKEND {
namespace {

// Nothing to construct or destroy: a call may fail in the destructor of another thread_local or
// static object, or in a handler of atexit, when an object with a destructor would be gone.
constexpr std::size_t kCapacity = 4096;  // c_api.h tells of it
constinit thread_local char last_error[kCapacity] = {};

}  // namespace

const char* status_name(lk_status status) {
  switch (status) {
    case LK_SUCCESS:
      return "success";
    case LK_INVALID_ARGUMENT:
      return "invalid argument";
    case LK_UNSUPPORTED:
      return "unsupported";
    case LK_CUDA_ERROR:
      return "CUDA error";
    case LK_INTERNAL_ERROR:
      return "internal error";
  }
  return "unknown status";
}

lk_status record_error(lk_status status, const char* text) noexcept {
  constexpr char kCut[] = "...";
  const std::size_t length = std::strlen(text);
  const std::size_t kept = std::min(length, kCapacity - 1);
  std::memmove(last_error, text, kept);
  last_error[kept] = '\0';
  if (kept < length) std::memcpy(last_error + kCapacity - sizeof(kCut), kCut, sizeof(kCut));
  return status;
}

const char* last_error_message() noexcept { return last_error; }

}  // namespace libkernels::inline LK_BACKEND
