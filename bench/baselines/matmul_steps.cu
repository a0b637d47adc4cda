// What follows a product without epilogue in a chain: c = c + bias, then c = relu(c), a kernel
// each.
//
// Traffic: each reads and writes all of C, 2 M N elements a step. Numerics: fp32 inside, a rounding
// to C's type after each step.
#include "bench/baselines/steps.cuh"
#include "bench/baselines/tables.h"

namespace libkernels::inline LK_BACKEND::bench_device {
namespace {

cudaError_t launch_steps(const bench::MatmulArgs& args) {
  return with_type(args.out_type, [&](auto type) {
    constexpr DType kType = type();
    const std::int64_t n = args.m * args.n;
    cudaError_t error = cudaSuccess;
    if (args.epilogue == bench::Epilogue::bias_relu) {
      error = launch_step<kType, kType, kType, Step::add, Per::column>(args.c, args.c, args.bias, n,
                                                                       args.n, args.stream);
    }
    if (error == cudaSuccess && args.epilogue != bench::Epilogue::none) {
      error = launch_step<kType, kType, kType, Step::relu, Per::nothing>(args.c, args.c, nullptr, n,
                                                                         args.n, args.stream);
    }
    return error;
  });
}

}  // namespace

bench::Prepared<bench::MatmulArgs> matmul_steps(const bench::MatmulArgs& example) {
  if (example.c_strides != bench::Strides{.row = example.n, .col = 1}) {
    throw bench::Refusal("the steps take a packed C");
  }
  return {.kernel = example.epilogue == bench::Epilogue::bias_relu ? "bias + relu" : "relu",
          .launches = int(example.epilogue),
          .call = &launch_steps};
}

}  // namespace libkernels::inline LK_BACKEND::bench_device
