// Compares a long array with a short one repeated, bit for bit.
//
// GeLU of an input that repeats has to repeat, too: lkbench compares one period with an fp64
// reference on the host and this kernel does the rest, so that every element of a timed output has
// been looked at without copying gigabytes to the host.
#include "bench/device_tables.h"
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {

constexpr int kThreads = 256;

struct CompareParams {
  const void* a;
  const void* b;
  std::int64_t n;
  std::int64_t period;
  std::uint32_t* flag;
};

template <class T>
__global__ void __launch_bounds__(kThreads) compare_kernel(CompareParams p) {
  const std::int64_t i = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= p.n) return;
  const T a = ptx::ld_global(static_cast<const T*>(p.a) + i);
  const T b = ptx::ld_global(static_cast<const T*>(p.b) + i % p.period);
  if (a != b) ptx::st_global(p.flag, 1u);  // whoever writes, writes 1
}

cudaError_t compare(const bench::CompareCall& call) {
  const CompareParams params{
      .a = call.a, .b = call.b, .n = call.n, .period = call.period, .flag = call.flag};
  const std::int64_t grid = (call.n + kThreads - 1) / kThreads;
  const auto kernel =
      call.element_bytes == 2 ? &compare_kernel<std::uint16_t> : &compare_kernel<std::uint32_t>;
  return ptx::launch(kernel, {.grid = dim3(unsigned(grid)), .block = dim3(kThreads)}, call.stream,
                     params);
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
