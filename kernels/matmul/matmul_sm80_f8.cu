// Matmul, generation sm80, f8: the instantiations of matmul_tensor_sm80.cuh for
//
//   f8_e4m3, f8_e5m2, mixed or not -> f16, bf16, f32. Exactly converted to f16, mma.sync m16n8k16.
//
// Contract and floor: matmul_sm80.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_tensor_sm80.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSet sm80_f8 = TensorKernels<Arithmetic::f8, Load::staged>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
