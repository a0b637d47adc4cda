// Compiled once per backend.
#include "bench/baselines/baseline.h"

#include "bench/baselines/tables.h"

namespace libkernels::bench {

#if defined(LK_EMULATE)
const Baselines& emu_baselines() {
#else
const Baselines& cuda_baselines() {
#endif
  static const Baseline<SoftmaxArgs> softmax[] = {bench_device::kSoftmaxNaive,
                                                  bench_device::kSoftmaxUnfused};
  static const Baseline<RowSumArgs> row_sum[] = {bench_device::kRowSumThread,
                                                 bench_device::kRowSumCta};
  static const Baseline<MatmulArgs> matmul[] = {bench_device::kMatmulNaive,
                                                bench_device::kMatmulTiled};
  static const Baselines baselines{.softmax = softmax,
                                   .row_sum = row_sum,
                                   .matmul = matmul,
                                   .matmul_steps = &bench_device::matmul_steps};
  return baselines;
}

}  // namespace libkernels::bench
