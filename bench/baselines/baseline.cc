// Compiled once per backend.
#include "bench/baselines/baseline.h"

#include <vector>

#include "bench/baselines/tables.h"

namespace libkernels::inline LK_BACKEND::bench_device {

bench::Baselines baselines() {
  static const bench::Baseline<bench::SoftmaxArgs> softmax[] = {kSoftmaxNaive, kSoftmaxUnfused};
  static std::vector<bench::Baseline<bench::RowSumArgs>> row_sum{kRowSumThread, kRowSumCta};
  static std::vector<bench::Baseline<bench::MatmulArgs>> matmul{kMatmulNaive, kMatmulTiled};
#if !defined(LK_EMULATE)
  static const bool appended = [] {
    const auto append = [](auto* all, auto more) {
      all->insert(all->end(), more.begin(), more.end());
    };
    append(&row_sum, cub_baselines());
    append(&matmul, cublas_baselines());
    append(&matmul, cublaslt_baselines());
    return true;
  }();
  (void)appended;
#endif
  return {.softmax = softmax, .row_sum = row_sum, .matmul = matmul, .matmul_steps = &matmul_steps};
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
