// From what an operation adds, its host side H, to the functions that Backend takes.
//
// H is a struct that names
//   Call                               of src/backend.h
//   Checked                            a CheckedCall, or one with more members
//   kId, kName                         "gelu"
//   kNothing                           what an empty call lacks: "elements"
//   static KernelTable<Problem> table()
//   static Checked checked(const Call&)           every check that needs no device
//   static std::string describe(const Checked&)   the problem in words, for explain()
#pragma once

#include <cstddef>
#include <string>

#include "src/backend.h"
#include "src/dispatch.h"

namespace libkernels::inline LK_BACKEND {

// A call that passed every check that needs no device.
template <class Problem, class Options>
struct CheckedCall {
  Problem problem;
  Options options;
  bool empty;  // the output has no elements: nothing is launched
};

template <class H>
struct Face {
  using Call = typename H::Call;
  using Checked = typename H::Checked;

  static const auto& chosen(const Checked& c, const DeviceProperties& properties,
                            const Call& call) {
    return choose(H::kId, H::table(), c.problem, properties, call.pin, nullptr);
  }

  static void run(const Call& call) {
    const Checked c = H::checked(call);
    if (c.empty) return;
    const DeviceProperties& properties = current_device(H::kId);
    launch(H::kId, chosen(c, properties, call), c.problem, properties, c.options.call, call.stream);
  }

  static std::size_t workspace(const Call& call) {
    const Checked c = H::checked(call);
    if (c.empty) return 0;
    const DeviceProperties& properties = current_device(H::kId);
    return chosen(c, properties, call).workspace_bytes(c.problem, properties);
  }

  static std::string explain(const Call& call) {
    const Checked c = H::checked(call);
    const std::string problem = H::describe(c);
    if (c.empty) return problem + describe_nothing(H::kNothing);
    return problem + explain_dispatch(H::kId, H::table(), c.problem, c.options.call, call.pin);
  }

  static CallResources resources(const Call& call) {
    Checked c = H::checked(call);
    if (c.empty) refuse_nothing(H::kId, H::kNothing);
    const DeviceProperties& properties = current_device(H::kId);
    // Where the instantiation depends on the device, the problem has a place for it.
    if constexpr (requires { c.problem.device; }) c.problem.device = &properties;
    return call_resources(H::kId, chosen(c, properties, call), c.problem);
  }

  static constexpr Functions<Call> functions() {
    return {.run = &run, .workspace = &workspace, .explain = &explain, .resources = &resources};
  }
};

}  // namespace libkernels::inline LK_BACKEND
