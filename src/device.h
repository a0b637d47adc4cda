// The second door: everything that src/, bench/ and tests/ ask of a device besides launching, for
// both backends. Outside kernels/ptx/ nothing else calls the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "kernels/ptx/device_properties.h"

namespace libkernels {

// One backend's devices. All calls act on the calling thread's current device and return the
// runtime's error code; none reports or clears an earlier, non-sticky error. Safe from any thread.
class Device {
 public:
  virtual ~Device() = default;

  // "cuda" or "emu".
  [[nodiscard]] virtual const char* backend() const = 0;

  // The current device. Properties are read once per device and live as long as the program
  // (emulated: until the profile changes).
  [[nodiscard]] virtual cudaError_t properties(const DeviceProperties** out) = 0;
  // Number of devices; 0 with cudaSuccess where there is no driver or no GPU.
  [[nodiscard]] virtual cudaError_t count(int* out) = 0;

  // Memory. allocate/release synchronise; the _async forms are stream-ordered.
  [[nodiscard]] virtual cudaError_t allocate(void** p, std::size_t bytes) = 0;
  [[nodiscard]] virtual cudaError_t release(void* p) = 0;
  [[nodiscard]] virtual cudaError_t allocate_async(void** p, std::size_t bytes,
                                                   cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t release_async(void* p, cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t copy_to_device(void* dst, const void* src, std::size_t bytes,
                                                   cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t copy_to_host(void* dst, const void* src, std::size_t bytes,
                                                 cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t copy_on_device(void* dst, const void* src, std::size_t bytes,
                                                   cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t fill(void* p, int byte, std::size_t bytes,
                                         cudaStream_t stream) = 0;

  // What LIBKERNELS_CHECK=1 asks of a pointer.
  struct PointerInfo {
    bool device_accessible = false;
    bool on_current_device = false;
    const void* base = nullptr;  // of its allocation; null if unknown
    std::size_t bytes = 0;       // of its allocation; 0 if unknown
  };
  [[nodiscard]] virtual cudaError_t pointer_info(const void* p, PointerInfo* out) = 0;

  // Streams. create makes a non-blocking one.
  [[nodiscard]] virtual cudaError_t stream_create(cudaStream_t* out) = 0;
  [[nodiscard]] virtual cudaError_t stream_destroy(cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t stream_synchronize(cudaStream_t stream) = 0;

  // Timing events. elapsed_ms waits for `end`. Emulated events read 0: the emulator has no clock.
  [[nodiscard]] virtual cudaError_t event_create(cudaEvent_t* out) = 0;
  [[nodiscard]] virtual cudaError_t event_destroy(cudaEvent_t event) = 0;
  [[nodiscard]] virtual cudaError_t event_record(cudaEvent_t event, cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t elapsed_ms(cudaEvent_t begin, cudaEvent_t end, float* out) = 0;

  // Graphs: what is enqueued on `stream` between the two is recorded, not run. Not emulated
  // (cudaErrorNotSupported).
  [[nodiscard]] virtual cudaError_t capture_begin(cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t capture_end(cudaStream_t stream, cudaGraphExec_t* out) = 0;
  [[nodiscard]] virtual cudaError_t graph_launch(cudaGraphExec_t graph, cudaStream_t stream) = 0;
  [[nodiscard]] virtual cudaError_t graph_destroy(cudaGraphExec_t graph) = 0;

  // True for an error after which every call fails. A call that returns one has itself done
  // nothing: a kernel's faults show in later calls. (Emulated faults end their own launch: false.)
  [[nodiscard]] virtual bool is_sticky(cudaError_t error) = 0;
  // The calling thread's last error if it is such a one, or cudaSuccess. Costs little.
  [[nodiscard]] virtual cudaError_t sticky_error() = 0;

  // Where a program shares the runtime's per-thread last error with us (static linking), a failed
  // launch of ours is its last error now. Takes that back, unless it is there for good. The calls
  // above do so themselves.
  virtual void forget_error() = 0;

  // "cudaErrorInvalidValue: invalid argument"; for an emulated fault, its text as well.
  [[nodiscard]] virtual std::string describe(cudaError_t error) = 0;
};

// Each defined where its backend is linked.
Device& cuda_device();
Device& emu_device();

}  // namespace libkernels
