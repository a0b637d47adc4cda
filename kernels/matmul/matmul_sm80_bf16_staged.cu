// Matmul, generation sm80, bf16 from any operands: the instantiations of matmul_tensor_sm80.cuh for
//
//   bf16, bf16 -> bf16, f32. mma.sync m16n8k16.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_tensor_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSet sm80_bf16_staged = TensorKernels<Arithmetic::bf16, Load::staged>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
