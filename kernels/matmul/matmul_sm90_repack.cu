// Matmul, generation sm90, for operands that the copy engine cannot read: a pass copies them to
// scratch, and the kernels of matmul_sm90.cu multiply what it wrote.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias)
//
// Shapes    any strides and alignment of A and B, C and C_in; k >= 1. Small products, which take
//           less than the pass would, are sm80's.
// Types     those of matmul_sm90.cu.
// Numerics  those of matmul_sm90.cu: the same bits as of aligned operands.
// Scratch   what is copied: rows (or columns) of it, each rounded up to 128 bytes.
// Floor     that of matmul_sm90.cu, and what is copied once in and once out.
//
// The pass is in matmul_repack.cuh, when it pays in matmul_repack_plan.cc.
#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_repack.cuh"
#include "kernels/matmul/matmul_sm90.h"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

using RepackKernel = void (*)(RepackParams);
RepackKernel kernel_of(const Problem& p) {
  return size_of(p.a.type) == 1   ? &matmul_sm90_repack<1>
         : size_of(p.a.type) == 2 ? &matmul_sm90_repack<2>
                                  : &matmul_sm90_repack<4>;
}

struct Row {
  static const char* supports(const Problem& p, const DeviceProperties& device) {
    return why_not_repacked(p, device);
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    const RepackPlan plan = make_repack_plan(problem, context.workspace);
    const ptx::LaunchShape shape{
        .grid = dim3(capped_grid(repack_items(plan.params), context, kRepackThreads)),
        .block = dim3(kRepackThreads),
        .smem = sizeof(RepackSmem)};
    context.name_launch("copy of the operands");
    const cudaError_t error = ptx::launch(kernel_of(problem), shape, context.stream, plan.params);
    if (error != cudaSuccess) return error;
    context.name_launch("product");
    return launch_sm90(make_plan_sm90(plan.problem, context.properties), context, true);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_repack_plan(problem, context);
  }

  static std::size_t workspace_bytes(const Problem& problem, const DeviceProperties&) {
    return make_repack_plan(problem, nullptr).scratch;
  }

  // Of the product, which takes more.
  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    Problem repacked = make_repack_plan(problem, nullptr).problem;
    return sm90.resources(repacked, out);
  }

  // The kernels of the products are sm90's, which loads them.
  static cudaError_t preload() {
    KernelResources ignored;
    for (const RepackKernel kernel :
         {&matmul_sm90_repack<1>, &matmul_sm90_repack<2>, &matmul_sm90_repack<4>}) {
      const cudaError_t error = kernel_resources(kernel, kRepackThreads, 1, 0, &ignored);
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
};

}  // namespace

const KernelRow<Problem> sm90_repack = row_of<Row>("matmul_sm90_repack", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
