// What the tables of a report are made of.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/report.h"

namespace libkernels::bench {

// "2^16", "4096x4095 NT": the shape and how it lies.
std::string shape_cell(const Record& r);

// A record that could not be counted has nothing but its mode.
bool is_counted(const Record& r);

using Row = std::vector<std::string>;

// The measured or the counted records as rows under `head`, a blank row between groups that share
// everything but the kernel. Empty if there is none.
std::vector<Row> rows_of(const Report& report, bool counted, Row head,
                         const std::function<Row(const Record&)>& row_of);

// Takes out the columns that have nothing but dashes below the head.
void drop_empty_columns(std::vector<Row>* rows);

}  // namespace libkernels::bench
