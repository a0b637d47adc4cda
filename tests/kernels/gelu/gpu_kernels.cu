#include "tests/kernels/gelu/gpu_kernels.h"

#include "tests/reference/gelu.h"

namespace libkernels::test {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kGrid = 1320;
constexpr long long kCyclesPerMillisecond = 2'000'000;  // no GPU is faster than 2.6 GHz

__global__ void fill_kernel(float* x, std::uint32_t first, std::size_t n) {
  for (std::size_t i = blockIdx.x * std::size_t(kThreads) + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * kThreads) {
    x[i] = __uint_as_float(first + std::uint32_t(i));
  }
}

// Floats >= 0 order like their bits.
__device__ void atomic_max(float* p, float v) {
  atomicMax(reinterpret_cast<int*>(p), __float_as_int(v));
}

__global__ void compare_kernel(const float* x, const float* y, std::size_t n, lk_gelu_form form,
                               SweepResult* result) {
  float ulps = 0, of_bound = 0;
  for (std::size_t i = blockIdx.x * std::size_t(kThreads) + threadIdx.x; i < n;
       i += std::size_t(gridDim.x) * kThreads) {
    const double v = double(x[i]), got = double(y[i]);
    const double expected = form == LK_GELU_TANH ? reference::gelu_tanh(v) : reference::gelu_erf(v);
    bool right;
    if (isnan(expected)) {
      right = isnan(got);
    } else if (isinf(v)) {
      right = got == expected;
    } else if (v == 0) {
      right = __float_as_uint(x[i]) == __float_as_uint(y[i]);
    } else {
      const double bound = form == LK_GELU_TANH ? reference::gelu_tanh_bound(v, expected)
                                                : reference::gelu_erf_bound(v, expected);
      const double error = fabs(got - expected);
      right = error <= bound;
      if (v >= -1) {
        ulps = fmaxf(ulps, float(error / reference::ulp_f32(expected)));
      } else {
        of_bound = fmaxf(of_bound, float(error / bound));
      }
    }
    if (!right) {
      atomicAdd(&result->violations, 1ull);
      atomicMin(&result->first_violation, __float_as_uint(x[i]));
    }
  }
  atomic_max(&result->largest_ulps, ulps);
  atomic_max(&result->largest_of_bound, of_bound);
}

__global__ void spin_kernel(std::uint16_t* p, std::uint16_t value, std::size_t n,
                            long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  for (std::size_t i = threadIdx.x; i < n; i += kThreads) p[i] = value;
}

template <class... Parameters, class... Arguments>
cudaError_t enqueue(void (*kernel)(Parameters...), unsigned grid, cudaStream_t stream,
                    Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid);
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

}  // namespace

cudaError_t fill_with_bit_patterns(float* x, std::uint32_t first, std::size_t n,
                                   cudaStream_t stream) {
  return enqueue(&fill_kernel, kGrid, stream, x, first, n);
}

cudaError_t compare_with_reference(const float* x, const float* y, std::size_t n, lk_gelu_form form,
                                   SweepResult* result, cudaStream_t stream) {
  return enqueue(&compare_kernel, kGrid, stream, x, y, n, form, result);
}

cudaError_t spin_then_fill(std::uint16_t* p, std::uint16_t value, std::size_t n, int milliseconds,
                           cudaStream_t stream) {
  return enqueue(&spin_kernel, 1, stream, p, value, n, kCyclesPerMillisecond * milliseconds);
}

}  // namespace libkernels::test
