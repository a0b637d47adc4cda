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
    throw FlagError(fmt::format("--suite={}: no such suite{}", name, did_you_mean(name, known)));
  }
}

// A form or layout that no case has is a slip, unless nothing was made that could have one.
void check_values(const char* flag, const std::vector<std::string>& asked,
                  const std::vector<std::string>& known) {
  for (const std::string& value : asked) {
    if (known.empty() || std::count(known.begin(), known.end(), value) > 0) continue;
    throw FlagError(fmt::format("{}={}: no row has it{}", flag, value, did_you_mean(value, known)));
  }
}

std::size_t extents(const std::string& shape) {
  return std::size_t(std::count(shape.begin(), shape.end(), 'x')) + 1;
}

// A shape that none of the suites asked for can have would be dropped in silence beside another.
void check_shapes(const Flags& flags) {
  for (const auto& [flag, value] : flags.filters) {
    if (flag != "--shape" && flag != "--n") continue;
    std::string takes;
    bool fits = false;
    for (const Suite& suite : suites()) {
      if (!chosen(flags.suites, std::string(suite.name))) continue;
      fits = fits || extents(suite.shape) == extents(value);
      takes += fmt::format("{}{} takes {}", takes.empty() ? "" : ", ", suite.name, suite.shape);
    }
    if (!fits) {
      throw FlagError(
          fmt::format("{}={}: the filters leave no row of that shape; {}", flag, value, takes));
    }
  }
}

// The flags without those filters that are called `name`.
Flags without(Flags flags, const std::string& name) {
  std::erase_if(flags.filters, [&](const auto& filter) { return filter.first == name; });
  if (name == "--suite") flags.suites.clear();
  if (name == "--dtype") flags.selection.types.clear();
  if (name == "--form") flags.selection.forms.clear();
  if (name == "--layout") flags.selection.layouts.clear();
  if (name == "--n" || name == "--shape") {
    const std::size_t rank = name == "--n" ? 1 : 0;  // --shape's own may be of rank 1, too
    std::erase_if(flags.selection.shapes,
                  [&](const auto& shape) { return rank == 0 || shape.size() == rank; });
  }
  return flags;
}

void add_once(const std::string& value, std::vector<std::string>* all) {
  if (!value.empty() && std::count(all->begin(), all->end(), value) == 0) all->push_back(value);
}

}  // namespace

std::span<const Suite> suites() {
  static constexpr Suite kSuites[] = {
      {.name = "gelu",
       .shape = "N",
       .about = "both forms, 2^16 to 2^28 elements (--large: 2^30)",
       .in_quick = true,
       .problems = &gelu_problems},
      {.name = "softmax",
       .shape = "MxN",
       .about = "rows of 32 to 2^22 columns in 2^27 elements, odd ones, few rows",
       .in_quick = true,
       .problems = &softmax_problems},
      {.name = "row_sum",
       .shape = "MxN",
       .about = "2^28 elements from 1 x 2^28 to 2^24 x 16, odd rows, small ones",
       .in_quick = true,
       .problems = &row_sum_problems},
      {.name = "matmul",
       .shape = "MxNxK",
       .about = "squares, layouts, LLM layers, deep and thin K, all types",
       .in_quick = true,
       .problems = &matmul_problems},
      {.name = "cliff",
       .shape = "MxNxK",
       .about = "N^3 for N in 1000 to 8200, half of them odd; the library and cuBLASLt",
       .in_quick = false,
       .problems = &cliff_problems},
      {.name = "decode",
       .shape = "MxNxK",
       .about = "1 to 64 rows times a layer's weights; the library and cuBLASLt",
       .in_quick = false,
       .problems = &decode_problems},
  };
  return kSuites;
}

Problems chosen_problems(const Flags& flags, bool emulated) {
  check_names(flags.suites);
  check_shapes(flags);
  Selection selection = flags.selection;
  selection.emulated = emulated;
  selection.quick = flags.quick && !emulated;
  Problems all;
  std::vector<std::string> forms, layouts;
  for (const Suite& suite : suites()) {
    // A shape by itself asks for one row of an operation, not for one of each of its sweeps.
    const bool by_default = suite.in_quick || (!flags.quick && selection.shapes.empty());
    const bool asked =
        flags.suites.empty() ? by_default : chosen(flags.suites, std::string(suite.name));
    if (!asked) continue;
    for (std::unique_ptr<Problem>& problem : suite.problems(selection)) {
      const Case& c = problem->about();
      add_once(c.form, &forms);
      add_once(c.layout, &layouts);
      const auto same = [&](const auto& other) { return other->about() == c; };
      if (fits(selection, c) && std::none_of(all.begin(), all.end(), same)) {
        all.push_back(std::move(problem));
      }
    }
  }
  check_values("--form", selection.forms, forms);
  check_values("--layout", selection.layouts, layouts);
  return all;
}

std::string why_no_row(const Flags& flags, bool emulated) {
  std::string given;
  std::vector<std::string> names;
  for (const auto& [name, value] : flags.filters) {
    given += fmt::format(" {}={}", name, value);
    add_once(name, &names);
  }
  std::string text = fmt::format("the filters leave no row:{}", given);
  for (const std::string& name : names) {
    std::vector<std::string> types;
    std::size_t count = 0;
    try {
      const Problems rows = chosen_problems(without(flags, name), emulated);
      count = rows.size();
      for (const auto& row : rows) add_once(row->about().types, &types);
    } catch (const FlagError&) {  // another of the filters is the one too many
    }
    if (count == 0) continue;
    text += fmt::format("; without {}: {} rows", name, count);
    if (name == "--dtype") text += fmt::format(" of {}", fmt::join(types, ", "));
  }
  return text;
}

}  // namespace libkernels::bench
