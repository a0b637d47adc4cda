#include "bench/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/flags.h"

namespace libkernels::bench {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  if (shape.size() == 1) return format_size(shape[0]);
  return fmt::format("{}", fmt::join(shape, "x"));
}

std::string benchmark_name(const Case& c) {
  const std::size_t arrow = c.types.find("->");
  const std::string types =
      arrow == std::string::npos
          ? c.types
          : fmt::format("{}_{}", c.types.substr(0, arrow), c.types.substr(arrow + 2));
  std::string text = fmt::format("{}/{}", c.op, types);
  if (!c.form.empty()) text += fmt::format("/{}", c.form);
  text += fmt::format("/{}", fmt::join(c.shape, "x"));
  std::string layout = c.layout;
  std::replace(layout.begin(), layout.end(), ' ', ',');
  return layout.empty() ? text : fmt::format("{}/{}", text, layout);
}

std::int64_t elements(const Case& c) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(c.shape.size(), 2); ++i) product *= c.shape[i];
  return product;
}

bool is_power_limited(const Case& c) {
  constexpr std::int64_t kExtent = 4096;
  return c.ceiling == Ceiling::math && c.shape.size() == 3 &&
         std::all_of(c.shape.begin(), c.shape.end(),
                     [](std::int64_t extent) { return extent > 0 && extent % kExtent == 0; });
}

}  // namespace libkernels::bench
