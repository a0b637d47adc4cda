// Matmul, generation sm90, f16 with K adjacent in A: the instantiations of
// matmul_wgmma_sm90.cuh for
//
//   f16, f16 -> f16, f32. wgmma m64nNk16.
//
// Contract and floor: matmul_sm90.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_wgmma_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSetSm90 sm90_f16 = WgmmaKernels<Arithmetic::f16, DType::f16, Major::k>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
