// What launch_kernels.cu offers to launch_test.cc, per backend.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace libkernels::test {

// Words that each thread of a probe writes, at the thread's linear number in the grid.
inline constexpr int kProbeWords = 4;

struct ProbeAttributes {
  int registers, max_threads_per_cta;
  std::size_t smem_static, local_bytes;
};

struct LaunchProbe {
  // Each thread writes its threadIdx, blockIdx, blockDim and gridDim, 10 bits a coordinate.
  cudaError_t (*coordinates)(std::uint32_t* out, dim3 grid, dim3 block, std::size_t smem,
                             cudaStream_t stream);
  cudaError_t (*attributes)(ProbeAttributes* out);  // of that kernel
};

}  // namespace libkernels::test
