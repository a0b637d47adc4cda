// The rows of the GeLU suite: which types, forms, sizes and alignments lkbench looks at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/contestants.h"
#include "bench/problem.h"
#include "bench/selection.h"
#include "bench/types.h"

namespace libkernels::bench {

struct GeluRow {
  TypePair types;
  GeluForm form;
  std::int64_t n;
  int x_offset = 0;  // elements that the pointer lies behind a 256-byte boundary
  int y_offset = 0;

  bool operator==(const GeluRow&) const = default;
};

// The rows of the suite for a selection, smallest first.
std::vector<GeluRow> gelu_rows(const Selection& selection);

// "", "x+1", "x+1 y+1".
std::string variant(const GeluRow& row);

const char* name(GeluForm form);

Case gelu_case(const GeluRow& row);
std::unique_ptr<Problem> gelu_problem(const GeluRow& row);

}  // namespace libkernels::bench
