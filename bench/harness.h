// How lkbench measures time: CUDA events around launches that rotate over sets of buffers which
// together exceed the L2 (cold), contestants interleaved so that their ratios come from the same
// conditions, wall-clock budgets, medians.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/flags.h"
#include "src/device.h"

namespace libkernels::bench {

// A row that cannot be measured here, with the reason for its place in the table.
struct SkipRow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws runtime_error "<what>: <the error's text>" unless `error` is cudaSuccess.
void check(Device& device, cudaError_t error, const std::string& what);

// Device memory for as long as this lives. Throws SkipRow, with the bytes, if there is too little.
class DeviceMemory {
 public:
  DeviceMemory(Device& device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(data_); }
  std::size_t bytes() const { return bytes_; }

 private:
  Device& device_;
  void* data_ = nullptr;
  std::size_t bytes_;
};

class Stream {
 public:
  explicit Stream(Device& device);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }
  void synchronize();

 private:
  Device& device_;
  cudaStream_t stream_ = nullptr;
};

// One way to do the work of a row.
struct Contestant {
  std::string name;
  int launches = 1;        // kernels of one call
  std::int64_t bytes = 0;  // that a call moves at least: for estimates only
  std::function<void(int set, cudaStream_t stream)> call;  // enqueues, throws on failure
};

struct TimingOptions {
  Mode mode = Mode::graph;
  double seconds = 0.3;  // wall clock of the timed rounds together
  int sets = 1;          // of buffers; calls rotate over them
  // Called now and then while the device is busy, to sample its clocks.
  std::function<void()> while_busy;
};

// Seconds per call, one sample a replay (graph) or a call (isolated), for each contestant.
std::vector<std::vector<double>> time_interleaved(Device& device, cudaStream_t stream,
                                                  std::span<const Contestant> contestants,
                                                  const TimingOptions& options);

// ---- Plans: pure functions ----------------------------------------------------------------------

// Sets of `bytes_per_set` that together exceed twice the L2, and 300 MB, by which nothing of a set
// is left in the cache when its turn comes again.
int sets_for_cold(std::int64_t bytes_per_set, std::size_t l2_bytes);

// Calls in one graph: whole rotations over the sets, long enough for the events' resolution, short
// enough to capture.
int calls_per_graph(double seconds_per_call, int sets, int launches_per_call);

// Rounds that fit the budget, at least as many as quartiles need.
int rounds_within(double seconds, double seconds_per_round);

}  // namespace libkernels::bench
