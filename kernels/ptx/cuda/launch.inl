#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// A CTA may take this much dynamic shared memory without opting in.
inline constexpr std::size_t kSmemWithoutOptIn = 48 * 1024;
// A cluster may have so many CTAs without opting in.
inline constexpr unsigned kPortableCluster = 8;

template <class Params>
cudaError_t launch(void (*kernel)(Params), const LaunchShape& shape, cudaStream_t stream,
                   const Params& params) {
  if (shape.smem > kSmemWithoutOptIn) {
    const cudaError_t error =
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, int(shape.smem));
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
