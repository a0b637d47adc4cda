#include "tests/kernels/matmul/random_kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace libkernels::test {
namespace {

constexpr int kThreads = 256;
constexpr unsigned kGrid = 1320;

__device__ double load(const void* data, DType type, std::int64_t i) {
  switch (type) {
    case DType::f32:
      return static_cast<const float*>(data)[i];
    case DType::f16:
      return double(__half2float(static_cast<const __half*>(data)[i]));
    case DType::bf16:
      return double(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]));
    case DType::f8_e4m3:
      return double(float(static_cast<const __nv_fp8_e4m3*>(data)[i]));
    case DType::f8_e5m2:
      return double(float(static_cast<const __nv_fp8_e5m2*>(data)[i]));
  }
  return 0;
}

__device__ void store(void* data, DType type, std::int64_t i, float v) {
  switch (type) {
    case DType::f32:
      static_cast<float*>(data)[i] = v;
      break;
    case DType::f16:
      static_cast<__half*>(data)[i] = __float2half_rn(v);
      break;
    case DType::bf16:
      static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(v);
      break;
    case DType::f8_e4m3:
      static_cast<__nv_fp8_e4m3*>(data)[i] = __nv_fp8_e4m3(v);
      break;
    case DType::f8_e5m2:
      static_cast<__nv_fp8_e5m2*>(data)[i] = __nv_fp8_e5m2(v);
      break;
  }
}

// The distance of the values of C's type around x.
__device__ double ulp_at(double x, DType type) {
  const int mantissa = type == DType::f32 ? 23 : type == DType::f16 ? 10 : 7;
  const int least = type == DType::f16 ? -14 : -126;
  const int exponent = x == 0 || !isfinite(x) ? least : ilogb(x);
  return ldexp(1.0, (exponent < least ? least : exponent) - mantissa);
}

struct Place {
  std::int64_t batch, row, col;
};
__device__ Place place(const RandomView& x, std::int64_t i) {
  return {i / (x.rows * x.cols), i / x.cols % x.rows, i % x.cols};
}
__device__ std::int64_t index(const RandomView& x, const Place& p) {
  return p.batch * x.batch_stride + p.row * x.row_stride + p.col * x.col_stride;
}
__host__ __device__ std::int64_t elements(const RandomView& x) { return x.batch * x.rows * x.cols; }

__device__ std::uint64_t mixed(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

__global__ void fill_kernel(RandomView x, std::uint64_t seed, int most, float factor) {
  for (std::int64_t i = blockIdx.x * std::int64_t(kThreads) + threadIdx.x; i < elements(x);
       i += std::int64_t(gridDim.x) * kThreads) {
    const std::int64_t at = index(x, place(x, i));
    const std::uint64_t bits = mixed(seed, std::uint64_t(at));
    if (most > 0) {
      store(x.data, x.type, at, float(int((bits >> 32) % unsigned(2 * most + 1)) - most));
    } else {
      const float u = (float(bits >> 40) + 1) * 0x1p-24f, v = float(bits & 0xffffff) * 0x1p-23f;
      store(x.data, x.type, at, factor * sqrtf(-2 * logf(u)) * cospif(v));
    }
  }
}

__global__ void exact_kernel(RandomProduct p, RandomElement* exact) {
  for (std::int64_t i = blockIdx.x * std::int64_t(kThreads) + threadIdx.x; i < elements(p.c);
       i += std::int64_t(gridDim.x) * kThreads) {
    const Place at = place(p.c, i);
    double inner = 0, sum = 0;
    for (std::int64_t k = 0; k < p.a.cols && p.alpha != 0; ++k) {
      const double a = load(p.a.data, p.a.type, index(p.a, {at.batch, at.row, k}));
      const double b = load(p.b.data, p.b.type, index(p.b, {at.batch, k, at.col}));
      inner += a * b;
      if (a != 0 && b != 0) sum += fmax(fabs(a), p.least_normal) * fmax(fabs(b), p.least_normal);
    }
    inner *= p.alpha;
    sum *= fabs(p.alpha);
    if (p.beta != 0) {
      const double c = p.beta * load(p.c_in.data, p.c_in.type, index(p.c_in, at));
      inner += c;
      sum += fabs(c);
    }
    if (p.bias != nullptr) {
      const double bias = load(p.bias, p.bias_type, at.col);
      inner += bias;
      sum += fabs(bias);
    }
    exact[i] = {inner, sum};
  }
}

// How much the i-th result may err by, where S may be taken `relative` times.
__device__ double allowed(const RandomProduct& p, const reference::MatmulElement& e,
                          double relative) {
  return reference::matmul_activation_bound(relative * e.sum + p.absolute, e, p.activation) +
         ulp_at(e.value, p.c.type) / 2;
}

__device__ bool within(const RandomProduct& p, double expected, double got, double allowed) {
  const double largest = p.c.type == DType::f16 ? 65504 : 3.3e38;
  if (isinf(got) && fabs(expected) + allowed > largest) return (got > 0) == (expected > 0);
  return fabs(got - expected) <= allowed;
}

__global__ void judge_kernel(RandomProduct p, const RandomElement* exact, RandomFindings* found) {
  for (std::int64_t i = blockIdx.x * std::int64_t(kThreads) + threadIdx.x; i < elements(p.c);
       i += std::int64_t(gridDim.x) * kThreads) {
    const std::int64_t at = index(p.c, place(p.c, i));
    const double got = load(p.c.data, p.c.type, at);
    const reference::MatmulElement e{.value = reference::activate(exact[i].inner, p.activation),
                                     .sum = exact[i].sum,
                                     .inner = exact[i].inner};
    const double most = allowed(p, e, p.relative);
    if (!within(p, e.value, got, most)) {
      if (atomicAdd(&found->wrong, 1ull) == 0) {
        found->first = i;
        found->got = got;
        found->expected = e.value;
        found->allowed = most;
      }
    } else if (!within(p, e.value, got, allowed(p, e, p.typical))) {
      atomicAdd(&found->unlikely, 1ull);
    }
    const int size = p.c.type == DType::f32 ? 4 : 2;
    for (int byte = 0; byte < size; ++byte) {
      static_cast<unsigned char*>(p.c.data)[at * size + byte] = kRandomPoison;
    }
  }
}

__global__ void stray_kernel(const unsigned char* data, std::size_t bytes, RandomFindings* found) {
  for (std::size_t i = blockIdx.x * std::size_t(kThreads) + threadIdx.x; i < bytes;
       i += std::size_t(gridDim.x) * kThreads) {
    if (data[i] != kRandomPoison) atomicAdd(&found->stray, 1ull);
  }
}

template <class... Parameters, class... Arguments>
cudaError_t enqueue(void (*kernel)(Parameters...), Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kGrid);
  config.blockDim = dim3(kThreads);
  return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

}  // namespace

cudaError_t fill_random(const RandomView& x, std::uint64_t seed, int most, double factor) {
  return enqueue(&fill_kernel, x, seed, most, factor);
}

cudaError_t exact_product(const RandomProduct& p, RandomElement* exact) {
  return enqueue(&exact_kernel, p, exact);
}

cudaError_t judge_product(const RandomProduct& p, const RandomElement* exact,
                          RandomFindings* findings) {
  return enqueue(&judge_kernel, p, exact, findings);
}

cudaError_t count_strays(const void* data, std::size_t bytes, RandomFindings* findings) {
  return enqueue(&stray_kernel, static_cast<const unsigned char*>(data), bytes, findings);
}

}  // namespace libkernels::test
