// Matmul, generation sm80, tf32 from aligned operands: the instantiations of matmul_tensor_sm80.cuh
// for
//
//   f32, f32 -> f32, rounded to tf32 (nearest, ties away). mma.sync m16n8k8.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_tensor_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSet sm80_tf32 = TensorKernels<Arithmetic::tf32, Load::async>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
