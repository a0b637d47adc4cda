#include "bench/types.h"

#include <fmt/format.h>

namespace libkernels::bench {

std::string format_types(const TypePair& types) {
  if (types.x == types.y) return name(types.x);
  return fmt::format("{}->{}", name(types.x), name(types.y));
}

std::optional<TypePair> parse_type_pair(std::string_view text) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2};
  for (const DType x : kTypes) {
    for (const DType y : kTypes) {
      if (text == format_types({x, y})) return TypePair{x, y};
    }
  }
  return std::nullopt;
}

std::string format_size(std::int64_t n) {
  for (int e = 10; e <= 40; ++e) {
    const std::int64_t power = std::int64_t{1} << e;
    if (n == power) return fmt::format("2^{}", e);
    if (n == power - 1) return fmt::format("2^{}-1", e);
    if (n == power + 1) return fmt::format("2^{}+1", e);
  }
  return fmt::format("{}", n);
}

}  // namespace libkernels::bench
