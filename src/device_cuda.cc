// The CUDA runtime's devices.
//
// Everything that a launch asks for is legal during stream capture: the current device and its
// attributes, no allocation, no synchronisation, no query of a stream.
#include <cuda.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "src/device.h"

namespace libkernels {
namespace {

// A failed call of ours leaves itself as the thread's last error, for the program to stumble over
// if it shares our runtime. Errors that stay for good stay.
cudaError_t settled(cudaError_t error) {
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return error;
}

// The driver's functions that the runtime has no equal of, found as the runtime finds its own.
template <class Function>
Function* driver_function(const char* symbol, unsigned since) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  if (settled(cudaGetDriverEntryPointByVersion(symbol, &function, since, cudaEnableDefault,
                                               &found)) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return reinterpret_cast<Function*>(function);
}

// Datasheet peaks by name. The bandwidth is a fallback: drivers that report the memory clock know
// it better. The first entry that the name contains wins.
struct Peak {
  std::string_view name;
  double bytes_per_s;
  double bf16_flops;
};
constexpr Peak kPeaks[] = {
    {"A100-SXM4-80GB", 2.04e12, 312e12},
    {"A100 80GB", 1.94e12, 312e12},
    {"A100", 1.56e12, 312e12},
    {"H100 PCIe", 2.04e12, 756e12},
    {"H100 NVL", 3.94e12, 835e12},
    {"H100", 3.35e12, 989e12},
    {"H200", 4.8e12, 989e12},
    {"B200", 8e12, 2250e12},
    {"B300", 8e12, 2250e12},
};

Peak peak_of(std::string_view device_name) {
  for (const Peak& p : kPeaks) {
    if (device_name.find(p.name) != std::string_view::npos) return p;
  }
  return {};
}

cudaError_t read_properties(int ordinal, DeviceProperties* p) {
  int smem_per_sm = 0, smem_optin = 0, l2 = 0, memory_khz = 0, bus_bits = 0;
  const struct {
    int* value;
    cudaDeviceAttr attribute;
  } needed[] = {
      {&p->cc_major, cudaDevAttrComputeCapabilityMajor},
      {&p->cc_minor, cudaDevAttrComputeCapabilityMinor},
      {&p->sm_count, cudaDevAttrMultiProcessorCount},
      {&p->max_threads_per_cta, cudaDevAttrMaxThreadsPerBlock},
      {&p->max_threads_per_sm, cudaDevAttrMaxThreadsPerMultiProcessor},
      {&p->max_ctas_per_sm, cudaDevAttrMaxBlocksPerMultiprocessor},
      {&p->registers_per_sm, cudaDevAttrMaxRegistersPerMultiprocessor},
      {&smem_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
      {&smem_optin, cudaDevAttrMaxSharedMemoryPerBlockOptin},
      {&l2, cudaDevAttrL2CacheSize},
  };
  for (const auto& n : needed) {
    const cudaError_t error = settled(cudaDeviceGetAttribute(n.value, n.attribute, ordinal));
    if (error != cudaSuccess) return error;
  }
  p->smem_per_sm = static_cast<std::size_t>(smem_per_sm);
  p->smem_per_cta_optin = static_cast<std::size_t>(smem_optin);
  p->l2_bytes = static_cast<std::size_t>(l2);

  // The rest is for people and rooflines: without it a launch works as well.
  CUdevice device = 0;
  auto* get = driver_function<CUresult(CUdevice*, int)>("cuDeviceGet", 2000);
  auto* get_name = driver_function<CUresult(char*, int, CUdevice)>("cuDeviceGetName", 2000);
  auto* total_memory = driver_function<CUresult(std::size_t*, CUdevice)>("cuDeviceTotalMem", 3020);
  if (get == nullptr || get(&device, ordinal) != CUDA_SUCCESS) get_name = nullptr;
  if (get_name == nullptr || get_name(p->name, sizeof(p->name), device) != CUDA_SUCCESS) {
    std::strcpy(p->name, "unnamed CUDA device");
  } else if (total_memory != nullptr) {
    static_cast<void>(total_memory(&p->memory_bytes, device));
  }
  const Peak peak = peak_of(p->name);
  p->peak_bf16_flops = peak.bf16_flops;
  p->peak_bytes_per_s = peak.bytes_per_s;
  if (settled(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, ordinal)) ==
          cudaSuccess &&
      settled(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, ordinal)) ==
          cudaSuccess &&
      memory_khz > 0 && bus_bits > 0) {
    p->peak_bytes_per_s = 2.0 * memory_khz * 1e3 * bus_bits / 8;  // double data rate
  }
  return cudaSuccess;
}

// Properties of each device, read on first use. A reader takes one atomic load.
class PropertyCache {
 public:
  cudaError_t get(const DeviceProperties** out) {
    int ordinal = 0;
    const cudaError_t error = settled(cudaGetDevice(&ordinal));
    if (error != cudaSuccess) return error;
    if (ordinal < 0 || ordinal >= kMaxDevices) return cudaErrorInvalidDevice;
    *out = ready_[ordinal].load(std::memory_order_acquire);
    return *out != nullptr ? cudaSuccess : read(ordinal, out);
  }

 private:
  static constexpr int kMaxDevices = 256;  // the driver's own limit is far below

  cudaError_t read(int ordinal, const DeviceProperties** out) {
    const std::lock_guard lock(mutex_);
    if (owned_[ordinal] == nullptr) {
      auto fresh = std::make_unique<DeviceProperties>();
      const cudaError_t error = read_properties(ordinal, fresh.get());
      if (error != cudaSuccess) return error;  // not kept: the next call tries again
      owned_[ordinal] = std::move(fresh);
      ready_[ordinal].store(owned_[ordinal].get(), std::memory_order_release);
    }
    *out = owned_[ordinal].get();
    return cudaSuccess;
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<const DeviceProperties>, kMaxDevices> owned_;
  std::array<std::atomic<const DeviceProperties*>, kMaxDevices> ready_{};
};

class CudaDevice final : public Device {
 public:
  const char* backend() const override { return "cuda"; }

  cudaError_t properties(const DeviceProperties** out) override { return cache_.get(out); }

  cudaError_t count(int* out) override {
    const cudaError_t error = settled(cudaGetDeviceCount(out));
    switch (error) {
      case cudaErrorNoDevice:
      case cudaErrorInsufficientDriver:  // also: no driver at all
      case cudaErrorStubLibrary:
        *out = 0;
        return cudaSuccess;
      default:
        return error;
    }
  }

  cudaError_t allocate(void** p, std::size_t bytes) override {
    return settled(cudaMalloc(p, bytes));
  }
  cudaError_t release(void* p) override { return settled(cudaFree(p)); }
  cudaError_t allocate_async(void** p, std::size_t bytes, cudaStream_t stream) override {
    return settled(cudaMallocAsync(p, bytes, stream));
  }
  cudaError_t release_async(void* p, cudaStream_t stream) override {
    return settled(cudaFreeAsync(p, stream));
  }

  cudaError_t copy_to_device(void* dst, const void* src, std::size_t bytes,
                             cudaStream_t stream) override {
    return settled(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, stream));
  }
  cudaError_t copy_to_host(void* dst, const void* src, std::size_t bytes,
                           cudaStream_t stream) override {
    return settled(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, stream));
  }
  cudaError_t copy_on_device(void* dst, const void* src, std::size_t bytes,
                             cudaStream_t stream) override {
    return settled(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, stream));
  }
  cudaError_t fill(void* p, int byte, std::size_t bytes, cudaStream_t stream) override {
    return settled(cudaMemsetAsync(p, byte, bytes, stream));
  }

  cudaError_t pointer_info(const void* p, PointerInfo* out) override {
    *out = {};
    int current = 0;
    cudaPointerAttributes attributes{};
    cudaError_t error = settled(cudaGetDevice(&current));
    if (error == cudaSuccess) error = settled(cudaPointerGetAttributes(&attributes, p));
    if (error != cudaSuccess) return error;
    if (attributes.type == cudaMemoryTypeUnregistered) {  // plain host memory
      int pageable = 0;
      error = settled(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, current));
      out->device_accessible = out->on_current_device = pageable != 0;
      return error;
    }
    out->device_accessible = attributes.devicePointer != nullptr;
    out->on_current_device =
        attributes.type != cudaMemoryTypeDevice || attributes.device == current;
    using GetRange = CUresult(CUdeviceptr*, std::size_t*, CUdeviceptr);
    static auto* const get_range = driver_function<GetRange>("cuMemGetAddressRange", 3020);
    CUdeviceptr base = 0;
    std::size_t bytes = 0;
    const auto device_address = reinterpret_cast<CUdeviceptr>(attributes.devicePointer);
    if (get_range != nullptr && get_range(&base, &bytes, device_address) == CUDA_SUCCESS) {
      // In the caller's addresses, which differ from the device's for mapped host memory.
      out->base = static_cast<const char*>(p) - (device_address - base);
      out->bytes = bytes;
    }
    return cudaSuccess;
  }

  cudaError_t stream_create(cudaStream_t* out) override {
    return settled(cudaStreamCreateWithFlags(out, cudaStreamNonBlocking));
  }
  cudaError_t stream_destroy(cudaStream_t stream) override {
    return settled(cudaStreamDestroy(stream));
  }
  cudaError_t stream_synchronize(cudaStream_t stream) override {
    return settled(cudaStreamSynchronize(stream));
  }

  cudaError_t event_create(cudaEvent_t* out) override { return settled(cudaEventCreate(out)); }
  cudaError_t event_destroy(cudaEvent_t event) override { return settled(cudaEventDestroy(event)); }
  cudaError_t event_record(cudaEvent_t event, cudaStream_t stream) override {
    return settled(cudaEventRecord(event, stream));
  }
  cudaError_t elapsed_ms(cudaEvent_t begin, cudaEvent_t end, float* out) override {
    const cudaError_t error = settled(cudaEventSynchronize(end));
    if (error != cudaSuccess) return error;
    return settled(cudaEventElapsedTime(out, begin, end));
  }

  // Thread-local mode: what other threads do meanwhile is their affair.
  cudaError_t capture_begin(cudaStream_t stream) override {
    return settled(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  cudaError_t capture_end(cudaStream_t stream, cudaGraphExec_t* out) override {
    cudaGraph_t graph = nullptr;
    cudaError_t error = settled(cudaStreamEndCapture(stream, &graph));
    if (error != cudaSuccess) return error;
    error = settled(cudaGraphInstantiate(out, graph, 0));
    static_cast<void>(settled(cudaGraphDestroy(graph)));
    return error;
  }
  cudaError_t graph_launch(cudaGraphExec_t graph, cudaStream_t stream) override {
    return settled(cudaGraphLaunch(graph, stream));
  }
  cudaError_t graph_destroy(cudaGraphExec_t graph) override {
    return settled(cudaGraphExecDestroy(graph));
  }

  // The errors after which the runtime's manual says that the process must be restarted.
  bool is_sticky(cudaError_t error) override {
    switch (error) {
      case cudaErrorECCUncorrectable:
      case cudaErrorNvlinkUncorrectable:
      case cudaErrorContextIsDestroyed:
      case cudaErrorAssert:
      case cudaErrorIllegalAddress:
      case cudaErrorLaunchTimeout:
      case cudaErrorHardwareStackError:
      case cudaErrorIllegalInstruction:
      case cudaErrorMisalignedAddress:
      case cudaErrorInvalidAddressSpace:
      case cudaErrorInvalidPc:
      case cudaErrorLaunchFailure:
      case cudaErrorTensorMemoryLeak:
        return true;
      default:
        return false;
    }
  }
  cudaError_t sticky_error() override {
    const cudaError_t error = cudaPeekAtLastError();
    return is_sticky(error) ? error : cudaSuccess;
  }
  void forget_error() override { static_cast<void>(cudaGetLastError()); }

  std::string describe(cudaError_t error) override {
    return std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error);
  }

 private:
  PropertyCache cache_;
};

}  // namespace

// Never destroyed: a call may come from another static object's destructor.
Device& cuda_device() {
  static Device& device = *new CudaDevice;
  return device;
}

}  // namespace libkernels
