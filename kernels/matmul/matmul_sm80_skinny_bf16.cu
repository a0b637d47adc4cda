// Matmul with very few rows or columns, generation sm80, bf16: the instantiations of
// matmul_stream_sm80.cuh for
//
//   bf16, bf16 -> bf16, f32. mma.sync m16n8k16.
//
// Contract and floor: matmul_sm80_skinny.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_stream_launch.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const StreamKernelSet sm80_skinny_bf16 = StreamKernels<DType::bf16>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
