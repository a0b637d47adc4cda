// Matmul with few rows or columns, generation sm90, fp8: the instantiations of
// matmul_skinny_sm90.cuh for
//
//   e4m3 or e5m2, e4m3 or e5m2 -> f16, bf16, f32. wgmma m64n{8,16,32}k32.
//
// Contract and floor: matmul_sm90_skinny.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_skinny_launch.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const SkinnyKernelSet sm90_skinny_f8 = SkinnyKernels<DType::f8_e4m3>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
