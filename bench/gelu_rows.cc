#include "bench/gelu_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace libkernels::bench {
namespace {

constexpr TypePair kF32{DType::f32, DType::f32};
constexpr TypePair kF16{DType::f16, DType::f16};
constexpr TypePair kBf16{DType::bf16, DType::bf16};
constexpr TypePair kBf16ToF32{DType::bf16, DType::f32};

constexpr std::int64_t power(int exponent) { return std::int64_t{1} << exponent; }

std::vector<GeluRow> quick_rows() {
  std::vector<GeluRow> rows;
  for (const int exponent : {16, 20, 22, 24, 26, 28}) {
    for (const TypePair& types : {kBf16, kF32}) {
      rows.push_back({.types = types, .form = GeluForm::tanh, .n = power(exponent)});
    }
  }
  for (const TypePair& types : {kBf16, kF32}) {
    rows.push_back({.types = types, .form = GeluForm::erf, .n = power(28)});
    rows.push_back(
        {.types = types, .form = GeluForm::tanh, .n = power(24), .x_offset = 1, .y_offset = 1});
  }
  rows.push_back({.types = kF16, .form = GeluForm::tanh, .n = power(28)});
  return rows;
}

// Pointers that no vector may start at and lengths that no vector divides. One form and the three
// plain types: alignment is a matter of the loads and stores, not of the arithmetic.
void add_misaligned(int exponent, std::vector<GeluRow>* rows) {
  for (const TypePair& types : {kBf16, kF16, kF32}) {
    const GeluRow row{.types = types, .form = GeluForm::tanh, .n = power(exponent)};
    const auto add = [&](std::int64_t n, int x_offset, int y_offset) {
      GeluRow r = row;
      r.n = n;
      r.x_offset = x_offset;
      r.y_offset = y_offset;
      rows->push_back(r);
    };
    add(row.n - 1, 0, 0);
    add(row.n, 1, 1);
    add(row.n, 1, 0);
  }
}

bool offered(const TypePair& t) {
  const bool is_float = t.x == DType::f32 || t.x == DType::f16 || t.x == DType::bf16;
  return is_float && (t.x == t.y || t.y == DType::f32);
}

std::vector<GeluRow> suite_rows(const Selection& selection) {
  const bool emulated = selection.emulated;
  std::vector<std::int64_t> sizes;
  for (const auto& shape : selection.shapes_or(1, {})) sizes.push_back(shape[0]);
  if (selection.shapes.empty()) {
    for (int e = 14; emulated && e <= 18; e += 2) sizes.push_back(power(e));
    for (int e : {16, 20, 22, 24, 26, 28}) {
      if (!emulated) sizes.push_back(power(e));
    }
    if (selection.large && !emulated) sizes.push_back(power(30));
  }
  std::vector<TypePair> types;
  for (const std::string& text : selection.types) {
    const std::optional<TypePair> pair = parse_type_pair(text);
    if (pair && offered(*pair)) types.push_back(*pair);
  }
  if (selection.types.empty()) types = {kBf16, kF16, kF32, kBf16ToF32};
  std::vector<GeluRow> rows;
  for (const std::int64_t n : sizes) {
    for (const TypePair& t : types) {
      for (const GeluForm form : {GeluForm::tanh, GeluForm::erf}) {
        rows.push_back({.types = t, .form = form, .n = n});
      }
    }
  }
  for (const int exponent : emulated ? std::vector{16} : std::vector{24, 28}) {
    add_misaligned(exponent, &rows);
  }
  return rows;
}

}  // namespace

std::vector<GeluRow> gelu_rows(const Selection& selection) {
  std::vector<GeluRow> rows = selection.quick ? quick_rows() : suite_rows(selection);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const GeluRow& a, const GeluRow& b) { return a.n < b.n; });
  return rows;
}

const char* name(GeluForm form) { return form == GeluForm::tanh ? "tanh" : "erf"; }

std::string variant(const GeluRow& row) {
  std::string text;
  if (row.x_offset != 0) text += fmt::format("x+{}", row.x_offset);
  if (row.y_offset != 0) text += fmt::format("{}y+{}", text.empty() ? "" : " ", row.y_offset);
  return text;
}

}  // namespace libkernels::bench
