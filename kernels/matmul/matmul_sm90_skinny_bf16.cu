// Matmul with few rows or columns, generation sm90, bf16: the instantiations of
// matmul_skinny_sm90.cuh for
//
//   bf16, bf16 -> bf16, f32. wgmma m64n{8,16,32,64,256}k16.
//
// Contract and floor: matmul_sm90_skinny.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_skinny_launch.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const SkinnyKernelSet sm90_skinny_bf16 = SkinnyKernels<DType::bf16>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
