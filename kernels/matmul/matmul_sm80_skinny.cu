// Matmul with very few rows or columns, generation sm80: matrix times a few vectors.
//
//   C = act(alpha scale_a scale_b (A B) + beta C_in + bias), m or n at most 16
//
// Shapes    A [m, k], B [k, n], K adjacent in both, and address, other stride and batch stride
//           multiples of 16 bytes; C and C_in any strides; batch. Others: matmul_sm90_skinny.
// Types     f16, bf16: tensor cores, fp32 sums. f8: converted to f16, exactly, in registers.
// Numerics  K is cut in parts, one a warp of a CTA, which are added up in their order. How many
//           depends on the shape: so do an element's bits. No atomics.
// Floor     m k + k n + m n elements, of which nearly all are the larger operand's: 117 MB for
//           14336 x 4096 of bf16, which a plain sum of its elements reads in 27 us (H200).
//
// The kernel is in matmul_stream_sm80.cuh; the plan in matmul_stream_plan.h.
#include "kernels/matmul/matmul_sm80_skinny.h"
#include "kernels/ptx/ptx.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {
namespace {

const StreamKernelSet& set_of(const Problem& p) {
  return is_f8(p.a.type)           ? sm80_skinny_f8
         : p.a.type == DType::bf16 ? sm80_skinny_bf16
                                   : sm80_skinny_f16;
}

struct Row {
  static const char* supports(const Problem& problem, const DeviceProperties& device) {
    return refuse_stream(problem, device);
  }

  static cudaError_t launch(const Problem& problem, const LaunchContext& context) {
    return set_of(problem).launch(make_stream_plan(problem), context);
  }

  static std::string describe(const Problem& problem, const LaunchContext& context) {
    return describe_stream_plan(make_stream_plan(problem), context);
  }

  static std::size_t workspace_bytes(const Problem&, const DeviceProperties&) { return 0; }

  static cudaError_t resources(const Problem& problem, KernelResources* out) {
    return set_of(problem).resources(make_stream_plan(problem).tile, out);
  }

  static cudaError_t preload() {
    for (const StreamKernelSet* set : {&sm80_skinny_f16, &sm80_skinny_bf16, &sm80_skinny_f8}) {
      const cudaError_t error = set->preload();
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
};

}  // namespace

const KernelRow<Problem> sm80_skinny = row_of<Row>("matmul_sm80_skinny", Arch::sm80);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
