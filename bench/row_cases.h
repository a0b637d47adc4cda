// The cases of the suites softmax and row_sum: which matrices lkbench looks at.
#pragma once

#include <string>
#include <vector>

#include "bench/problem.h"
#include "bench/selection.h"
#include "bench/types.h"

namespace libkernels::bench {

struct RowCase {
  TypePair types;
  std::int64_t rows;
  std::int64_t cols;
  int x_offset = 0;     // elements that the pointer lies behind a 256-byte boundary
  bool column = false;  // the rows' elements are `rows` apart: x, and softmax's y, are transposed

  bool emulated = false;  // no library of the CUDA toolkit takes part

  bool operator==(const RowCase&) const = default;
};

std::vector<RowCase> softmax_cases(const Selection& selection);
std::vector<RowCase> row_sum_cases(const Selection& selection);

Case softmax_case(const RowCase& row);
Case row_sum_case(const RowCase& row);

std::unique_ptr<Problem> softmax_problem(const RowCase& row);
std::unique_ptr<Problem> row_sum_problem(const RowCase& row);

}  // namespace libkernels::bench
