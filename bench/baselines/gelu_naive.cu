// GeLU as a first kernel writes it: one launch, one element a thread, scalar accesses, the maths
// library's tanhf or erff.
//
//   y = 0.5 x (1 + tanhf(0.79788456 (x + 0.044715 x^3)))    or    0.5 x (1 + erff(x / sqrt 2))
//
// Numerics: fp32 inside, one rounding at the store; 1 + tanh and 1 + erf cancel for x << 0, so the
// negative tail loses its digits. Traffic: each element read once and written once, as many bytes
// as the best kernel moves, in requests of 2 or 4 bytes a lane.
#include "bench/device_tables.h"
#include "kernels/common/storage.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace naive {

constexpr int kThreads = 256;

struct Params {
  const void* x;
  void* y;
  std::int64_t n;
};

template <bench::GeluForm kForm>
LK_DEVICE float gelu(float x) {
  if constexpr (kForm == bench::GeluForm::tanh) {
    return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  } else {
    return 0.5f * x * (1.0f + erff(x * 0.70710678f));
  }
}

template <DType kIn, DType kOut, bench::GeluForm kForm>
__global__ void __launch_bounds__(kThreads) gelu_naive_kernel(Params p) {
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const auto* x = static_cast<const typename Storage<kIn>::Element*>(p.x);
  auto* y = static_cast<typename Storage<kOut>::Element*>(p.y);
  ptx::st_global(y + i,
                 Storage<kOut>::encode(gelu<kForm>(Storage<kIn>::decode(ptx::ld_global(x + i)))));
}

template <DType kIn, DType kOut>
cudaError_t launch_types(const bench::GeluCallArgs& call) {
  const std::int64_t grid = (call.n + kThreads - 1) / kThreads;
  const auto kernel = call.form == bench::GeluForm::tanh
                          ? &gelu_naive_kernel<kIn, kOut, bench::GeluForm::tanh>
                          : &gelu_naive_kernel<kIn, kOut, bench::GeluForm::erf>;
  return ptx::launch(kernel, {.grid = dim3(unsigned(grid)), .block = dim3(kThreads)}, call.stream,
                     Params{.x = call.x, .y = call.y, .n = call.n});
}

cudaError_t launch(const bench::GeluCallArgs& call) {
  const bool same = call.x_type == call.y_type;
  if (!same && call.y_type != DType::f32) return cudaErrorInvalidValue;
  switch (call.x_type) {
    case DType::f32:
      return launch_types<DType::f32, DType::f32>(call);
    case DType::f16:
      return same ? launch_types<DType::f16, DType::f16>(call)
                  : launch_types<DType::f16, DType::f32>(call);
    case DType::bf16:
      return same ? launch_types<DType::bf16, DType::bf16>(call)
                  : launch_types<DType::bf16, DType::f32>(call);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace naive

const bench::GeluBaseline kGeluNaive{.name = "gelu_naive",
                                     .launches = [](const bench::GeluCallArgs&) { return 1; },
                                     .launch = &naive::launch};

}  // namespace libkernels::inline LK_BACKEND::bench_device
