// The GeLU suite: the same row measured on a GPU, or counted on the emulator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/contestants.h"
#include "bench/flags.h"
#include "bench/gelu_rows.h"
#include "bench/gpu_state.h"
#include "bench/model.h"
#include "bench/report.h"
#include "bench/verify.h"
#include "src/backend.h"

namespace libkernels::bench {

// Runs rows one at a time and says what came of each, contestant by contestant. Never throws for a
// row that cannot run: its record carries the reason.
class GeluSuite {
 public:
  virtual ~GeluSuite() = default;
  virtual std::vector<Record> run(const GeluRow& row) = 0;
};

// `monitor` may sample nothing, and must outlive the suite like the others.
std::unique_ptr<GeluSuite> make_timed_gelu(const Backend& backend, const Contestants& contestants,
                                           const Flags& flags, const GpuMonitor& monitor);
// Emulated devices are taken from flags.devices, one after the other.
std::unique_ptr<GeluSuite> make_counted_gelu(const Backend& backend, const Contestants& contestants,
                                             const Flags& flags);

// ---- What both share ----------------------------------------------------------------------------

// One way to compute a row: the library, or a baseline.
struct GeluWay {
  std::string role;    // "fused", "naive", "unfused"
  std::string kernel;  // its name
  int launches = 1;
  std::optional<CallResources> resources;  // unknown of a baseline
  std::function<void(const void* x, void* y, cudaStream_t stream)> call;
};

struct GeluScratch {
  void* first;
  void* second;
};

// `x` and `y` are an example of the pointers to come: the library's choice of kernel is asked with
// them. Throws what the library throws. `backend` and `contestants` must outlive the result.
std::vector<GeluWay> gelu_ways(const Backend& backend, const Contestants& contestants,
                               const GeluRow& row, const void* x, void* y,
                               const GeluScratch& scratch);

// Empty if the result is right; else what is wrong with it. The library must keep its own bound, a
// baseline a wide one.
std::string judge(const std::string& role, const ErrorSummary& error);

// What every record of the row has in common.
Record gelu_record(const GeluRow& row, const std::string& role, const std::string& kernel,
                   const std::string& mode);

// References, made once each.
class GeluReferences {
 public:
  // Holds at least `n` elements.
  const GeluReference& get(const GeluRow& row, std::size_t n);

 private:
  std::vector<std::unique_ptr<GeluReference>> all_;
};

}  // namespace libkernels::bench
