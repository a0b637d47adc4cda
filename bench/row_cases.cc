#include "bench/row_cases.h"

#include <algorithm>

namespace libkernels::bench {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr TypePair kF32{DType::f32, DType::f32};
constexpr TypePair kF16{DType::f16, DType::f16};
constexpr TypePair kBf16{DType::bf16, DType::bf16};
constexpr TypePair kF16ToF32{DType::f16, DType::f32};
constexpr TypePair kBf16ToF32{DType::bf16, DType::f32};

constexpr std::int64_t power(int exponent) { return std::int64_t{1} << exponent; }

void add(std::vector<RowCase>* rows, const std::vector<Shape>& shapes,
         const std::vector<TypePair>& types) {
  for (const Shape& s : shapes) {
    for (const TypePair& t : types) rows->push_back({.types = t, .rows = s[0], .cols = s[1]});
  }
}

// Rows of so many columns, as many as make about `total` elements.
std::vector<Shape> rows_of(std::int64_t total, const std::vector<std::int64_t>& cols) {
  std::vector<Shape> shapes;
  for (const std::int64_t n : cols) shapes.push_back({std::max<std::int64_t>(total / n, 1), n});
  return shapes;
}

std::vector<TypePair> asked_types(const Selection& selection, const std::vector<TypePair>& known) {
  std::vector<TypePair> types;
  for (const std::string& text : selection.types) {
    const auto pair = parse_type_pair(text);
    if (pair && std::count(known.begin(), known.end(), *pair) > 0) types.push_back(*pair);
  }
  return types;
}

// What the command line asks for by shape, in the types that it asks for or else in `own`.
std::vector<RowCase> asked_cases(const Selection& selection, const std::vector<TypePair>& known,
                                 const std::vector<TypePair>& own) {
  std::vector<RowCase> rows;
  const auto types = selection.types.empty() ? own : asked_types(selection, known);
  add(&rows, selection.shapes_or(2, {}), types);
  for (RowCase& row : rows) row.emulated = selection.emulated;
  return rows;
}

std::vector<RowCase> emulated(std::vector<RowCase> rows) {
  for (RowCase& row : rows) row.emulated = true;
  return rows;
}

void add_variants(std::vector<RowCase>* rows, const Shape& shape,
                  const std::vector<TypePair>& types) {
  for (const TypePair& t : types) {
    const RowCase plain{.types = t, .rows = shape[0], .cols = shape[1]};
    RowCase shifted = plain, column = plain;
    shifted.x_offset = 1;
    column.column = true;
    rows->push_back(shifted);
    rows->push_back(column);
  }
}

void add_columns(std::vector<RowCase>* rows, const std::vector<Shape>& shapes,
                 const std::vector<TypePair>& types) {
  const std::size_t before = rows->size();
  add(rows, shapes, types);
  for (std::size_t i = before; i < rows->size(); ++i) (*rows)[i].column = true;
}

std::string layout_text(const RowCase& row) {
  if (row.column) return "column";
  return row.x_offset == 0 ? "" : "x+1";
}

}  // namespace

std::vector<RowCase> softmax_cases(const Selection& selection) {
  const std::vector<TypePair> known{kF32, kF16, kBf16, kF16ToF32, kBf16ToF32};
  if (!selection.shapes.empty()) return asked_cases(selection, known, {kBf16, kF32});
  std::vector<RowCase> rows;
  if (selection.emulated) {
    add(&rows, {{64, 128}, {8, 1024}, {4, 4095}}, {kBf16, kF32});
    add(&rows, {{1, 20000}, {9, 257}}, {kBf16, kF16ToF32});
    add_variants(&rows, {16, 200}, {kBf16});
    return emulated(std::move(rows));
  }
  if (selection.quick) {
    add(&rows, {{power(20), 128}, {32768, 4096}, {32768, 4095}, {512, 262144}, {8, 131072}},
        {kBf16});
    add(&rows, {{32768, 4096}}, {kF32});
    return rows;
  }
  constexpr std::int64_t kTotal = power(27);
  add(&rows,
      rows_of(kTotal, {32, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144,
                       power(20), power(22)}),
      {kBf16, kF32});
  add(&rows, {{32768, 4095}}, {kBf16, kF16, kF32});
  add(&rows, rows_of(kTotal, {50257, 128255, 151936}), {kBf16, kF32});
  add(&rows, rows_of(kTotal, {128, 4096, 32768}), {kF16});
  add(&rows, {{32768, 4096}}, {kBf16ToF32});
  add(&rows, {{128, 1024}, {8, 131072}, {1, 262144}}, {kBf16, kF32});
  add_variants(&rows, {32768, 4096}, {kBf16});
  add_variants(&rows, {32768, 4096}, {kF32});
  // Columns of an odd length are misaligned.
  add_columns(&rows, {{power(20), 128}, {32767, 4096}, {4096, 32768}}, {kBf16});
  if (selection.large) {
    add(&rows, {{16384, 32768}, {8192, 65536}, {4096, 131072}, {2048, 262144}, {256, power(20)}},
        {kBf16, kF32});
  }
  return rows;
}

std::vector<RowCase> row_sum_cases(const Selection& selection) {
  const std::vector<TypePair> known{kF32, kF16ToF32, kBf16ToF32};
  if (!selection.shapes.empty()) return asked_cases(selection, known, {kBf16ToF32, kF32});
  std::vector<RowCase> rows;
  if (selection.emulated) {
    add(&rows, {{1024, 16}, {64, 256}, {4, 4095}}, {kBf16ToF32, kF32});
    add(&rows, {{1, 30000}}, {kBf16ToF32, kF16ToF32});
    add_variants(&rows, {16, 200}, {kBf16ToF32});
    return emulated(std::move(rows));
  }
  if (selection.quick) {
    add(&rows, {{1, power(28)}, {16, power(24)}, {65536, 4096}, {power(20), 256}, {1024, 1024}},
        {kBf16ToF32});
    add(&rows, {{65536, 4096}}, {kF32});
    return rows;
  }
  constexpr std::int64_t kTotal = power(28);
  add(&rows,
      rows_of(kTotal,
              {power(28), power(24), power(21), 262144, 65536, 16384, 4096, 1024, 256, 64, 32, 16}),
      {kBf16ToF32, kF32});
  add(&rows, rows_of(kTotal, {15, 63, 50257, power(21) - 1}), {kBf16ToF32, kF32});
  add(&rows, {{65536, 4095}}, {kBf16ToF32, kF32});
  add(&rows, {{1, kTotal - 1}}, {kBf16ToF32});
  add(&rows, {{65536, 4096}, {16, power(24)}}, {kF16ToF32});
  add(&rows, {{1024, 1024}, {4096, 4096}}, {kBf16ToF32, kF32});
  add_variants(&rows, {65536, 4096}, {kBf16ToF32, kF32});
  add_columns(&rows, {{power(21), 128}, {65535, 4096}, {16, power(24)}}, {kBf16ToF32});
  return rows;
}

Case softmax_case(const RowCase& row) {
  const std::int64_t n = row.rows * row.cols;
  return {.op = "softmax",
          .types = format_types(row.types),
          .form = "",
          .shape = {row.rows, row.cols},
          .layout = layout_text(row),
          .floor = {.read_bytes = n * std::int64_t(size_of(row.types.x)),
                    .written_bytes = n * std::int64_t(size_of(row.types.y))},
          .flops = 0,
          .ceiling = Ceiling::copy,
          .roles = {"fused", "naive", "unfused"}};
}

Case row_sum_case(const RowCase& row) {
  std::vector<std::string> roles{"fused", "naive", "naive_cta"};
  if (!row.emulated) roles.emplace_back("cub");
  return {.op = "row_sum",
          .types = format_types(row.types),
          .form = "",
          .shape = {row.rows, row.cols},
          .layout = layout_text(row),
          .floor = {.read_bytes = row.rows * row.cols * std::int64_t(size_of(row.types.x)),
                    .written_bytes = row.rows * std::int64_t(size_of(row.types.y))},
          .flops = 0,
          .ceiling = Ceiling::read,
          .roles = roles};
}

}  // namespace libkernels::bench
