// Matmul with very few rows or columns, generation sm80, f8: the instantiations of
// matmul_stream_sm80.cuh for
//
//   f8, f8 -> f16, bf16, f32; e4m3 and e5m2, mixed or not. mma.sync m16n8k16 of f16, to which f8
//   is converted exactly.
//
// Contract and floor: matmul_sm80_skinny.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_stream_launch.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const StreamKernelSet sm80_skinny_f8 = StreamKernels<DType::f8_e4m3>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
