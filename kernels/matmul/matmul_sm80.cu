// Matmul, generation sm80: everyone's fallback, and the only one that takes every problem.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias)
//
// Shapes    A [m, k], B [k, n], C and C_in [m, n], any strides, any element-aligned address; batch.
// Types     f16, bf16: tensor cores, fp32 sums. f8: converted to f16, exactly, on the way to shared
//           memory. f32: fused multiply-adds, or tensor cores in tf32 or three times tf32.
// Numerics  Sums run along K in one order, whatever the tile, so an element's bits depend on its
//           row, its column and the arithmetic (tf32x3: and on whether C is column major, which
//           swaps the parts of A and B). No atomics, no split of K.
// Floor     2 m n k FLOP, and m k + k n + m n elements (with beta: 2 m n). Each tile of C reads its
//           rows of A and columns of B once, so A is read n / tile columns times, most of them out
//           of the L2 (matmul_raster.h).
//
// The kernels are in matmul_tensor_sm80.cuh and matmul_sm80_fp32.cu; the plan in matmul_plan.h.
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_sm80.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

const KernelSet& set_of(const Variant& v) {
  const bool async = v.load == Load::async;
  switch (v.arithmetic) {
    case Arithmetic::f16:
      return async ? sm80_f16 : sm80_f16_staged;
    case Arithmetic::bf16:
      return async ? sm80_bf16 : sm80_bf16_staged;
    case Arithmetic::f8:
      return sm80_f8;
    case Arithmetic::tf32:
      return async ? sm80_tf32 : sm80_tf32_staged;
    case Arithmetic::tf32x3:
      return async ? sm80_tf32x3 : sm80_tf32x3_staged;
    case Arithmetic::fp32:
      break;
  }
  return sm80_fp32;
}

struct Row {
  static const char* supports(const Problem&, const DeviceProperties&) { return nullptr; }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    const Plan plan = make_plan(problem, context.properties);
    const int threads = plan.tile.threads();
    const ptx::LaunchShape shape{
        .grid = dim3(capped_grid(plan.params.raster.tiles, context, threads)),
        .block = dim3(unsigned(threads)),
        .smem = smem_bytes(plan.variant.arithmetic, plan.tile)};
    return ptx::launch(set_of(plan.variant).find(plan.variant), shape, context.stream, plan.params);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_plan(problem, make_plan(problem, context.properties), context);
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    const Plan plan = make_plan(problem, *problem.device);
    return kernel_resources(set_of(plan.variant).find(plan.variant), plan.tile.threads(),
                            plan.tile.ctas_per_sm, smem_bytes(plan.variant.arithmetic, plan.tile),
                            out);
  }

  static cudaError_t preload() {
    for (const KernelSet* set :
         {&sm80_f16, &sm80_f16_staged, &sm80_bf16, &sm80_bf16_staged, &sm80_f8, &sm80_tf32,
          &sm80_tf32_staged, &sm80_tf32x3, &sm80_tf32x3_staged, &sm80_fp32}) {
      const cudaError_t error = set->preload();
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
};

}  // namespace

const KernelRow<Problem> sm80 = row_of<Row>("matmul_sm80", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
