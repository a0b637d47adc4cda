// One kernel around each form of stmatrix (kernels/ptx/ldmatrix.cuh).
//
// The first four input words are the lane's registers; the fifth says which row of its warp's tile
// the lane points at. Each thread gives back the row of its own index.
#include <span>

#include "tests/kernels/ptx/matrix_smem.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

template <int kCount, bool kTrans>
__global__ void stmatrix_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  auto& tile = ptx::dynamic_smem<MatrixSmem>().tile[threadIdx.x / 32];
  tile[threadIdx.x % 32] = {};
  __syncwarp();
  uint4* row = &tile[p.in[4 * p.threads + t] % 32];
  if (threadIdx.x % 32 >= 8 * kCount) row = nullptr;
  const uint4 in = input_row(p, t);
  const std::uint32_t all[] = {in.x, in.y, in.z, in.w};
  std::uint32_t v[kCount];
  for (int i = 0; i < kCount; ++i) v[i] = all[i];
  ptx::stmatrix<kCount, kTrans>(row, v);
  __syncwarp();
  const uint4 out = tile[threadIdx.x % 32];
  p.out[t] = out.x;
  p.out[p.threads + t] = out.y;
  p.out[2 * p.threads + t] = out.z;
  p.out[3 * p.threads + t] = out.w;
}

template <int kCount, bool kTrans>
constexpr PtxCase make_case(const char* name) {
  return {name, kMatrixInputs, 4, kMatrixThreads, &launch_matrix<&stmatrix_kernel<kCount, kTrans>>};
}

}  // namespace

std::span<const PtxCase> stmatrix_cases() {
  static const PtxCase cases[] = {
      make_case<1, false>("x1"),      make_case<2, false>("x2"),
      make_case<4, false>("x4"),      make_case<1, true>("x1_trans"),
      make_case<2, true>("x2_trans"), make_case<4, true>("x4_trans"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
