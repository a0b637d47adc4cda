// What the .cu files of bench/baselines/ define, once per backend.
#pragma once

#include "bench/baselines/baseline.h"
#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::bench_device {

extern const bench::Baseline<bench::SoftmaxArgs> kSoftmaxNaive;
extern const bench::Baseline<bench::SoftmaxArgs> kSoftmaxUnfused;
extern const bench::Baseline<bench::RowSumArgs> kRowSumThread;
extern const bench::Baseline<bench::RowSumArgs> kRowSumCta;
extern const bench::Baseline<bench::MatmulArgs> kMatmulNaive;
extern const bench::Baseline<bench::MatmulArgs> kMatmulTiled;
bench::Prepared<bench::MatmulArgs> matmul_steps(const bench::MatmulArgs& example);

// All of these.
bench::Baselines baselines();

// Of the CUDA backend, and of lkbench, alone: baselines/libraries.h.
std::span<const bench::Baseline<bench::RowSumArgs>> cub_baselines();
std::span<const bench::Baseline<bench::MatmulArgs>> cublas_baselines();
std::span<const bench::Baseline<bench::MatmulArgs>> cublaslt_baselines();

}  // namespace libkernels::inline LK_BACKEND::bench_device
