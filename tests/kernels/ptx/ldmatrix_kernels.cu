// One kernel around each form of kernels/ptx/ldmatrix.cuh that sm_80 has.
//
// Each thread puts four input words into a row of its warp's tile; the fifth says which row the
// lane points at. Lanes whose pointers do not matter point at nothing.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/matrix_smem.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

template <int kCount, bool kTrans>
__global__ void ldmatrix_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  auto& tile = ptx::dynamic_smem<MatrixSmem>().tile[threadIdx.x / 32];
  ptx::st_shared(&tile[threadIdx.x % 32], input_row(p, t));  // counted, hooks or not
  __syncwarp();
  const uint4* row = &tile[p.in[4 * p.threads + t] % 32];
  if (threadIdx.x % 32 >= 8 * kCount) row = nullptr;
  std::uint32_t d[kCount];
  ptx::ldmatrix<kCount, kTrans>(d, row);
  for (int i = 0; i < kCount; ++i) p.out[unsigned(i) * p.threads + t] = d[i];
}

template <int kCount, bool kTrans>
constexpr PtxCase make_case(const char* name) {
  return {name, kMatrixInputs, kCount, kMatrixThreads,
          &launch_matrix<&ldmatrix_kernel<kCount, kTrans>>};
}

}  // namespace

std::span<const PtxCase> ldmatrix_cases() {
  static const PtxCase cases[] = {
      make_case<1, false>("x1"),      make_case<2, false>("x2"),
      make_case<4, false>("x4"),      make_case<1, true>("x1_trans"),
      make_case<2, true>("x2_trans"), make_case<4, true>("x4_trans"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
