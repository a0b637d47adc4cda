// cuBLAS: cublasGemmEx, which chooses for itself, then bias and ReLU as kernels of their own.
#include "bench/baselines/cublas_common.h"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace {

cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h;
    check(cublasCreate(&h), "cublasCreate");
    return h;
  }();
  return made;
}

void multiply(const bench::MatmulArgs& args) {
  const ColumnMajor x = column_major(args.b_strides, args.k, args.n);
  const ColumnMajor y = column_major(args.a_strides, args.m, args.k);
  constexpr float kOne = 1, kZero = 0;
  check(cublasSetStream(handle(), args.stream), "cublasSetStream");
  // Changing the stream puts the library's own workspace back.
  check(cublasSetWorkspace(handle(), args.scratch, bench::kMatmulScratch), "cublasSetWorkspace");
  check(cublasGemmEx(handle(), x.op, y.op, int(args.n), int(args.m), int(args.k), &kOne, args.b,
                     data_type(args.in_type), int(x.ld), args.a, data_type(args.in_type), int(y.ld),
                     &kZero, args.c, data_type(args.out_type), int(args.c_strides.row),
                     compute_type(args), CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

bench::Prepared<bench::MatmulArgs> prepare(std::span<const bench::MatmulArgs> examples) {
  const bench::MatmulArgs& example = examples[0];
  if (size_of(example.in_type) == 1) throw bench::Refusal("cublasGemmEx takes no fp8");
  const bench::Prepared<bench::MatmulArgs> steps = matmul_steps(example);
  multiply(example);  // what it does not take, it says now
  return {.kernel = steps.launches == 0 ? "cublasGemmEx" : "cublasGemmEx + " + steps.kernel,
          .launches = 1 + steps.launches,
          .call = [steps](const bench::MatmulArgs& args) {
            multiply(args);
            return steps.call(args);
          }};
}

}  // namespace

std::span<const bench::Baseline<bench::MatmulArgs>> cublas_baselines() {
  static const bench::Baseline<bench::MatmulArgs> all[] = {
      {.role = "cublas", .kernel = "cublasGemmEx", .prepare = &prepare}};
  return all;
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
