// A kernel that tells where each of its threads stands, for kernels/ptx/launch.cuh.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/launch_probe.h"

namespace libkernels::inline LK_BACKEND {
namespace {

struct Params {
  std::uint32_t* out;
};

template <class Dim>
LK_DEVICE std::uint32_t packed(const Dim& d) {
  return d.x | d.y << 10 | d.z << 20;
}

// At most 512 threads: a launch of more must be refused, and func_attributes must know.
__global__ void __launch_bounds__(512) coordinates_kernel(Params p) {
  const unsigned in_cta = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  std::uint32_t* out =
      p.out + test::kProbeWords * (cta * blockDim.x * blockDim.y * blockDim.z + in_cta);
  out[0] = packed(uint3{threadIdx.x, threadIdx.y, threadIdx.z});
  out[1] = packed(uint3{blockIdx.x, blockIdx.y, blockIdx.z});
  out[2] = packed(uint3{blockDim.x, blockDim.y, blockDim.z});
  out[3] = packed(uint3{gridDim.x, gridDim.y, gridDim.z});
}

cudaError_t coordinates(std::uint32_t* out, dim3 grid, dim3 block, std::size_t smem,
                        cudaStream_t stream) {
  return ptx::launch(&coordinates_kernel, {.grid = grid, .block = block, .smem = smem}, stream,
                     Params{out});
}

cudaError_t attributes(test::ProbeAttributes* out) {
  ptx::FuncAttributes a;
  const cudaError_t error = ptx::func_attributes(&coordinates_kernel, &a);
  *out = {a.registers, a.max_threads_per_cta, a.smem_static, a.local_bytes};
  return error;
}

}  // namespace

const test::LaunchProbe& launch_probe() {
  static const test::LaunchProbe probe{&coordinates, &attributes};
  return probe;
}

}  // namespace libkernels::inline LK_BACKEND
