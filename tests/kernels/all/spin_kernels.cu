#include "tests/kernels/all/spin_kernels.h"

namespace libkernels::test {
namespace {

constexpr unsigned kThreads = 256;
constexpr long long kCyclesPerMillisecond = 2'000'000;  // no GPU is faster than 2.6 GHz

__global__ void spin_then_copy_kernel(unsigned char* dst, const unsigned char* src,
                                      std::size_t bytes, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  for (std::size_t i = threadIdx.x; i < bytes; i += kThreads) dst[i] = src[i];
}

__global__ void spin_until_kernel(const volatile int* flag) {
  while (*flag == 0) {
  }
}

}  // namespace

cudaError_t spin_then_copy(void* dst, const void* src, std::size_t bytes, int milliseconds,
                           cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, spin_then_copy_kernel, static_cast<unsigned char*>(dst),
                            static_cast<const unsigned char*>(src), bytes,
                            kCyclesPerMillisecond * milliseconds);
}

cudaError_t spin_until(const volatile int* flag, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, spin_until_kernel, flag);
}

}  // namespace libkernels::test
