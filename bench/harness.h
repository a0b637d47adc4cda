// How lkbench measures time: CUDA events around launches that rotate over sets of buffers which
// together exceed the L2 (cold), contestants interleaved so that their ratios come from the same
// conditions, rounds until the medians are known well enough.
//
// Two modes. graph: a CUDA graph of many calls between two events, time per call; gaps between the
// host's launches are not in it. isolated: one call between two events, all of a round enqueued
// behind a kernel that keeps the device busy meanwhile; an event costs about a microsecond, which
// is in it. Rounds are counted by the wall clock and by their own convergence, never by CPU time.
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
  void synchronize() const;

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
  // A baseline that is many times slower: quartiles will do, its median need not converge.
  bool coarse = false;
};

struct TimingOptions {
  Mode mode = Mode::graph;
  double seconds = 0.3;  // cap: wall clock of the timed rounds together
  int sets = 1;          // of buffers; calls rotate over them
  // Rounds end once half the median's interval is below this part of every median; 0: at the cap.
  double precision = 0;
  int max_rounds = 400;
  // Called now and then while the device is busy, to sample its clocks.
  std::function<void()> while_busy{};
  // Isolated mode: keeps the stream busy for so many seconds, while the host enqueues a round.
  std::function<void(double seconds, cudaStream_t stream)> block{};
};

// Seconds per call, one sample a replay (graph) or a call (isolated), for each contestant; as many
// of each, in rounds.
std::vector<std::vector<double>> time_interleaved(Device& device, cudaStream_t stream,
                                                  std::span<const Contestant> contestants,
                                                  const TimingOptions& options);

// One contestant alone, replayed without a pause for `seconds`, after `idle_seconds` without work:
// what a power limit leaves of a short burst.
struct Endurance {
  std::vector<double> burst;      // seconds per call, of the first kBurstSeconds
  std::vector<double> sustained;  // ... of the last half
  double sustained_seconds = 0;   // of the wall clock, in that half
  double sustained_calls = 0;
};
inline constexpr double kBurstSeconds = 0.05;
// `on_sustained` is called with false at the begin and with true at the end of the last half.
Endurance time_endurance(Device& device, cudaStream_t stream, const Contestant& contestant,
                         const TimingOptions& options, double idle_seconds,
                         const std::function<void(bool)>& on_sustained);

// ---- Plans: pure functions ----------------------------------------------------------------------

// Sets of `bytes_per_set` that together exceed twice the L2, and 300 MB, by which nothing of a set
// is left in the cache when its turn comes again.
int sets_for_cold(std::int64_t bytes_per_set, std::size_t l2_bytes);

// Whether so many sets are more than twice the L2.
bool is_cold(std::int64_t bytes_per_set, int sets, std::size_t l2_bytes);

// Calls in one graph: whole rotations over the sets, long enough for the events' resolution, short
// enough to capture.
int calls_per_graph(double seconds_per_call, int sets, int launches_per_call);

// Rounds that fit the budget, at least as many as an interval of the median needs.
int rounds_within(double seconds, double seconds_per_round, int max_rounds);

}  // namespace libkernels::bench
