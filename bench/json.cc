#include "bench/json.h"

#include <fmt/format.h>

#include <cmath>

namespace libkernels::bench {

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", unsigned(static_cast<unsigned char>(c)));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(2 * has_members_.size(), ' ');
}

void JsonWriter::begin_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) text_ += ',';
  has_members_.back() = true;
  new_line();
}

void JsonWriter::open(char bracket) {
  begin_value();
  text_ += bracket;
  has_members_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members) new_line();
  text_ += bracket;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  begin_value();
  text_ += json_quote(name) + ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::value(std::string_view text) {
  begin_value();
  text_ += json_quote(text);
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  begin_value();
  text_ += fmt::format("{:.9g}", number);
}

void JsonWriter::value(std::int64_t number) {
  begin_value();
  text_ += fmt::format("{}", number);
}

void JsonWriter::value(std::uint64_t number) {
  begin_value();
  text_ += fmt::format("{}", number);
}

void JsonWriter::value(bool flag) {
  begin_value();
  text_ += flag ? "true" : "false";
}

void JsonWriter::null() {
  begin_value();
  text_ += "null";
}

}  // namespace libkernels::bench
