// From a run-time index to the kernel instantiated for that row of a constexpr kConfigs[] table.
//
// A Config that is a template argument of a kernel is flat: no member of class type. With g++ 12
// and 13 a nested class, reached through a constexpr function, is mangled as const in one place and
// not in another: two host symbols of the kernel (nm shows both), of which the one that nvcc
// registered is not the one that is launched, and the launch fails with
// cudaErrorInvalidResourceHandle.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

// Calls f(std::integral_constant<std::size_t, index>{}) for index < N and returns what it returns;
// cudaErrorInvalidValue for any other index.
template <std::size_t N, std::size_t I = 0, class F>
cudaError_t with_config(std::size_t index, F f) {
  if constexpr (I < N) {
    if (index == I) return f(std::integral_constant<std::size_t, I>{});
    return with_config<N, I + 1>(index, f);
  } else {
    return cudaErrorInvalidValue;
  }
}

// Calls f for every index below N until one fails.
template <std::size_t N, std::size_t I = 0, class F>
cudaError_t for_each_config(F f) {
  if constexpr (I < N) {
    const cudaError_t error = f(std::integral_constant<std::size_t, I>{});
    return error != cudaSuccess ? error : for_each_config<N, I + 1>(f);
  } else {
    return cudaSuccess;
  }
}

}  // namespace libkernels::inline LK_BACKEND
