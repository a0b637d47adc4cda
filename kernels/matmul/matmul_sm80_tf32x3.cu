// Matmul, generation sm80, tf32x3 from aligned operands: the instantiations of
// matmul_tensor_sm80.cuh for
//
//   f32, f32 -> f32, as hi + lo of tf32: lo hi + hi lo + hi hi. mma.sync m16n8k8.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_tensor_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSet sm80_tf32x3 = TensorKernels<Arithmetic::tf32x3, Load::async>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
