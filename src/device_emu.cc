// The emulated device: host memory, streams that are synchronous, a clock that stands still.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "kernels/ptx/emu/emulator.h"
#include "src/device.h"

namespace libkernels {
namespace {

// Streams and events have no state; a handle only has to differ from the others and from null.
// They count in steps so that no handle equals cudaStreamLegacy (1) or cudaStreamPerThread (2).
template <class Handle>
Handle next_handle() {
  constexpr std::uintptr_t kStep = 16;
  static std::atomic<std::uintptr_t> last{0};
  return reinterpret_cast<Handle>(last.fetch_add(kStep) + kStep);
}

// The part of the runtime's table that the emulator returns: this build links no CUDA runtime.
const char* name_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess: no error";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue: invalid argument";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation: out of memory";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration: invalid configuration argument";
    case cudaErrorInvalidClusterSize:
      return "cudaErrorInvalidClusterSize: cluster misconfiguration";
    case cudaErrorInvalidDevicePointer:
      return "cudaErrorInvalidDevicePointer: invalid device pointer";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported: operation not supported (emulated)";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure: unspecified launch failure";
    case cudaErrorLaunchOutOfResources:
      return "cudaErrorLaunchOutOfResources: too many resources requested for launch";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress: an illegal memory access was encountered";
    case cudaErrorMisalignedAddress:
      return "cudaErrorMisalignedAddress: misaligned address";
    case cudaErrorIllegalInstruction:
      return "cudaErrorIllegalInstruction: an illegal instruction was encountered";
    case cudaErrorLaunchTimeout:
      return "cudaErrorLaunchTimeout: the launch timed out";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice: no kernel image is available for execution";
    default:
      return nullptr;
  }
}

// True if [p, p + bytes) lies in one live buffer.
bool is_device_memory(const void* p, std::size_t bytes) {
  if (bytes == 0) return true;
  const emulator::Buffer b = emulator::find_buffer(p);
  if (!b.found) return false;
  const std::size_t offset = static_cast<const char*>(p) - static_cast<const char*>(b.data);
  return offset <= b.bytes && bytes <= b.bytes - offset;
}

// What is wrong with the emulator's environment variables, or an empty text.
std::string wrong_environment() {
  try {
    static_cast<void>(emulator::settings());
    return {};
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

class EmuDevice final : public Device {
 public:
  const char* backend() const override { return "emu"; }

  // Every call and every preload asks this first, and fails here if the environment is wrong.
  cudaError_t properties(const DeviceProperties** out) override {
    if (!wrong_environment().empty()) return cudaErrorInvalidValue;
    *out = &emulator::current_profile();
    return cudaSuccess;
  }
  cudaError_t count(int* out) override {
    *out = 1;
    return cudaSuccess;
  }

  cudaError_t allocate(void** p, std::size_t bytes) override {
    return emulator::memory_allocate(p, bytes);
  }
  cudaError_t release(void* p) override { return emulator::memory_free(p); }
  cudaError_t allocate_async(void** p, std::size_t bytes, cudaStream_t) override {
    return emulator::memory_allocate(p, bytes);
  }
  cudaError_t release_async(void* p, cudaStream_t) override { return emulator::memory_free(p); }

  cudaError_t copy_to_device(void* dst, const void* src, std::size_t bytes, cudaStream_t) override {
    return copy(dst, src, bytes, is_device_memory(dst, bytes));
  }
  cudaError_t copy_to_host(void* dst, const void* src, std::size_t bytes, cudaStream_t) override {
    return copy(dst, src, bytes, is_device_memory(src, bytes));
  }
  cudaError_t copy_on_device(void* dst, const void* src, std::size_t bytes, cudaStream_t) override {
    return copy(dst, src, bytes, is_device_memory(dst, bytes) && is_device_memory(src, bytes));
  }
  cudaError_t fill(void* p, int byte, std::size_t bytes, cudaStream_t) override {
    if (!is_device_memory(p, bytes)) return cudaErrorInvalidValue;
    if (bytes > 0) std::memset(p, byte, bytes);
    return cudaSuccess;
  }

  cudaError_t pointer_info(const void* p, PointerInfo* out) override {
    const emulator::Buffer b = emulator::find_buffer(p);
    *out = {.device_accessible = b.found,
            .on_current_device = b.found,
            .base = b.found ? b.data : nullptr,
            .bytes = b.found ? b.bytes : 0};
    return cudaSuccess;
  }

  cudaError_t stream_create(cudaStream_t* out) override {
    *out = next_handle<cudaStream_t>();
    return cudaSuccess;
  }
  cudaError_t stream_destroy(cudaStream_t) override { return cudaSuccess; }
  cudaError_t stream_synchronize(cudaStream_t) override { return cudaSuccess; }

  cudaError_t event_create(cudaEvent_t* out) override {
    *out = next_handle<cudaEvent_t>();
    return cudaSuccess;
  }
  cudaError_t event_destroy(cudaEvent_t) override { return cudaSuccess; }
  cudaError_t event_record(cudaEvent_t, cudaStream_t) override { return cudaSuccess; }
  cudaError_t elapsed_ms(cudaEvent_t, cudaEvent_t, float* out) override {
    *out = 0;
    return cudaSuccess;
  }

  cudaError_t capture_begin(cudaStream_t) override { return cudaErrorNotSupported; }
  cudaError_t capture_end(cudaStream_t, cudaGraphExec_t*) override { return cudaErrorNotSupported; }
  cudaError_t graph_launch(cudaGraphExec_t, cudaStream_t) override { return cudaErrorNotSupported; }
  cudaError_t graph_destroy(cudaGraphExec_t) override { return cudaErrorNotSupported; }

  // A fault ends its launch and nothing else.
  bool is_sticky(cudaError_t) override { return false; }
  cudaError_t sticky_error() override { return cudaSuccess; }
  void forget_error() override {}

  std::string describe(cudaError_t error) override {
    const char* known = name_of(error);
    std::string text =
        known != nullptr ? known : "CUDA error " + std::to_string(static_cast<int>(error));
    if (error == cudaSuccess) return text;
    if (const std::string wrong = wrong_environment(); !wrong.empty()) text += "; " + wrong;
    if (const std::string fault = emulator::last_fault(); !fault.empty()) text += "; " + fault;
    return text;
  }

 private:
  static cudaError_t copy(void* dst, const void* src, std::size_t bytes, bool legal) {
    if (!legal) return cudaErrorInvalidValue;
    if (bytes > 0) std::memcpy(dst, src, bytes);
    return cudaSuccess;
  }
};

}  // namespace

// Never destroyed: a call may come from another static object's destructor.
Device& emu_device() {
  static Device& device = *new EmuDevice;
  return device;
}

}  // namespace libkernels
