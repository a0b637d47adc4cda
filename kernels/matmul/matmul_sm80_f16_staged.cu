// Matmul, generation sm80, f16 from any operands: the instantiations of matmul_tensor_sm80.cuh for
//
//   f16, f16 -> f16, f32. mma.sync m16n8k16.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_tensor_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSet sm80_f16_staged = TensorKernels<Arithmetic::f16, Load::staged>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
