// Which cases a run looks at: what the command line asks of the suites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libkernels::bench {

struct Selection {
  bool emulated = false;  // cases are small: a CPU runs them
  bool quick = false;     // a few telling cases
  bool large = false;     // also those that take gigabytes
  // Each empty: all that the suite has. A suite also makes cases of types and shapes that are asked
  // for and not among its own; what does not fit the selection is dropped later, for all suites.
  std::vector<std::string> types;                 // as in Case: "bf16", "bf16->f32"
  std::vector<std::string> forms;                 // "tanh"
  std::vector<std::string> layouts;               // "NT"
  std::vector<std::vector<std::int64_t>> shapes;  // of any rank

  // Those of `rank` that are asked for; `own` if none is, whatever its rank.
  std::vector<std::vector<std::int64_t>> shapes_or(
      std::size_t rank, std::vector<std::vector<std::int64_t>> own) const {
    if (shapes.empty()) return own;
    std::vector<std::vector<std::int64_t>> asked;
    for (const auto& shape : shapes) {
      if (shape.size() == rank) asked.push_back(shape);
    }
    return asked;
  }
  std::vector<std::string> types_or(std::vector<std::string> own) const {
    return types.empty() ? own : types;
  }
};

}  // namespace libkernels::bench
