// The judge of matmul: exact elements of C, in fp64, compared with a product's. Up to 256 x 256 of
// them: all of a small C, of a larger one an element of each of 256 x 256 parts of equal size,
// which lies somewhere else in each part, and the last row and column.
#include "bench/judge_math.cuh"
#include "bench/judge_tables.h"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace judge_matmul {

struct Params {
  bench::MatmulArgs args;
  bench::ProductFacts* facts;
  bench::Findings* findings;
  bench::ProductBounds bounds;
  std::int64_t rows, cols;  // that are looked at
  OutputFormat format;
};

// Which row (column) of `extent` the i-th of `count` is.
LK_DEVICE std::int64_t sample(std::int64_t i, std::int64_t count, std::int64_t extent) {
  if (count == extent) return i;
  if (i == 0 || i == count - 1) return i == 0 ? 0 : extent - 1;
  const std::int64_t begin = i * extent / count;
  const std::int64_t length = (i + 1) * extent / count - begin;
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15u;  // the golden ratio's digits scatter well
  return begin + std::int64_t((std::uint64_t(i) * kMix >> 33) % std::uint64_t(length));
}

struct Smem {
  bench::ProductFacts lane[kJudgeThreads];
};

// A warp an element, its lanes every 32nd of K.
template <DType T>
__global__ void __launch_bounds__(kJudgeThreads) facts_kernel(Params p) {
  const int t = int(threadIdx.x);
  const int lane = t % kJudgeLanes;
  const std::int64_t i = std::int64_t(blockIdx.x) * kJudgeWarps + t / kJudgeLanes;
  const bool active = i < p.rows * p.cols;
  bench::ProductFacts mine{.value = 0, .sum_abs = 0};
  if (active) {
    const std::int64_t row = sample(i / p.cols, p.rows, p.args.m);
    const std::int64_t col = sample(i % p.cols, p.cols, p.args.n);
    for (std::int64_t k = lane; k < p.args.k; k += kJudgeLanes) {
      const double product = double(load<T>(p.args.a, at(p.args.a_strides, row, k))) *
                             double(load<T>(p.args.b, at(p.args.b_strides, k, col)));
      mine.value += product;
      mine.sum_abs += fabs(product);
    }
  }
  bench::ProductFacts* all = ptx::dynamic_smem<Smem>().lane;
  all[t] = mine;
  __syncwarp();
  if (lane != 0 || !active) return;
  for (int other = 1; other < kJudgeLanes; ++other) {
    mine.value += all[t + other].value;
    mine.sum_abs += all[t + other].sum_abs;
  }
  p.facts[i] = mine;
}

// A baseline may round to C's type after the product, the bias and the activation, and where it
// splits K also the partial sums, each about as large as a sum of random terms.
template <DType kOut>
__global__ void __launch_bounds__(kJudgeThreads) judge_kernel(Params p) {
  constexpr double kRoundings = 8;
  constexpr double kPartials = 4;
  bench::Findings found;
  const std::int64_t step = std::int64_t(gridDim.x) * kJudgeThreads;
  const std::int64_t first = std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.x;
  for (std::int64_t i = first; i < p.rows * p.cols; i += step) {
    const std::int64_t row = sample(i / p.cols, p.rows, p.args.m);
    const std::int64_t col = sample(i % p.cols, p.cols, p.args.n);
    const double bias =
        p.args.epilogue == bench::Epilogue::bias_relu ? load<kOut>(p.args.bias, col) : 0.0f;
    const double s = p.facts[i].sum_abs + fabs(bias);
    const double before = p.facts[i].value + bias;
    const double exact = p.args.epilogue == bench::Epilogue::none ? before : larger(before, 0);
    const double scatter = p.args.k > 0 ? s / sqrt(double(p.args.k)) : 0;
    const double typical = larger(fabs(exact), scatter);
    const double magnitude = fabs(before) + fabs(bias) + kPartials * scatter;
    note(&found, row * p.args.n + col, load<kOut>(p.args.c, at(p.args.c_strides, row, col)), exact,
         unit_at(p.format, typical), p.bounds.fused * s + 0.5 * unit_at(p.format, exact) + 0x1p-149,
         p.bounds.wide * s + kRoundings * unit_at(p.format, magnitude));
  }
  report(found, p.findings);
}

Params params_of(const bench::MatmulJudgeCall& call) {
  const auto looked_at = [](std::int64_t extent) {
    return extent < bench::kMatmulSamples ? extent : std::int64_t{bench::kMatmulSamples};
  };
  return {.args = call.args,
          .facts = call.facts,
          .findings = call.findings,
          .bounds = call.bounds,
          .rows = looked_at(call.args.m),
          .cols = looked_at(call.args.n),
          .format = output_format(call.args.out_type)};
}

}  // namespace judge_matmul

cudaError_t matmul_facts(const bench::MatmulJudgeCall& call) {
  const judge_matmul::Params params = judge_matmul::params_of(call);
  return with_product_types(call.args.in_type, call.args.out_type, [&](auto in, auto) {
    return ptx::launch(&judge_matmul::facts_kernel<in()>,
                       {.grid = dim3(unsigned(divide_up(params.rows * params.cols, kJudgeWarps))),
                        .block = dim3(kJudgeThreads),
                        .smem = sizeof(judge_matmul::Smem)},
                       call.args.stream, params);
  });
}

cudaError_t judge_matmul_result(const bench::MatmulJudgeCall& call) {
  const judge_matmul::Params params = judge_matmul::params_of(call);
  return with_type(call.args.out_type, [&](auto out) {
    return ptx::launch(&judge_matmul::judge_kernel<out()>,
                       {.grid = dim3(judge_grid(params.rows * params.cols)),
                        .block = dim3(kJudgeThreads),
                        .smem = sizeof(FindingsSmem)},
                       call.args.stream, params);
  });
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
