#include "bench/suites.h"

#include <fmt/format.h>

#include <algorithm>

namespace libkernels::bench {
namespace {

template <class T>
bool chosen(const std::vector<T>& choice, const T& value) {
  return choice.empty() || std::count(choice.begin(), choice.end(), value) > 0;
}

bool fits(const Selection& s, const Case& c) {
  return chosen(s.types, c.types) && chosen(s.forms, c.form) && chosen(s.layouts, c.layout) &&
         chosen(s.shapes, c.shape);
}

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Suite& suite : suites()) known.emplace_back(suite.name);
  for (const std::string& name : names) {
    if (std::count(known.begin(), known.end(), name) > 0) continue;
    throw FlagError(fmt::format("--suite={}: no such suite{}; there are {}", name,
                                did_you_mean(name, known), fmt::join(known, ", ")));
  }
}

}  // namespace

std::span<const Suite> suites() {
  static constexpr Suite kSuites[] = {
      {.name = "gelu",
       .about = "both forms, 2^16 to 2^28 elements (--large: 2^30)",
       .in_quick = true,
       .problems = &gelu_problems},
  };
  return kSuites;
}

Problems chosen_problems(const Flags& flags, bool emulated) {
  check_names(flags.suites);
  Selection selection = flags.selection;
  selection.emulated = emulated;
  selection.quick = flags.quick && !emulated;
  Problems all;
  for (const Suite& suite : suites()) {
    const bool asked = flags.suites.empty() ? suite.in_quick || !flags.quick
                                            : chosen(flags.suites, std::string(suite.name));
    if (!asked) continue;
    for (std::unique_ptr<Problem>& problem : suite.problems(selection)) {
      const Case& c = problem->about();
      const auto same = [&](const auto& other) { return other->about() == c; };
      if (fits(selection, c) && std::none_of(all.begin(), all.end(), same)) {
        all.push_back(std::move(problem));
      }
    }
  }
  return all;
}

}  // namespace libkernels::bench
