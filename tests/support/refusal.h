// What a call refuses, as a value: EXPECT_TRUE(is_invalid(refusal([&] { ... }), "x.rows is -1")).
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "include/libkernels/error.h"

namespace libkernels::test {

struct Refusal {
  lk_status status = LK_SUCCESS;  // of the exception; LK_SUCCESS if nothing was thrown
  std::string text;
};

template <class Body>
Refusal refusal(const Body& body) {
  try {
    body();
  } catch (const error& e) {
    return {e.status(), e.what()};
  } catch (const std::exception& e) {
    return {-1, std::string("not of the family: ") + e.what()};
  }
  return {};
}

// Was the call refused with this status and a text that contains `part`?
inline testing::AssertionResult is_refused(const Refusal& r, lk_status status,
                                           const std::string& part) {
  if (r.status == status && r.text.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "expected status " << status << " and a text with\n  \"" << part << "\"\ngot status "
         << r.status << " and\n  \"" << r.text << "\"";
}
inline testing::AssertionResult is_invalid(const Refusal& r, const std::string& part) {
  return is_refused(r, LK_INVALID_ARGUMENT, part);
}
inline testing::AssertionResult is_unsupported(const Refusal& r, const std::string& part) {
  return is_refused(r, LK_UNSUPPORTED, part);
}
inline testing::AssertionResult is_cuda_error(const Refusal& r, const std::string& part) {
  return is_refused(r, LK_CUDA_ERROR, part);
}
inline testing::AssertionResult is_accepted(const Refusal& r) {
  return is_refused(r, LK_SUCCESS, "");
}

}  // namespace libkernels::test
