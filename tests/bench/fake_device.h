// An emulated device with a clock and graphs, both make-believe: what runs the timing code on a
// machine without a GPU. Its times say nothing about any kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "src/device.h"

namespace libkernels::bench {

class FakeDevice : public Device {
 public:
  explicit FakeDevice(Device& real) : real_(real) {}

  // Lets the clock go on, or the graph that is being recorded grow.
  void work(double ms) { (recording_ ? recorded_ms_ : clock_ms_) += ms; }

  bool fail_allocations = false;

  const char* backend() const override { return real_.backend(); }
  cudaError_t properties(const DeviceProperties** out) override { return real_.properties(out); }
  cudaError_t count(int* out) override { return real_.count(out); }
  cudaError_t allocate(void** p, std::size_t bytes) override {
    return fail_allocations ? cudaErrorMemoryAllocation : real_.allocate(p, bytes);
  }
  cudaError_t release(void* p) override { return p == nullptr ? cudaSuccess : real_.release(p); }
  cudaError_t allocate_async(void** p, std::size_t bytes, cudaStream_t s) override {
    return real_.allocate_async(p, bytes, s);
  }
  cudaError_t release_async(void* p, cudaStream_t s) override { return real_.release_async(p, s); }
  cudaError_t copy_to_device(void* d, const void* s, std::size_t n, cudaStream_t st) override {
    return real_.copy_to_device(d, s, n, st);
  }
  cudaError_t copy_to_host(void* d, const void* s, std::size_t n, cudaStream_t st) override {
    return real_.copy_to_host(d, s, n, st);
  }
  cudaError_t copy_on_device(void* d, const void* s, std::size_t n, cudaStream_t st) override {
    return real_.copy_on_device(d, s, n, st);
  }
  cudaError_t fill(void* p, int byte, std::size_t n, cudaStream_t s) override {
    return real_.fill(p, byte, n, s);
  }
  cudaError_t pointer_info(const void* p, PointerInfo* out) override {
    return real_.pointer_info(p, out);
  }
  cudaError_t stream_create(cudaStream_t* out) override { return real_.stream_create(out); }
  cudaError_t stream_destroy(cudaStream_t s) override { return real_.stream_destroy(s); }
  cudaError_t stream_synchronize(cudaStream_t s) override { return real_.stream_synchronize(s); }

  // An event is a number of the clock's readings.
  cudaError_t event_create(cudaEvent_t* out) override {
    events_.push_back(0);
    *out = reinterpret_cast<cudaEvent_t>(events_.size());
    return cudaSuccess;
  }
  cudaError_t event_destroy(cudaEvent_t) override { return cudaSuccess; }
  cudaError_t event_record(cudaEvent_t e, cudaStream_t) override {
    clock_ms_ += kStepMs;
    at(e) = clock_ms_;
    return cudaSuccess;
  }
  cudaError_t elapsed_ms(cudaEvent_t begin, cudaEvent_t end, float* out) override {
    const double ms = at(end) - at(begin) - kStepMs;
    *out = ms < kRoundingMs ? 0 : float(ms);  // nothing happened between them
    return cudaSuccess;
  }

  // What is called during a capture takes effect at once, and its time when the graph is launched.
  cudaError_t capture_begin(cudaStream_t) override {
    recording_ = true;
    recorded_ms_ = 0;
    return cudaSuccess;
  }
  cudaError_t capture_end(cudaStream_t, cudaGraphExec_t* out) override {
    recording_ = false;
    graphs_.push_back(recorded_ms_);
    *out = reinterpret_cast<cudaGraphExec_t>(graphs_.size());
    return cudaSuccess;
  }
  cudaError_t graph_launch(cudaGraphExec_t g, cudaStream_t) override {
    clock_ms_ += graphs_.at(reinterpret_cast<std::uintptr_t>(g) - 1);
    return cudaSuccess;
  }
  cudaError_t graph_destroy(cudaGraphExec_t) override { return cudaSuccess; }

  bool is_sticky(cudaError_t e) override { return real_.is_sticky(e); }
  cudaError_t sticky_error() override { return real_.sticky_error(); }
  void forget_error() override { real_.forget_error(); }
  std::string describe(cudaError_t e) override { return real_.describe(e); }

 private:
  static constexpr double kRoundingMs = 1e-9;
  static constexpr double kStepMs = 1e-3;  // two readings always differ

  double& at(cudaEvent_t e) { return events_.at(reinterpret_cast<std::uintptr_t>(e) - 1); }

  Device& real_;
  bool recording_ = false;
  double recorded_ms_ = 0;
  double clock_ms_ = 0;
  std::vector<double> events_;
  std::vector<double> graphs_;
};

}  // namespace libkernels::bench
