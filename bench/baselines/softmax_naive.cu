// Softmax as a first fused kernel writes it: a CTA a row, one element a thread and step, three
// passes over the row (its maximum, the sum of the exponentials, the quotients), a tree in shared
// memory for each of the two reductions, the maths library's expf.
//
// Numerics: fp32 inside, one rounding at the store; a thread adds cols / 256 terms in series.
// Traffic: three reads (the later two from the caches while the row fits there) and one write.
#include "bench/baselines/tables.h"
#include "bench/baselines/types.cuh"
#include "kernels/ptx/launch.cuh"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace softmax_naive {

constexpr int kThreads = 256;
constexpr std::int64_t kLongestRow = std::int64_t{1} << 19;  // some milliseconds

struct Params {
  const void* x;
  void* y;
  std::int64_t cols;
};

struct Smem {
  float slot[kThreads];
};

// All threads get combine over all threads' v.
template <class Combine>
LK_DEVICE float reduce(float v, float* slot, Combine combine) {
  const int t = int(threadIdx.x);
  __syncthreads();  // the previous result has been read
  slot[t] = v;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) slot[t] = combine(slot[t], slot[t + half]);
  }
  __syncthreads();
  return slot[0];
}

template <DType kIn, DType kOut>
__global__ void __launch_bounds__(kThreads) softmax_naive_kernel(Params p) {
  float* slot = ptx::dynamic_smem<Smem>().slot;
  const std::int64_t row = std::int64_t(blockIdx.x) * p.cols;
  float m = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < p.cols; c += kThreads)
    m = fmaxf(m, load<kIn>(p.x, row + c));
  m = reduce(m, slot, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (std::int64_t c = threadIdx.x; c < p.cols; c += kThreads)
    sum += expf(load<kIn>(p.x, row + c) - m);
  sum = reduce(sum, slot, [](float a, float b) { return a + b; });
  for (std::int64_t c = threadIdx.x; c < p.cols; c += kThreads) {
    store<kOut>(p.y, row + c, expf(load<kIn>(p.x, row + c) - m) / sum);
  }
}

cudaError_t launch(const bench::SoftmaxArgs& args) {
  return with_types(args.x_type, args.y_type, [&](auto in, auto out) {
    return ptx::launch(
        &softmax_naive_kernel<in(), out()>,
        {.grid = dim3(unsigned(args.rows)), .block = dim3(kThreads), .smem = sizeof(Smem)},
        args.stream, Params{.x = args.x, .y = args.y, .cols = args.cols});
  });
}

bench::Prepared<bench::SoftmaxArgs> prepare(std::span<const bench::SoftmaxArgs> examples) {
  if (examples[0].cols > kLongestRow) {
    throw bench::Refusal("a CTA a row: rows this long take too long");
  }
  return {.kernel = "softmax_naive", .launches = 1, .call = &launch};
}

}  // namespace softmax_naive

const bench::Baseline<bench::SoftmaxArgs> kSoftmaxNaive{
    .role = "naive", .kernel = "softmax_naive", .prepare = &softmax_naive::prepare};

}  // namespace libkernels::inline LK_BACKEND::bench_device
