// Matmul with few rows or columns, generation sm90.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias), m or n at most 64
//
// Shapes    A [m, k], B [k, n], a unit stride in each, and address, other stride and batch stride
//           multiples of 16 bytes; C and C_in any strides; batch. Others: matmul_sm80.
// Types     f16, bf16: tensor cores, fp32 sums.
// Numerics  K is cut in parts, one a CTA of a cluster, which add up in the order of ranks. How many
//           depends on the shape and the device: so do an element's bits. No atomics.
// Floor     m k + k n + m n elements, of which nearly all are the larger operand's: 117 MB for
//           14336 x 4096 of bf16, which a plain sum of its elements reads in 27 us (H200).
//
// The kernel is in matmul_skinny_sm90.cuh; the plan in matmul_skinny_plan.h.
#include "kernels/matmul/matmul_sm90_skinny.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

const SkinnyKernelSet& set_of(const Problem& p) {
  return p.a.type == DType::f16 ? sm90_skinny_f16 : sm90_skinny_bf16;
}

SkinnyPlan plan_of(const Problem& p, const DeviceProperties& device) {
  return make_skinny_plan(p, device, device.sm_count);
}

struct Row {
  static const char* supports(const Problem& problem, const DeviceProperties& properties) {
    return refuse_skinny(problem, properties);
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    SkinnyPlan plan = make_skinny_plan(problem, context.properties, context.max_sms);
    return set_of(problem).launch(plan, context.stream);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_skinny_plan(problem,
                                make_skinny_plan(problem, context.properties, context.max_sms));
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    return set_of(problem).resources(plan_of(problem, *problem.device), out);
  }

  static cudaError_t preload() {
    const cudaError_t error = sm90_skinny_f16.preload();
    return error != cudaSuccess ? error : sm90_skinny_bf16.preload();
  }
};

}  // namespace

const KernelRow<Problem> sm90_skinny = row_of<Row>("matmul_sm90_skinny", Arch::sm90);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
