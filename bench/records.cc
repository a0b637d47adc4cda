#include "bench/records.h"

#include <fmt/format.h>

#include <algorithm>

namespace libkernels::bench {
namespace {

std::optional<double> times_of(const std::vector<Record>& all, const char* role, const Record& r) {
  const auto other =
      std::find_if(all.begin(), all.end(), [&](const Record& o) { return o.role == role; });
  if (other == all.end() || !other->us || !r.us || !(r.us->median > 0)) return std::nullopt;
  return other->us->median / r.us->median;
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

void set_time(Record* record, std::vector<double> seconds) {
  for (double& v : seconds) v *= 1e6;
  record->us = summarize(std::move(seconds));
  if (record->us->median > 0) {
    record->gb_per_s = double(record->floor_bytes) / record->us->median * 1e-3;
  }
}

void set_ceiling(Record* record, const CopyResult* fastest) {
  if (fastest == nullptr || !record->us || !(record->us->median > 0)) return;
  record->ceiling_kernel = fastest->kernel;
  record->ceiling_gb_per_s = fastest->bytes_per_s * 1e-9;
  record->ceiling_fraction = fraction_of_ceiling(double(record->floor_bytes),
                                                 record->us->median * 1e-6, fastest->bytes_per_s);
}

void set_speedups(std::vector<Record>* records) {
  for (Record& r : *records) {
    r.speedup_unfused = times_of(*records, "unfused", r);
    r.speedup_naive = times_of(*records, "naive", r);
  }
}

}  // namespace libkernels::bench
