// One kernel around each instruction of kernels/ptx/cvt.cuh.
#include <cstring>
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 64;

LK_DEVICE float as_float(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

struct F32FromF16 {
  static constexpr int kInputs = 1;
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t) const {
    const float x = ptx::cvt_f32_f16(std::uint16_t(a));
    std::uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
  }
};
struct F16FromF32 {
  static constexpr int kInputs = 1;
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t) const {
    return ptx::cvt_rn_f16_f32(as_float(a));
  }
};
struct BF16FromF32 {
  static constexpr int kInputs = 1;
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t) const {
    return ptx::cvt_rn_bf16_f32(as_float(a));
  }
};
struct F16x2FromF32 {
  static constexpr int kInputs = 2;
  LK_DEVICE std::uint32_t operator()(std::uint32_t hi, std::uint32_t lo) const {
    return ptx::cvt_rn_f16x2_f32(as_float(hi), as_float(lo));
  }
};
struct BF16x2FromF32 {
  static constexpr int kInputs = 2;
  LK_DEVICE std::uint32_t operator()(std::uint32_t hi, std::uint32_t lo) const {
    return ptx::cvt_rn_bf16x2_f32(as_float(hi), as_float(lo));
  }
};

struct TF32FromF32 {
  static constexpr int kInputs = 1;
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t) const {
    return ptx::cvt_rna_tf32_f32(as_float(a));
  }
};

template <class F>
__global__ void convert_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  p.out[t] = F()(p.in[t], F::kInputs == 2 ? p.in[p.threads + t] : 0u);
}

template <class F>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&convert_kernel<F>,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

template <class F>
constexpr PtxCase make_case(const char* name) {
  return {name, F::kInputs, 1, kThreads, &launch<F>};
}

}  // namespace

std::span<const PtxCase> cvt_cases() {
  static const PtxCase cases[] = {
      make_case<F32FromF16>("cvt_f32_f16"),          make_case<F16FromF32>("cvt_rn_f16_f32"),
      make_case<BF16FromF32>("cvt_rn_bf16_f32"),     make_case<F16x2FromF32>("cvt_rn_f16x2_f32"),
      make_case<BF16x2FromF32>("cvt_rn_bf16x2_f32"), make_case<TF32FromF32>("cvt_rna_tf32_f32"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
