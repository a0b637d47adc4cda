#pragma once

#include <atomic>

namespace libkernels::inline LK_BACKEND::ptx {

// A CTA may take this much dynamic shared memory without opting in.
inline constexpr std::size_t kSmemWithoutOptIn = 48 * 1024;
// A cluster may have so many CTAs without opting in.
inline constexpr unsigned kPortableCluster = 8;

// Lets the kernel take all shared memory of a CTA on the current device.
inline cudaError_t opt_in(const void* kernel, int device) {
  cudaFuncAttributes a{};
  cudaError_t error = cudaFuncGetAttributes(&a, kernel);
  if (error != cudaSuccess) return error;
  int most = 0;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess) return error;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most - int(a.sharedSizeBytes));
}

// The same once for each kernel and device: even repeated, the runtime's call takes 0.6 us (H200,
// 2026-12-01), a fifth of a launch. Lock-free, and if it is full everybody asks again.
inline cudaError_t opt_in_once(const void* kernel) {
  constexpr std::size_t kSlots = 4096;
  static std::atomic<std::uint64_t> done[kSlots];
  int device = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  const std::uint64_t key = std::uint64_t(reinterpret_cast<std::uintptr_t>(kernel)) << 8 | device;
  std::size_t slot = std::size_t(key * 0x9e3779b97f4a7c15u >> 52) % kSlots;
  for (std::size_t i = 0; i < kSlots; ++i, slot = (slot + 1) % kSlots) {
    std::uint64_t found = done[slot].load(std::memory_order_acquire);
    if (found == key) return cudaSuccess;
    if (found != 0) continue;
    error = opt_in(kernel, device);
    // Another thread may take the slot meanwhile; then this is done again some time.
    if (error == cudaSuccess) done[slot].compare_exchange_strong(found, key);
    return error;
  }
  return opt_in(kernel, device);
}

template <class Params>
cudaError_t launch(void (*kernel)(Params), const LaunchShape& shape, cudaStream_t stream,
                   const Params& params) {
  if (shape.smem > kSmemWithoutOptIn) {
    const cudaError_t error = opt_in_once(reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
  }
  cudaLaunchAttribute attributes[2];
  unsigned count = 0;
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count].val.clusterDim.x = shape.cluster.x;
    attributes[count].val.clusterDim.y = shape.cluster.y;
    attributes[count].val.clusterDim.z = shape.cluster.z;
    ++count;
  }
  if (shape.cluster.x * shape.cluster.y * shape.cluster.z > kPortableCluster) {
    const cudaError_t error = cudaFuncSetAttribute(
        reinterpret_cast<const void*>(kernel), cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    if (error != cudaSuccess) return error;
  }
  if (shape.pdl) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count].val.programmaticStreamSerializationAllowed = 1;
    ++count;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.smem;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = count;
  return cudaLaunchKernelEx(&config, kernel, params);
}

template <class Params>
cudaError_t func_attributes(void (*kernel)(Params), FuncAttributes* out) {
  cudaFuncAttributes a{};
  const cudaError_t error = cudaFuncGetAttributes(&a, reinterpret_cast<const void*>(kernel));
  if (error != cudaSuccess) return error;
  *out = {.registers = a.numRegs,
          .smem_static = a.sharedSizeBytes,
          .local_bytes = a.localSizeBytes,
          .max_threads_per_cta = a.maxThreadsPerBlock};
  return cudaSuccess;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
