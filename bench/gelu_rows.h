// The rows of the GeLU suite: which types, forms, sizes and alignments lkbench looks at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/flags.h"

namespace libkernels::bench {

struct GeluRow {
  TypePair types;
  GeluForm form;
  std::int64_t n;
  int x_offset = 0;  // elements that the pointer lies behind a 256-byte boundary
  int y_offset = 0;

  bool operator==(const GeluRow&) const = default;
};

// The rows that the flags choose, smallest first. `emulated` rows are small.
std::vector<GeluRow> gelu_rows(const Flags& flags, bool emulated);

// "", "x+1", "x+1 y+1".
std::string variant(const GeluRow& row);

// "gelu/bf16/tanh/65536", "gelu/bf16_f32/erf/16777216/x+1": for Google Benchmark.
std::string benchmark_name(const GeluRow& row);

}  // namespace libkernels::bench
