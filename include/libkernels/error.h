// What a failed call throws. One small family, so that `catch (const libkernels::error&)` is enough
// and the finer types are there for who wants to tell them apart:
//
//   error                  std::runtime_error; status() is the C ABI's code
//   |- invalid_argument    an argument that no version would accept
//   |- unsupported         meaningful, but not offered: a mix of types, a device, a newer option
//   |- cuda_error          the CUDA runtime or driver reported an error
//   `- internal_error      out of host memory, or a bug in libkernels
//
// what() names the operation, the argument, its value and what would be accepted.
#pragma once

#include <stdexcept>
#include <string>

#include "c_api.h"

namespace libkernels {

class error : public std::runtime_error {
 public:
  error(lk_status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  lk_status status() const noexcept { return status_; }

 private:
  lk_status status_;
};

class invalid_argument : public error {
 public:
  explicit invalid_argument(const std::string& text) : error(LK_INVALID_ARGUMENT, text) {}
};

class unsupported : public error {
 public:
  explicit unsupported(const std::string& text) : error(LK_UNSUPPORTED, text) {}
};

class cuda_error : public error {
 public:
  explicit cuda_error(const std::string& text) : error(LK_CUDA_ERROR, text) {}
};

class internal_error : public error {
 public:
  explicit internal_error(const std::string& text) : error(LK_INTERNAL_ERROR, text) {}
};

// Throws the exception that belongs to a status other than LK_SUCCESS. A status that this header
// does not know (of a newer library) becomes a plain `error`.
[[noreturn]] inline void throw_error(lk_status status, const std::string& text) {
  switch (status) {
    case LK_INVALID_ARGUMENT:
      throw invalid_argument(text);
    case LK_UNSUPPORTED:
      throw unsupported(text);
    case LK_CUDA_ERROR:
      throw cuda_error(text);
    case LK_INTERNAL_ERROR:
      throw internal_error(text);
  }
  throw error(status, text);
}

// To be wrapped around every call of the C ABI: throws, with the text of this thread's last failed
// call, unless it succeeded.
inline void throw_if_failed(lk_status status) {
  if (status != LK_SUCCESS) throw_error(status, lk_last_error_message());
}

}  // namespace libkernels
