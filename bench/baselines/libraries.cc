#include "bench/baselines/libraries.h"

#include <vector>

#include "bench/baselines/tables.h"

namespace libkernels::bench {
namespace {

template <class Args>
void append(std::vector<Baseline<Args>>* all, std::span<const Baseline<Args>> more) {
  all->insert(all->end(), more.begin(), more.end());
}

}  // namespace

const Contestants& cuda_contestants_with_libraries() {
  static std::vector<Baseline<RowSumArgs>> row_sum;
  static std::vector<Baseline<MatmulArgs>> matmul;
  static const Contestants all = [] {
    Contestants c = cuda_contestants();
    append(&row_sum, c.baselines.row_sum);
    append(&row_sum, bench_device::cub_baselines());
    append(&matmul, c.baselines.matmul);
    append(&matmul, bench_device::cublas_baselines());
    append(&matmul, bench_device::cublaslt_baselines());
    c.baselines.row_sum = row_sum;
    c.baselines.matmul = matmul;
    return c;
  }();
  return all;
}

}  // namespace libkernels::bench
