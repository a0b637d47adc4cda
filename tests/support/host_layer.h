// What the tests of every operation's host layer ask alike, of the emulated backend. A call C is a
// SmallCall, or has its members.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "include/libkernels/dtype.h"
#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/refusal.h"

namespace libkernels::test {

// All four functions refuse the call.
template <class OpCall>
void expect_invalid(const Functions<OpCall>& op, const OpCall& call, const std::string& text) {
  EXPECT_TRUE(is_invalid(refusal([&] { op.run(call); }), text));
  EXPECT_TRUE(is_invalid(refusal([&] { op.workspace(call); }), text));
  EXPECT_TRUE(is_invalid(refusal([&] { op.explain(call); }), text));
  EXPECT_TRUE(is_invalid(refusal([&] { op.resources(call); }), text));
}

// A call whose output is empty for want of `nothing` ("elements") succeeds and does nothing.
template <class OpCall>
void expect_nothing_launched(const Functions<OpCall>& op, const OpCall& call,
                             const std::string& nothing) {
  EXPECT_TRUE(is_accepted(refusal([&] { op.run(call); })));
  EXPECT_EQ(op.workspace(call), 0u);
  EXPECT_NE(op.explain(call).find("no " + nothing + ": nothing is launched"), std::string::npos);
  EXPECT_TRUE(is_invalid(refusal([&] { op.resources(call); }), "without " + nothing));
}

// x and y of one type, or y of f32; not f8.
template <class C, class OpCall>
void check_types_of_x_and_y(const Functions<OpCall>& op, const std::string& op_name) {
  const ProfileScope profile("emu80");
  const std::string offered[] = {"f32 f32", "f16 f16", "f16 f32", "bf16 bf16", "bf16 f32"};
  for (lk_dtype in = LK_F32; in <= LK_F8_E5M2; ++in) {
    for (lk_dtype out = LK_F32; out <= LK_F8_E5M2; ++out) {
      C c;
      c.x.dtype = in;
      c.y.dtype = out;
      const std::string x = name(DType{in}), y = name(DType{out});
      const auto r = refusal([&] { op.run(c()); });
      if (std::find(std::begin(offered), std::end(offered), x + " " + y) != std::end(offered)) {
        EXPECT_TRUE(is_accepted(r)) << x << " -> " << y;
      } else {
        EXPECT_TRUE(is_unsupported(
            r, op_name + ": x is " + x + " and y is " + y +
                   "; offered are f32 -> f32, f16 -> f16 or f32, and bf16 -> bf16 or f32"));
        EXPECT_TRUE(c.y_untouched());
      }
    }
  }
}

template <class C, class OpCall>
void check_null_views(const Functions<OpCall>& op, const std::string& op_name) {
  const C c;
  const OpCall no_x{nullptr, &c.y, nullptr}, no_y{&c.x, nullptr, nullptr};
  EXPECT_TRUE(is_invalid(refusal([&] { op.run(no_x); }), op_name + ": x is null"));
  EXPECT_TRUE(is_invalid(refusal([&] { op.run(no_y); }), op_name + ": y is null"));
}

template <class C, class OpCall>
void check_a_device_below_80(const Functions<OpCall>& op, const std::string& op_name) {
  DeviceProperties turing = emulator::current_profile();
  turing.cc_major = 7;
  turing.cc_minor = 5;
  const ProfileScope profile(turing);
  const C c;
  const auto r = refusal([&] { op.run(c()); });
  EXPECT_TRUE(is_unsupported(r, "compute capability 7.5"));
  EXPECT_TRUE(is_unsupported(r, op_name + "_sm80: skipped: sm80 kernels do not run on"));
  EXPECT_TRUE(c.y_untouched());
}

// y in memory that is not the emulator's.
template <class C, class OpCall>
void check_an_emulated_fault(const Functions<OpCall>& op, const std::string& op_name) {
  const ProfileScope profile("emu80");
  C c;
  static float host[32];
  c.y.data = host;
  const auto r = refusal([&] { op.run(c()); });
  EXPECT_TRUE(is_cuda_error(r, op_name + ": launching " + op_name + "_sm80 failed: cudaError"));
  EXPECT_TRUE(is_cuda_error(r, emulator::last_fault()));
  EXPECT_NE(emulator::last_fault(), "");
}

}  // namespace libkernels::test
