// Matmul, generation sm90, A of e4m3: the instantiations of matmul_wgmma_sm90.cuh for
//
//   e4m3, e4m3 or e5m2 -> f16, bf16, f32. wgmma m64nNk32.
//
// Contract and floor: matmul_sm90.cu, which has the row of these kernels.
#include "kernels/matmul/matmul_wgmma_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

const KernelSetSm90 sm90_e4m3 = WgmmaKernels<Arithmetic::f8, DType::f8_e4m3, Major::k>::set();

}  // namespace libkernels::inline LK_BACKEND::op::matmul
