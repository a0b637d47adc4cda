// Compiled once per backend.
#include "bench/baselines/baseline.h"

#include "bench/baselines/tables.h"

namespace libkernels::inline LK_BACKEND::bench_device {

bench::Baselines baselines() {
  static const bench::Baseline<bench::SoftmaxArgs> softmax[] = {kSoftmaxNaive, kSoftmaxUnfused};
  static const bench::Baseline<bench::RowSumArgs> row_sum[] = {kRowSumThread, kRowSumCta};
  static const bench::Baseline<bench::MatmulArgs> matmul[] = {kMatmulNaive, kMatmulTiled};
  return {.softmax = softmax, .row_sum = row_sum, .matmul = matmul, .matmul_steps = &matmul_steps};
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
