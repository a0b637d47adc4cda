// What the machine can do at most, measured in the same run: the rates of the best plain copy, read
// and write of as many bytes as a row moves, and of the best loop of multiply-adds out of
//registers.
// At the first row of a size all candidates of its kind compete (the hand-written kernels of
// ceiling_kernels.cu and the runtime's own copy or fill); which one won is kept for the run. The
// winner is then timed again beside each row, interleaved with it, so that a row's fraction of the
// ceiling compares times of the same minute: floor time (the bytes that the operation must move, at
// the winner's rate) over measured time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu_state.h"
#include "bench/harness.h"
#include "bench/problem.h"
#include "bench/report.h"
#include "bench/workplace.h"

namespace libkernels::bench {

// Bytes that a copy reads (and writes) so that it moves as much as an operation that reads and
// writes `op_bytes` in all; of a read or a write alone: all of them. Rounded up to 16.
std::size_t stream_bytes(Traffic traffic, std::int64_t op_bytes);

// The memory of a copy, read or write of a size, and its candidates.
class StreamTrack {
 public:
  // Throws SkipRow if there is too little memory.
  StreamTrack(const Site& site, Traffic traffic, std::int64_t op_bytes, int sets);
  std::vector<Contestant> candidates();  // this must outlive them
  // Throws runtime_error unless the candidate copies (of a copy), or writes all (of a write).
  void verify(const Contestant& candidate);
  std::int64_t bytes_moved() const;

 private:
  StreamCall call(int set, cudaStream_t stream) const;

  Traffic traffic_;
  std::size_t bytes_;
  Workplace place_;
};

class Ceilings {
 public:
  // `monitor` must outlive this. `sets`: of buffers, if not as many as it takes to be cold.
  Ceilings(const Site& site, const TimingOptions& options, const GpuMonitor& monitor,
           std::optional<int> sets = std::nullopt);

  // The name of the best candidate of the size; "" where there is too little memory to tell.
  std::string best_stream(Traffic traffic, std::int64_t op_bytes);

  struct Rate {
    std::string kernel;  // "mma.sync bf16"; "wgmma bf16 x 0.5": derived from another type's
    double flops_per_s = 0;
  };
  // For a product of such types (Case::types) by the library's kernels of the generation `arch` (0:
  // any); the kernel is "" where none was measured.
  Rate best_math(const std::string& types, int arch);

  // Everything measured so far, in order.
  const std::vector<CeilingRecord>& records() const { return records_; }

 private:
  void measure_math();

  Site site_;
  TimingOptions options_;
  const GpuMonitor& monitor_;
  std::optional<int> sets_;
  const DeviceProperties* properties_ = nullptr;
  std::map<std::pair<Traffic, std::int64_t>, std::string> winners_;
  bool has_math_ = false;
  std::vector<CeilingRecord> records_;
};

// ---- Pure ---------------------------------------------------------------------------------------

// Sizes that share a competition: the same to one part in 32.
std::int64_t size_class(std::int64_t bytes);

// Floor time over measured time; 0 where either is unknown.
double fraction_of_ceiling(double amount, double seconds, double ceiling_per_s);

// The rate of best_math out of what was measured: of the type itself where there is one, else that
// of bf16 times the data sheets' ratio. arch 80: of mma.sync alone.
Ceilings::Rate best_rate(const std::vector<CeilingRecord>& records, const std::string& types,
                         int arch);

// What part of the bf16 rate a product of the types can have on tensor cores (tf32 0.5, fp8 2,
// tf32x3 a third of tf32's), by the data sheets; 0: no tensor cores, it is fp32 FMA.
double tensor_factor(const std::string& types);

}  // namespace libkernels::bench
