// Filling records in, whatever the operation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/ceilings.h"
#include "bench/report.h"

namespace libkernels::bench {

// What body() returns. If it throws: `row` alone, with the reason as its note, "skipped..." for a
// SkipRow and "FAILED...", with the mark, for anything else. `where` ("on h200") stands behind the
// first word; it may be empty.
std::vector<Record> records_or_reason(const Record& row, const std::string& where,
                                      const std::function<std::vector<Record>()>& body);

// us and gb_per_s, from the samples of time_interleaved: seconds per call.
void set_time(Record* record, std::vector<double> seconds);

// The ceiling's columns. Nothing if no copy was timed (null), or the record was not.
void set_ceiling(Record* record, const CopyResult* fastest);

// speedup_unfused and speedup_naive, of all records that were timed beside one of that role.
void set_speedups(std::vector<Record>* records);

}  // namespace libkernels::bench
