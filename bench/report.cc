// The tables of what was measured.
#include <fmt/format.h>

#include <algorithm>

#include "bench/problem.h"
#include "bench/table.h"

namespace libkernels::bench {
namespace {

constexpr const char* kMeasuredLegend =
    R"(us         median time of one call; cold or warm, as the head says
+-         half the 95% interval of that median
single     median of single calls between two events, the events' own cost included
GB/s       bytes the operation must move (each input read once, each output written once) / time
TFLOP/s    2 M N K / time
% ceiling  the time that those bytes take at the best plain copy of this size (of a reduction or a
           skinny product: read), interleaved with the row, or those FLOPs at the best loop out of
           registers, over the row's time
err ulp    largest error against fp64, in units in the last place of the output type
err/bound  largest error as a fraction of what the library promises; above 1 for the baselines,
           which cancel for x << 0 (naive) or round after each step (unfused)
x unfused  time of the unfused chain / time;  x naive, x peer (the fastest peer): likewise
MHz, W     SM clock and board power, median over the row
)";

constexpr const char* kEnduranceLegend =
    R"(Alone and without a pause. burst: the first 50 ms after an idle tenth of a second; sustained: the
second half of the time, when the power limit has set in. mJ: per call, of the whole board.
)";

std::optional<double> median_of(const std::optional<Summary>& s) {
  return s && s->samples > 0 ? std::optional(s->median) : std::nullopt;
}

std::string percent(std::optional<double> fraction, int decimals) {
  const std::string text = cell(fraction ? std::optional(100 * *fraction) : fraction, decimals);
  return text == "-" ? text : text + "%";
}

// Three significant digits at least, and no more than two decimals.
std::string time_cell(std::optional<double> us) {
  return cell(us, us && *us >= 1000 ? 0 : us && *us >= 100 ? 1 : 2);
}

Row measured_row(const Record& r) {
  const auto gpu = [&](auto member) {
    return r.gpu ? std::optional(double((*r.gpu).*member)) : std::nullopt;
  };
  const std::optional<double> ceiling =
      r.ceiling_fraction ? std::optional(100 * *r.ceiling_fraction) : std::nullopt;
  return {r.kernel,
          r.types,
          r.form.empty() ? "-" : r.form,
          shape_cell(r),
          time_cell(median_of(r.us)),
          percent(r.us ? r.us->half_width() : std::nullopt, 1),
          time_cell(median_of(r.isolated_us)),
          cell(r.gb_per_s, 0),
          cell(r.tflops, 1),
          cell(ceiling, 1),
          cell_short(r.error_ulp),
          cell_short(r.error_fraction),
          cell(r.speedup_unfused, 2),
          cell(r.speedup_naive, 2),
          cell(r.speedup_peer, 2),
          cell(gpu(&GpuState::sm_mhz), 0),
          cell(gpu(&GpuState::watts), 0),
          r.note};
}

std::string endurance_table(const Report& report) {
  std::vector<Row> rows{
      {"kernel", "type", "shape", "burst us", "TFLOP/s", "sustained us", "TFLOP/s", "mJ"}};
  for (const Record& r : report.records) {
    const auto burst = median_of(r.burst_us), sustained = median_of(r.sustained_us);
    if (!burst && !sustained) continue;
    const auto rate = [&](std::optional<double> us) {
      return us && *us > 0 && r.flops > 0 ? std::optional(r.flops / *us * 1e-6) : std::nullopt;
    };
    const bool counter = r.energy_from == "counter";
    rows.push_back(
        {r.kernel, r.types, shape_cell(r), time_cell(burst), cell(rate(burst), 1),
         time_cell(sustained), cell(rate(sustained), 1),
         cell(counter && r.microjoules ? std::optional(*r.microjoules * 1e-3) : std::nullopt, 2)});
  }
  return rows.size() < 2 ? "" : fmt::format("\n{}\n{}", align(rows), kEnduranceLegend);
}

std::string interval_cell(const std::optional<Interval>& interval) {
  return interval ? fmt::format("{:.3f} .. {:.3f}", interval->low, interval->high) : "-";
}

}  // namespace

std::string measured_table(const Report& report) {
  std::string cache;
  for (const Record& r : report.records) {
    if (cache.empty()) cache = r.cache;
  }
  std::vector<Row> rows =
      rows_of(report, false,
              {"kernel", "type", "form", "shape", cache.empty() ? "us" : "us " + cache, "+-",
               "single", "GB/s", "TFLOP/s", "% ceiling", "err ulp", "err/bound", "x unfused",
               "x naive", "x peer", "MHz", "W", ""},
              &measured_row);
  if (rows.empty()) return "";
  drop_empty_columns(&rows);
  return align(rows) + '\n' + kMeasuredLegend + endurance_table(report);
}

std::string versus_table(const Report& report) {
  std::vector<Row> rows{{"case", "A", "us", "B", "us", "B/A", "95%", "pairs", ""}};
  std::vector<Summary> ratios;
  for (const Record& r : report.records) {
    if (!r.versus && (r.us || r.note.empty())) continue;
    const std::string where = fmt::format("{} {}{}{} {}", r.op, r.types, r.form.empty() ? "" : " ",
                                          r.form, shape_cell(r));
    if (!r.versus) {
      rows.push_back({where, r.kernel, "-", "-", "-", "-", "-", "-", r.note});
      continue;
    }
    const auto other =
        std::find_if(report.records.begin(), report.records.end(), [&](const Record& o) {
          return o.op == r.op && o.types == r.types && o.form == r.form && o.shape == r.shape &&
                 o.variant == r.variant && o.kernel == r.versus->kernel;
        });
    const auto b = other == report.records.end() ? std::nullopt : median_of(other->us);
    const Summary& ratio = r.versus->ratio;
    ratios.push_back(ratio);
    rows.push_back({where, r.kernel, time_cell(median_of(r.us)), r.versus->kernel, time_cell(b),
                    cell(ratio.median, 3), interval_cell(ratio.median_interval),
                    fmt::format("{}", ratio.samples), r.note});
  }
  if (ratios.empty()) return "";
  const GeometricMean mean = geometric_mean(ratios);
  rows.push_back({"geometric mean", "", "", "", "", cell(mean.value, 3),
                  interval_cell(mean.interval), fmt::format("{} rows", ratios.size()), ""});
  return align(rows) + "\nB/A: time of B over time of A, pair by pair; above 1, A is faster.\n";
}

std::string ceilings_table(const Report& report) {
  std::vector<Row> rows{{"ceiling", "kernel", "bytes", "us", "+-", "measured", "data sheet", ""}};
  for (const CeilingRecord& c : report.ceilings) {
    if (!c.best) continue;
    const bool math = c.flops > 0;
    const double unit = math ? 1e-12 : 1e-9;
    const auto known = [&](double v) { return v > 0 ? std::optional(v * unit) : std::nullopt; };
    rows.push_back({c.kind, c.kernel, math ? "-" : fmt::format("{}", c.bytes),
                    time_cell(c.us.median), percent(c.us.half_width(), 1),
                    cell(known(c.per_s), math ? 1 : 0), cell(known(c.datasheet_per_s), 0),
                    math ? "TFLOP/s" : "GB/s"});
  }
  return rows.size() < 2 ? "" : '\n' + align(rows);
}

std::string progress_line(std::size_t done, std::size_t rows, double seconds,
                          const std::string& row) {
  std::string text = fmt::format("[{}/{}] {}", done + 1, rows, row);
  if (done == 0 || !(seconds > 0)) return text;
  const long left = long(seconds / double(done) * double(rows - done) + 0.5);
  if (left >= 60) return text + fmt::format("  {} min {} s left", left / 60, left % 60);
  return text + fmt::format("  {} s left", left);
}

}  // namespace libkernels::bench
