// One kernel around each instruction of kernels/ptx/math.cuh.
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

// F is a functor type: (a) or (a, b) or (a, b, c) to one word.
template <class F, int kInputs>
__global__ void map_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t a = p.in[t];
  if constexpr (kInputs == 1) {
    p.out[t] = F()(a);
  } else if constexpr (kInputs == 2) {
    p.out[t] = F()(a, p.in[p.threads + t]);
  } else {
    p.out[t] = F()(a, p.in[p.threads + t], p.in[2 * p.threads + t]);
  }
}

template <class F, int kInputs>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&map_kernel<F, kInputs>,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

template <class F, int kInputs>
constexpr PtxCase make_case(const char* name) {
  return {name, kInputs, 1, kThreads, &launch<F, kInputs>};
}

LK_DEVICE float as_float(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}
LK_DEVICE std::uint32_t as_bits(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

struct Ex2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::ex2_approx_f32(as_float(a)));
  }
};
struct Ex2Ftz {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::ex2_approx_ftz_f32(as_float(a)));
  }
};
struct RcpFtz {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::rcp_approx_ftz_f32(as_float(a)));
  }
};
struct Max {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return as_bits(ptx::max_f32(as_float(a), as_float(b)));
  }
};
struct Min {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return as_bits(ptx::min_f32(as_float(a), as_float(b)));
  }
};
struct Lg2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::lg2_approx_f32(as_float(a)));
  }
};
struct Rcp {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::rcp_approx_f32(as_float(a)));
  }
};
struct Rsqrt {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::rsqrt_approx_f32(as_float(a)));
  }
};
struct Tanh {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a) const {
    return as_bits(ptx::tanh_approx_f32(as_float(a)));
  }
};
struct MaxNaN {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return as_bits(ptx::max_NaN_f32(as_float(a), as_float(b)));
  }
};
struct MinNaN {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return as_bits(ptx::min_NaN_f32(as_float(a), as_float(b)));
  }
};
struct MaxNaNF16x2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return ptx::max_NaN_f16x2(a, b);
  }
};
struct MaxNaNBf16x2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return ptx::max_NaN_bf16x2(a, b);
  }
};
struct MinF16x2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return ptx::min_f16x2(a, b);
  }
};
struct MinBf16x2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return ptx::min_bf16x2(a, b);
  }
};
struct MulF16x2 {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    return ptx::mul_rn_f16x2(a, b);
  }
};
struct Prmt {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return ptx::prmt_b32(a, b, c);
  }
};
struct ShfRight {
  LK_DEVICE std::uint32_t operator()(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) const {
    return ptx::shf_r_wrap_b32(lo, hi, n);
  }
};
struct ShfLeft {
  LK_DEVICE std::uint32_t operator()(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) const {
    return ptx::shf_l_wrap_b32(lo, hi, n);
  }
};
struct ShfLeftClamp {
  LK_DEVICE std::uint32_t operator()(std::uint32_t lo, std::uint32_t hi, std::uint32_t n) const {
    return ptx::shf_l_clamp_b32(lo, hi, n);
  }
};
// Not of the ptx layer, but what the layer tells kernels to write: both backends must fuse.
struct Fma {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return as_bits(fmaf(as_float(a), as_float(b), as_float(c)));
  }
};
// And must not fuse where it says a * b + c.
struct MulAdd {
  LK_DEVICE std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return as_bits(as_float(a) * as_float(b) + as_float(c));
  }
};

// Two 64-bit operands, low words first, and one such result.
__global__ void mul_hi_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint64_t a = std::uint64_t(p.in[p.threads + t]) << 32 | p.in[t];
  const std::uint64_t b = std::uint64_t(p.in[3 * p.threads + t]) << 32 | p.in[2 * p.threads + t];
  const std::uint64_t d = ptx::mul_hi_u64(a, b);
  p.out[t] = std::uint32_t(d);
  p.out[p.threads + t] = std::uint32_t(d >> 32);
}

cudaError_t launch_mul_hi(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&mul_hi_kernel,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}

}  // namespace

std::span<const PtxCase> math_cases() {
  static const PtxCase cases[] = {
      make_case<Ex2, 1>("ex2_approx_f32"),
      make_case<Ex2Ftz, 1>("ex2_approx_ftz_f32"),
      make_case<Lg2, 1>("lg2_approx_f32"),
      make_case<Rcp, 1>("rcp_approx_f32"),
      make_case<RcpFtz, 1>("rcp_approx_ftz_f32"),
      make_case<Rsqrt, 1>("rsqrt_approx_f32"),
      make_case<Tanh, 1>("tanh_approx_f32"),
      make_case<Max, 2>("max_f32"),
      make_case<Min, 2>("min_f32"),
      make_case<MaxNaN, 2>("max_NaN_f32"),
      make_case<MinNaN, 2>("min_NaN_f32"),
      make_case<MaxNaNF16x2, 2>("max_NaN_f16x2"),
      make_case<MaxNaNBf16x2, 2>("max_NaN_bf16x2"),
      make_case<MinF16x2, 2>("min_f16x2"),
      make_case<MinBf16x2, 2>("min_bf16x2"),
      make_case<MulF16x2, 2>("mul_rn_f16x2"),
      make_case<Prmt, 3>("prmt_b32"),
      make_case<ShfRight, 3>("shf_r_wrap_b32"),
      make_case<ShfLeft, 3>("shf_l_wrap_b32"),
      make_case<ShfLeftClamp, 3>("shf_l_clamp_b32"),
      make_case<Fma, 3>("fmaf"),
      make_case<MulAdd, 3>("mul_add"),
      {"mul_hi_u64", 4, 2, kThreads, &launch_mul_hi},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
