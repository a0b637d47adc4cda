#include "bench/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/problem.h"
#include "bench/types.h"

namespace libkernels::bench {
namespace {

bool is_number(const std::string& text) {
  return text == "-" ||
         (!text.empty() && text.find_first_not_of("0123456789.+-e%") == std::string::npos);
}

bool belongs_in_table(const Record& r) {
  return r.role != "ceiling" || r.kernel == r.ceiling_kernel;
}

// A blank line between groups of rows that share everything but the kernel.
bool same_group(const Record& a, const Record& b) {
  return a.op == b.op && a.types == b.types && a.form == b.form && a.shape == b.shape &&
         a.elements == b.elements && a.variant == b.variant;
}

}  // namespace

std::string shape_cell(const Record& r) {
  const std::string size = r.shape.empty() ? format_size(r.elements) : shape_text(r.shape);
  return r.variant.empty() ? size : size + " " + r.variant;
}

bool is_counted(const Record& r) { return r.counted.has_value() || r.mode == "counted"; }

std::vector<Row> rows_of(const Report& report, bool counted, Row head,
                         const std::function<Row(const Record&)>& row_of) {
  std::vector<Row> rows{std::move(head)};
  const Record* before = nullptr;
  for (const Record& record : report.records) {
    if (is_counted(record) != counted || !belongs_in_table(record)) continue;
    if (before != nullptr && !same_group(*before, record)) rows.push_back({});
    rows.push_back(row_of(record));
    before = &record;
  }
  if (before == nullptr) rows.clear();
  return rows;
}

void drop_empty_columns(std::vector<Row>* rows) {
  if (rows->size() < 2) return;
  for (std::size_t column = rows->front().size(); column-- > 0;) {
    const bool empty = std::all_of(rows->begin() + 1, rows->end(), [&](const Row& row) {
      return column >= row.size() || row[column] == "-";
    });
    if (!empty) continue;
    for (Row& row : *rows) {
      if (column < row.size()) row.erase(row.begin() + std::ptrdiff_t(column));
    }
  }
}

std::string cell(std::optional<double> value, int decimals) {
  if (!value || !std::isfinite(*value)) return "-";
  return fmt::format("{:.{}f}", *value, decimals);
}

std::string cell_short(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return "-";
  return fmt::format("{:.3g}", *value);
}

std::string align(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    right.resize(widths.size(), true);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
      if (&row != &rows.front() && !is_number(row[i])) right[i] = false;
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += right[i] ? fmt::format("{:>{}}", row[i], widths[i])
                       : fmt::format("{:<{}}", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace libkernels::bench
