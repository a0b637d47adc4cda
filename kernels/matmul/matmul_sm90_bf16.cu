// Matmul, generation sm90, bf16 with K adjacent in A: the instantiations of
// matmul_wgmma_sm90.cuh for
//
//   bf16, bf16 -> bf16, f32. wgmma m64nNk16.
//
// Contract and floor: matmul_sm90.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_wgmma_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSetSm90 sm90_bf16 = WgmmaKernels<Arithmetic::bf16, DType::bf16, Major::k>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
