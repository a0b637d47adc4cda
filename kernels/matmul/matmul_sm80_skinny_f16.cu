// Matmul with very few rows or columns, generation sm80, f16: the instantiations of
// matmul_stream_sm80.cuh for
//
//   f16, f16 -> f16, f32. mma.sync m16n8k16.
//
// Contract and floor: matmul_sm80_skinny.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_stream_launch.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const StreamKernelSet sm80_skinny_f16 = StreamKernels<DType::f16>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
