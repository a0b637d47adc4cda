// Filling records in, whatever the operation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "bench/report.h"

namespace libkernels::bench {

// What body() returns. If it throws: `row` alone, with the reason as its note, "skipped..." for a
// SkipRow and "FAILED...", with the mark, for anything else. `where` ("on h200") stands behind the
// first word; it may be empty.
std::vector<Record> records_or_reason(const Record& row, const std::string& where,
                                      const std::function<std::vector<Record>()>& body);

// us, gb_per_s and tflops, from the samples of time_interleaved (seconds per call). A note if some
// of them are no durations.
void set_time(Record* record, const std::vector<double>& seconds, double precision);

// The ceiling's columns: of bytes ("copy", "read"), or of FLOPs ("math"). Nothing if the record was
// not timed or there is no rate.
void set_byte_ceiling(Record* record, const std::string& ceiling, const std::string& kernel,
                      double bytes_per_s);
void set_math_ceiling(Record* record, const std::string& kernel, double flops_per_s);

// speedup_unfused, speedup_naive and speedup_peer, of all records that were timed beside one of
// that role; a peer is any role but "fused", "naive", "unfused" and "ceiling".
void set_speedups(std::vector<Record>* records);

// Appends to the note, behind what it says already.
void add_note(Record* record, const std::string& note);

}  // namespace libkernels::bench
