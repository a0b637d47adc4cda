// The random inputs of softmax, row-sum and matmul.
#pragma once

#include <cstddef>
#include <span>

#include "include/libkernels/dtype.h"

namespace libkernels::bench {

// Inputs repeat with this period: a prime, so that no row, column or tile of a matrix equals
// another.
inline constexpr std::size_t kInputPeriod = 524287;

// The first `n` of kInputPeriod standard normal values, rounded to the type; made once a type. Two
// kinds, for operands that must not be the same.
std::span<const std::byte> normal_period(DType type, std::size_t n, int kind = 0);

}  // namespace libkernels::bench
