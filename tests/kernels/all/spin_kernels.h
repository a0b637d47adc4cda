// Kernels that hold a stream up, for the tests of streams. Plain CUDA, not behind the front door.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace libkernels::test {

// Spins for `milliseconds` and then copies bytes from one place of device memory to another.
cudaError_t spin_then_copy(void* dst, const void* src, std::size_t bytes, int milliseconds,
                           cudaStream_t stream);

// Spins until *flag, mapped host memory, is not 0.
cudaError_t spin_until(const volatile int* flag, cudaStream_t stream);

}  // namespace libkernels::test
