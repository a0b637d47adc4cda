// Writes JSON, one value after the other.
//
//   JsonWriter json;
//   json.begin_object();
//   json.key("elements").value(65536);
//   json.key("us").value(1.32);
//   json.end_object();
//   file << json.text();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libkernels::bench {

// The text as a JSON string, quotes included. Bytes that are not UTF-8 pass as they are.
std::string json_quote(std::string_view text);

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  JsonWriter& key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(double number);  // null if it is not finite: JSON has no other word for that
  void value(std::int64_t number);
  void value(std::uint64_t number);
  void value(int number) { value(std::int64_t(number)); }
  void value(bool flag);
  void null();

  const std::string& text() const { return text_; }

 private:
  void open(char bracket);
  void close(char bracket);
  void begin_value();
  void new_line();

  std::string text_;
  std::vector<bool> has_members_;  // one entry for each open bracket
  bool after_key_ = false;
};

}  // namespace libkernels::bench
