// Types and sizes as the command line, the tables and the files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "include/libkernels/dtype.h"

namespace libkernels::bench {

// Of an input and an output.
struct TypePair {
  DType x;
  DType y;
  bool operator==(const TypePair&) const = default;
};

std::string format_types(const TypePair& types);                 // "bf16", "bf16->f32"
std::optional<TypePair> parse_type_pair(std::string_view text);  // "tf32" is none

// 65536 as "2^16", 16777215 as "2^24-1", 1000 as "1000".
std::string format_size(std::int64_t n);

}  // namespace libkernels::bench
