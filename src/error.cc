#include "src/error.h"

#include <string>

namespace libkernels::inline LK_BACKEND {
namespace {

struct LastError {
  std::string text;
  const char* fallback = nullptr;  // set instead of text if there was no memory for it
};
thread_local LastError last_error;

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
  try {
    last_error.text = text;
    last_error.fallback = nullptr;
  } catch (...) {
    last_error.fallback = "libkernels: an error whose text found no memory";
  }
  return status;
}

const char* last_error_message() noexcept {
  return last_error.fallback != nullptr ? last_error.fallback : last_error.text.c_str();
}

}  // namespace libkernels::inline LK_BACKEND
