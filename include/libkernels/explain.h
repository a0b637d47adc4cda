// Which kernel would run, and why: every operation has an OP_explain(...) beside OP(...). It takes
// the same views and options, launches nothing and returns lines of text: the problem, the device,
// the kernels looked at with the reason for each that was passed over, the plan of the chosen one,
// and the scratch memory it needs. The text is for people; programs use kernels() and version().
#pragma once

#include <cstddef>
#include <string>

#include "c_api.h"
#include "error.h"

namespace libkernels::detail {

// Reads the text of a C explain function. call(buffer, capacity, &length) behaves like snprintf.
template <class Call>
std::string read_explanation(const Call& call) {
  std::string text(2000, '\0');  // longer than most
  std::size_t length = 0;
  throw_if_failed(call(&text[0], text.size(), &length));
  while (length >= text.size()) {  // no room for the terminating 0
    text.resize(length + 1);
    throw_if_failed(call(&text[0], text.size(), &length));
  }
  text.resize(length);
  return text;
}

// The head that all options structs share, from the C++ options struct of any operation.
template <class COptions, class Options>
COptions with_call_options(const Options& o) {
  COptions c{};
  c.call.size = sizeof(COptions);
  c.call.max_sms = o.max_sms;
  c.call.pdl = o.pdl ? 1 : 0;
  c.call.workspace = o.workspace;
  c.call.workspace_bytes = o.workspace_bytes;
  return c;
}

}  // namespace libkernels::detail
