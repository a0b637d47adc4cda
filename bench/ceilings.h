// The ceiling of a size: the best bandwidth that any copy of as many bytes reached in this run.
//
// Contestants are the hand-written copies of ceiling_kernels.cu and the runtime's own copy on the
// device. A fraction of the ceiling is floor time over measured time: the bytes that an operation
// must move, each once, at the ceiling's rate, over what it took.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/contestants.h"
#include "bench/harness.h"
#include "bench/statistics.h"
#include "src/device.h"

namespace libkernels::bench {

// The buffers of a set: `bytes` from src to dst, both 16-byte aligned.
struct CopyBuffers {
  std::function<void*(int set)> dst;
  std::function<const void*(int set)> src;
  std::size_t bytes;  // a multiple of 16
};

// Bytes that a copy reads (and writes) so that it moves as much as an operation that reads and
// writes `op_bytes` in all; rounded up to 16.
std::size_t copy_bytes_for(std::int64_t op_bytes);

// `device`, `contestants` and `buffers` must outlive the result.
std::vector<Contestant> copy_contestants(Device& device, const Contestants& contestants,
                                         const DeviceProperties& properties,
                                         const CopyBuffers& buffers);

struct CopyResult {
  std::string kernel;
  Summary seconds;
  double bytes_per_s = 0;
};

// In the order of the contestants.
std::vector<CopyResult> copy_results(std::span<const Contestant> copies,
                                     std::span<const std::vector<double>> samples,
                                     std::size_t copy_bytes);

// The fastest, by median. Null if none has samples.
const CopyResult* best(std::span<const CopyResult> results);

// Floor time over measured time; 0 where either is unknown.
double fraction_of_ceiling(double op_bytes, double seconds, double ceiling_bytes_per_s);

}  // namespace libkernels::bench
