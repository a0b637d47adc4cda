#include "bench/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ceilings.h"

namespace libkernels::bench {
namespace {

std::optional<double> times_of(const std::vector<Record>& all, const char* role, const Record& r) {
  const auto other =
      std::find_if(all.begin(), all.end(), [&](const Record& o) { return o.role == role; });
  if (other == all.end() || !other->us || !r.us || !(r.us->median > 0)) return std::nullopt;
  return other->us->median / r.us->median;
}

bool is_peer(const std::string& role) {
  return role != "fused" && role != "naive" && role != "unfused" && role != "ceiling";
}

}  // namespace

std::vector<Record> records_or_reason(const Record& row, const std::string& where,
                                      const std::function<std::vector<Record>()>& body) {
  Record without = row;
  const auto note = [&](const char* word, const char* reason) {
    return fmt::format("{}{}{}: {}", word, where.empty() ? "" : " ", where, reason);
  };
  try {
    return body();
  } catch (const SkipRow& error) {
    without.note = note("skipped", error.what());
  } catch (const std::exception& error) {
    without.note = note("FAILED", error.what());
    without.failed = true;
  }
  return {without};
}

void add_note(Record* record, const std::string& note) {
  if (note.empty()) return;
  record->note = record->note.empty() ? note : fmt::format("{}; {}", record->note, note);
}

void set_time(Record* record, const std::vector<double>& seconds, double precision) {
  const Summary us = summarize(seconds).scaled(1e6);
  record->us = us;
  if (precision > 0) {
    const std::optional<double> half_width = us.half_width();
    record->converged = half_width && *half_width <= precision;
  }
  if (us.dropped > 0) add_note(record, fmt::format("dropped {} samples", us.dropped));
  if (!(us.median > 0)) return;
  record->gb_per_s = double(record->floor_bytes) / us.median * 1e-3;
  if (record->flops > 0) record->tflops = record->flops / us.median * 1e-6;
}

void set_byte_ceiling(Record* record, const std::string& ceiling, const std::string& kernel,
                      double bytes_per_s) {
  record->ceiling = ceiling;
  if (!(bytes_per_s > 0) || !record->us || !(record->us->median > 0)) return;
  record->ceiling_kernel = kernel;
  record->ceiling_gb_per_s = bytes_per_s * 1e-9;
  record->ceiling_fraction =
      fraction_of_ceiling(double(record->floor_bytes), record->us->median * 1e-6, bytes_per_s);
}

void set_math_ceiling(Record* record, const std::string& kernel, double flops_per_s) {
  record->ceiling = "math";
  if (!(flops_per_s > 0) || !record->us || !(record->us->median > 0)) return;
  record->ceiling_kernel = kernel;
  record->ceiling_tflops = flops_per_s * 1e-12;
  record->ceiling_fraction =
      fraction_of_ceiling(record->flops, record->us->median * 1e-6, flops_per_s);
}

void set_speedups(std::vector<Record>* records) {
  const Record* peer = nullptr;
  for (const Record& r : *records) {
    if (!is_peer(r.role) || !r.us || !(r.us->median > 0)) continue;
    if (peer == nullptr || r.us->median < peer->us->median) peer = &r;
  }
  for (Record& r : *records) {
    r.speedup_unfused = times_of(*records, "unfused", r);
    r.speedup_naive = times_of(*records, "naive", r);
    if (peer == nullptr || !r.us || !(r.us->median > 0)) continue;
    r.peer = peer->kernel;
    r.speedup_peer = peer->us->median / r.us->median;
  }
}

}  // namespace libkernels::bench
