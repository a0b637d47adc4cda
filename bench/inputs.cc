#include "bench/inputs.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "bench/verify.h"

namespace libkernels::bench {

std::span<const std::byte> normal_period(DType type, std::size_t n, int kind) {
  static std::map<std::pair<DType, int>, std::vector<std::byte>> made;
  constexpr std::uint64_t kSeed = 30;
  std::vector<std::byte>& all = made[{type, kind}];
  if (all.empty()) all = normal_values(type, kInputPeriod, kSeed + std::uint64_t(kind));
  return std::span(all).first(std::min(n, kInputPeriod) * size_of(type));
}

}  // namespace libkernels::bench
