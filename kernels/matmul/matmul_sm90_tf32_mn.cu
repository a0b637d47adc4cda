// Matmul, generation sm90, tf32 with M adjacent in A: the instantiations of
// matmul_wgmma_sm90.cuh for
//
//   f32, f32 -> f32, rounded to tf32 on the way into shared memory. wgmma m64nNk8.
//
// Contract and floor: matmul_sm90.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_wgmma_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSetSm90 sm90_tf32_mn = WgmmaKernels<Arithmetic::tf32, DType::f32, Major::mn>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
