#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/json.h"
#include "bench/model.h"
#include "bench/problem.h"
#include "bench/types.h"

namespace libkernels::bench {
namespace {

constexpr const char* kMeasuredLegend =
    R"(us         median time of one call, over the samples; +-: half the distance of the quartiles
GB/s       bytes the operation must move (each input read once, each output written once) / time
% ceiling  the time those bytes take at the best copy of this size in this run / time
err ulp    largest error against fp64, in units in the last place of the output type
err/bound  largest error as a fraction of what the library promises; above 1 for the baselines,
           which cancel for x << 0 (naive) or round after each step (unfused)
x unfused  time of the unfused chain / time;  x naive  likewise
)";

constexpr const char* kCountedLegend =
    R"(Counted on the CPU emulator, modelled from data sheets. No time in this table was measured.
read, written  bytes that the lanes asked for, each time they asked
x floor        the same, over the least there can be: each input once, each output once
s/rd, s/wr     32-byte sectors of a warp's request, on average: 16 where each lane moves 16 bytes
conflicts      passes of the shared-memory banks beyond the least possible
CTA/SM, occ    CTAs an SM holds, and the part of its warp slots they fill; a range where only a
               limit of the registers is known
waves          how often the emulated device has to be filled, over all launches of the call
err ulp, err/bound  as measured on the emulator, whose approximations are rounded correctly
x unfused      bytes of the unfused chain / bytes
model A100 ... microseconds: the counted bytes at the data sheet's 2.0, 3.35, 4.8, 8.0 TB/s
)";

// Columns of the counted table between the row's name and the modelled times.
constexpr int kCountedFigures = 14;

bool is_number(const std::string& text) {
  return text == "-" ||
         (!text.empty() && text.find_first_not_of("0123456789.+-e%") == std::string::npos);
}

std::string elements_cell(const Record& r) {
  const std::string size = r.shape.empty() ? format_size(r.elements) : shape_text(r.shape);
  return r.variant.empty() ? size : size + " " + r.variant;
}

// A record that could not be counted has nothing but its mode.
bool is_counted(const Record& r) { return r.counted.has_value() || r.mode == "counted"; }

bool belongs_in_table(const Record& r) {
  return r.role != "ceiling" || r.kernel == r.ceiling_kernel;
}

std::vector<std::string> measured_row(const Record& r) {
  const std::optional<double> median = r.us ? std::optional(r.us->median) : std::nullopt;
  const std::optional<double> spread = r.us ? std::optional(100 * r.us->spread()) : std::nullopt;
  const std::optional<double> percent =
      r.ceiling_fraction ? std::optional(100 * *r.ceiling_fraction) : std::nullopt;
  return {r.kernel,
          r.types,
          r.form,
          elements_cell(r),
          cell(median, 2),
          spread ? cell(spread, 1) + "%" : "-",
          cell(r.gb_per_s, 0),
          cell(percent, 1),
          cell_short(r.error_ulp),
          cell_short(r.error_fraction),
          cell(r.speedup_unfused, 2),
          cell(r.speedup_naive, 2),
          r.note};
}

// "8", or "2..16" where the number of registers is only known to have a limit.
std::string range(double low, double high) {
  if (cell(low, 0) == cell(high, 0)) return cell(low, 0);
  return fmt::format("{}..{}", cell(low, 0), cell(high, 0));
}

std::optional<double> modelled(const Counted& c, const std::string& gpu) {
  for (const auto& [name, us] : c.modelled_us) {
    if (name == gpu) return us;
  }
  return std::nullopt;
}

std::vector<std::string> counted_row(const Record& r) {
  std::vector<std::string> row{r.kernel, r.types, r.form, elements_cell(r)};
  if (!r.counted) {
    row.insert(row.end(), kCountedFigures + datasheets().size(), "-");
    row.push_back(r.note);
    return row;
  }
  const Counted& c = *r.counted;
  const double bytes = double(c.bytes_read + c.bytes_written);
  const std::optional<double> floors =
      r.floor_bytes > 0 ? std::optional(bytes / double(r.floor_bytes)) : std::nullopt;
  row.insert(row.end(),
             {c.device, fmt::format("{}", r.launches), fmt::format("{}", c.bytes_read),
              fmt::format("{}", c.bytes_written), cell(floors, 2),
              cell(c.read_sectors_per_request, 2), cell(c.write_sectors_per_request, 2),
              fmt::format("{}", c.bank_conflicts), range(c.ctas_per_sm, c.ctas_per_sm_most),
              range(100 * c.occupancy, 100 * c.occupancy_most) + "%",
              range(double(c.waves_least), double(c.waves)), cell_short(r.error_ulp),
              cell_short(r.error_fraction), cell(r.speedup_unfused, 2)});
  for (const Datasheet& gpu : datasheets()) row.push_back(cell(modelled(c, gpu.name), 3));
  row.push_back(r.note);
  return row;
}

// A blank line between groups of rows that share everything but the kernel.
bool same_group(const Record& a, const Record& b) {
  return a.op == b.op && a.types == b.types && a.form == b.form && a.form == b.form &&
         a.shape == b.shape && a.elements == b.elements && a.variant == b.variant;
}

std::string table(const Report& report, bool counted, std::vector<std::string> head,
                  std::vector<std::string> (*row_of)(const Record&)) {
  std::vector<std::vector<std::string>> rows{std::move(head)};
  std::vector<std::size_t> breaks;
  const Record* before = nullptr;
  for (const Record& record : report.records) {
    if (is_counted(record) != counted || !belongs_in_table(record)) continue;
    if (before != nullptr && !same_group(*before, record)) rows.push_back({});
    rows.push_back(row_of(record));
    before = &record;
  }
  return before == nullptr ? "" : align(rows);
}

void write_summary(JsonWriter& json, const Summary& s) {
  json.begin_object();
  json.key("median").value(s.median);
  json.key("q1").value(s.q1);
  json.key("q3").value(s.q3);
  json.key("min").value(s.min);
  json.key("max").value(s.max);
  json.key("samples").value(std::uint64_t(s.samples));
  json.end_object();
}

void write_optional(JsonWriter& json, const char* key, std::optional<double> v) {
  if (v) json.key(key).value(*v);
}

void write_counted(JsonWriter& json, const Counted& c) {
  json.key("counted").begin_object();
  json.key("device").value(c.device);
  json.key("bytes_read").value(c.bytes_read);
  json.key("bytes_written").value(c.bytes_written);
  write_optional(json, "read_sectors_per_request", c.read_sectors_per_request);
  write_optional(json, "write_sectors_per_request", c.write_sectors_per_request);
  json.key("bank_conflicts").value(c.bank_conflicts);
  json.key("ctas").value(c.ctas);
  json.key("registers").value(c.registers);
  json.key("registers_exact").value(c.registers_exact);
  json.key("ctas_per_sm").value(c.ctas_per_sm);
  json.key("ctas_per_sm_most").value(c.ctas_per_sm_most);
  json.key("occupancy").value(c.occupancy);
  json.key("occupancy_most").value(c.occupancy_most);
  json.key("occupancy_limit").value(c.occupancy_limit);
  json.key("waves").value(c.waves);
  json.key("waves_least").value(c.waves_least);
  json.end_object();
  json.key("modelled_us").begin_object();
  for (const auto& [gpu, us] : c.modelled_us) json.key(gpu).value(us);
  json.end_object();
}

void write_gpu(JsonWriter& json, const GpuState& gpu) {
  json.key("gpu").begin_object();
  json.key("sm_mhz").value(std::uint64_t(gpu.sm_mhz));
  json.key("memory_mhz").value(std::uint64_t(gpu.memory_mhz));
  json.key("watts").value(gpu.watts);
  json.key("throttle_reasons").value(gpu.throttle_reasons);
  json.end_object();
}

void write_record(JsonWriter& json, const Record& r) {
  json.begin_object();
  json.key("op").value(r.op);
  json.key("role").value(r.role);
  json.key("kernel").value(r.kernel);
  json.key("types").value(r.types);
  json.key("form").value(r.form);
  json.key("shape").begin_array();
  for (const std::int64_t extent : r.shape) json.value(extent);
  json.end_array();
  json.key("elements").value(r.elements);
  json.key("variant").value(r.variant);
  json.key("floor_bytes").value(r.floor_bytes);
  if (r.flops > 0) json.key("flops").value(r.flops);
  json.key("launches").value(r.launches);
  json.key("mode").value(r.mode);
  if (r.us) {
    json.key("us");
    write_summary(json, *r.us);
  }
  write_optional(json, "gb_per_s", r.gb_per_s);
  if (!r.ceiling_kernel.empty()) json.key("ceiling_kernel").value(r.ceiling_kernel);
  write_optional(json, "ceiling_gb_per_s", r.ceiling_gb_per_s);
  write_optional(json, "ceiling_fraction", r.ceiling_fraction);
  write_optional(json, "speedup_unfused", r.speedup_unfused);
  write_optional(json, "speedup_naive", r.speedup_naive);
  write_optional(json, "error_ulp", r.error_ulp);
  write_optional(json, "error_fraction_of_bound", r.error_fraction);
  if (r.gpu) write_gpu(json, *r.gpu);
  if (r.counted) write_counted(json, *r.counted);
  json.key("note").value(r.note);
  json.key("failed").value(r.failed);
  json.end_object();
}

}  // namespace

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

std::string measured_table(const Report& report) {
  const std::string rows = table(report, false,
                                 {"kernel", "type", "form", "elements", "us", "+-", "GB/s",
                                  "% ceiling", "err ulp", "err/bound", "x unfused", "x naive", ""},
                                 &measured_row);
  return rows.empty() ? "" : rows + '\n' + kMeasuredLegend;
}

std::string counted_table(const Report& report) {
  std::vector<std::string> head{"kernel",   "type",      "form",     "elements", "device",
                                "launches", "read",      "written",  "x floor",  "s/rd",
                                "s/wr",     "conflicts", "CTA/SM",   "occ",      "waves",
                                "err ulp",  "err/bound", "x unfused"};
  for (const Datasheet& gpu : datasheets()) head.push_back(fmt::format("model {}", gpu.name));
  head.push_back("");
  const std::string rows = table(report, true, head, &counted_row);
  return rows.empty() ? "" : rows + '\n' + kCountedLegend;
}

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  json.key("schema").value(1);
  json.key("context").begin_object();
  for (const auto& [key, text] : report.context) json.key(key).value(text);
  json.end_object();
  json.key("records").begin_array();
  for (const Record& record : report.records) write_record(json, record);
  json.end_array();
  json.end_object();
  return json.text() + '\n';
}

}  // namespace libkernels::bench
