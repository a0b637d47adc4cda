// One kernel around each shape and type of kernels/ptx/mma.cuh.
//
// Inputs are the registers of A, those of B and the four of C; outputs the four of D.
#include <cstring>
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using ptx::MmaType;
using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 64;
constexpr int kAccumulators = 4;

template <int kK, MmaType kType>
struct Shape {
  static constexpr int kA = ptx::kMmaA<16, kK, kType>, kB = ptx::kMmaB<8, kK, kType>;
  static constexpr int kInputs = kA + kB + kAccumulators;
};

template <int kK, MmaType kType>
__global__ void mma_kernel(PtxParams p) {
  using S = Shape<kK, kType>;
  const std::uint32_t* in = p.in + blockIdx.x * blockDim.x + threadIdx.x;  // [kInputs][threads]
  std::uint32_t* out = p.out + blockIdx.x * blockDim.x + threadIdx.x;      // [kAccumulators][...]
  std::uint32_t a[S::kA], b[S::kB];
  float c[kAccumulators], d[kAccumulators];
  for (int i = 0; i < S::kA; ++i, in += p.threads) a[i] = *in;
  for (int i = 0; i < S::kB; ++i, in += p.threads) b[i] = *in;
  for (int i = 0; i < kAccumulators; ++i, in += p.threads) memcpy(&c[i], in, sizeof(c[i]));
  ptx::mma_sync<16, 8, kK, kType>(d, a, b, c);
  for (int i = 0; i < kAccumulators; ++i, out += p.threads) memcpy(out, &d[i], sizeof(d[i]));
}

template <int kK, MmaType kType>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&mma_kernel<kK, kType>,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

template <int kK, MmaType kType>
constexpr PtxCase make_case(const char* name) {
  return {name, Shape<kK, kType>::kInputs, kAccumulators, kThreads, &launch<kK, kType>};
}

}  // namespace

std::span<const PtxCase> mma_cases() {
  static const PtxCase cases[] = {
      make_case<16, MmaType::f16>("m16n8k16_f16"),   make_case<8, MmaType::f16>("m16n8k8_f16"),
      make_case<16, MmaType::bf16>("m16n8k16_bf16"), make_case<8, MmaType::bf16>("m16n8k8_bf16"),
      make_case<8, MmaType::tf32>("m16n8k8_tf32"),   make_case<4, MmaType::tf32>("m16n8k4_tf32"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
