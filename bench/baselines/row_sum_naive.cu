// Row sums as first kernels write them.
//
//   row_sum_thread   a thread a row, all additions in series: neighbouring threads read addresses a
//                    row apart, so that each load of a warp touches 32 lines
//   row_sum_cta      a CTA a row, one element a thread and step, a tree in shared memory at the end
//
// Numerics: fp32 sums, in series over a row or over every 256th element of it. Traffic: each
// element read once, as often as it has to be; the first asks for a whole sector with each element.
#include "bench/baselines/tables.h"
#include "bench/baselines/types.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace row_sum_naive {

constexpr int kThreads = 256;
// Longer rows take more than some milliseconds.
constexpr std::int64_t kLongestThreadRow = 4096;
constexpr std::int64_t kLongestCtaRow = std::int64_t{1} << 20;

struct Params {
  const void* x;
  float* y;
  std::int64_t rows;
  std::int64_t cols;
};

template <DType T>
__global__ void __launch_bounds__(kThreads) row_sum_thread_kernel(Params p) {
  const std::int64_t row = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= p.rows) return;
  float sum = 0;
  for (std::int64_t c = 0; c < p.cols; ++c) sum += load<T>(p.x, row * p.cols + c);
  store<DType::f32>(p.y, row, sum);
}

struct Smem {
  float slot[kThreads];
};

template <DType T>
__global__ void __launch_bounds__(kThreads) row_sum_cta_kernel(Params p) {
  float* slot = ptx::dynamic_smem<Smem>().slot;
  const int t = int(threadIdx.x);
  const std::int64_t row = blockIdx.x;
  float sum = 0;
  for (std::int64_t c = t; c < p.cols; c += kThreads) sum += load<T>(p.x, row * p.cols + c);
  slot[t] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) slot[t] = slot[t] + slot[t + half];
  }
  if (t == 0) store<DType::f32>(p.y, row, slot[0]);
}

Params params_of(const bench::RowSumArgs& args) {
  return {.x = args.x, .y = args.y, .rows = args.rows, .cols = args.cols};
}

cudaError_t launch_thread(const bench::RowSumArgs& args) {
  const unsigned grid = unsigned(divide_up(args.rows, kThreads));
  return with_type(args.x_type, [&](auto type) {
    return ptx::launch(&row_sum_thread_kernel<type()>,
                       {.grid = dim3(grid), .block = dim3(kThreads)}, args.stream, params_of(args));
  });
}

cudaError_t launch_cta(const bench::RowSumArgs& args) {
  return with_type(args.x_type, [&](auto type) {
    return ptx::launch(
        &row_sum_cta_kernel<type()>,
        {.grid = dim3(unsigned(args.rows)), .block = dim3(kThreads), .smem = sizeof(Smem)},
        args.stream, params_of(args));
  });
}

bench::Prepared<bench::RowSumArgs> prepare_thread(std::span<const bench::RowSumArgs> examples) {
  if (examples[0].cols > kLongestThreadRow) {
    throw bench::Refusal("a thread a row: rows this long take too long");
  }
  return {.kernel = "row_sum_thread", .launches = 1, .call = &launch_thread};
}

bench::Prepared<bench::RowSumArgs> prepare_cta(std::span<const bench::RowSumArgs> examples) {
  if (examples[0].cols > kLongestCtaRow) {
    throw bench::Refusal("a CTA a row: rows this long take too long");
  }
  return {.kernel = "row_sum_cta", .launches = 1, .call = &launch_cta};
}

}  // namespace row_sum_naive

const bench::Baseline<bench::RowSumArgs> kRowSumThread{
    .role = "naive", .kernel = "row_sum_thread", .prepare = &row_sum_naive::prepare_thread};

const bench::Baseline<bench::RowSumArgs> kRowSumCta{
    .role = "naive_cta", .kernel = "row_sum_cta", .prepare = &row_sum_naive::prepare_cta};

}  // namespace libkernels::inline LK_BACKEND::bench_device
