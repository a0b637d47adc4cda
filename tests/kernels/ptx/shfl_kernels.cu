// One kernel around each instruction of kernels/ptx/shfl.cuh.
//
// Input 0 is the value, input 1 the second operand, which differs from lane to lane. The masked
// kernels run the lower and the upper half of each warp apart, each half with its own mask.
#include <cstring>
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 96;
constexpr std::uint32_t kLowerHalf = 0x0000ffffu;
constexpr std::uint32_t kUpperHalf = 0xffff0000u;

template <class T>
LK_DEVICE T value_of(std::uint32_t bits) {
  T v;
  memcpy(&v, &bits, sizeof(v));
  return v;
}
template <class T>
LK_DEVICE std::uint32_t word_of(T v) {
  std::uint32_t bits;
  memcpy(&bits, &v, sizeof(bits));
  return bits;
}

template <class T>
struct Bfly {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t b, std::uint32_t mask) const {
    return word_of(ptx::shfl_sync_bfly(value_of<T>(v), b, mask));
  }
};
template <class T>
struct Idx {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t b, std::uint32_t mask) const {
    return word_of(ptx::shfl_sync_idx(value_of<T>(v), b, mask));
  }
};
template <class T>
struct Up {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t b, std::uint32_t mask) const {
    return word_of(ptx::shfl_sync_up(value_of<T>(v), b, mask));
  }
};
template <class T>
struct Down {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t b, std::uint32_t mask) const {
    return word_of(ptx::shfl_sync_down(value_of<T>(v), b, mask));
  }
};
struct Ballot {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t, std::uint32_t mask) const {
    return ptx::vote_sync_ballot((v & 1u) != 0, mask);
  }
};
struct Any {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t, std::uint32_t mask) const {
    return ptx::vote_sync_any((v & 31u) == 0, mask) ? 1u : 0u;  // rarely true
  }
};
struct All {
  LK_DEVICE std::uint32_t operator()(std::uint32_t v, std::uint32_t, std::uint32_t mask) const {
    return ptx::vote_sync_all((v & 31u) != 0, mask) ? 1u : 0u;  // often true
  }
};

template <class F>
__global__ void full_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  p.out[t] = F()(p.in[t], p.in[p.threads + t], ptx::kFullWarp);
}

template <class F>
__global__ void halves_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t v = p.in[t], b = p.in[p.threads + t];
  if (threadIdx.x % 32 < 16) {
    p.out[t] = F()(v, b, kLowerHalf);
  } else {
    p.out[t] = F()(v, b, kUpperHalf);
  }
}

template <class F, bool kHalves>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  void (*kernel)(PtxParams) = kHalves ? &halves_kernel<F> : &full_kernel<F>;
  return ptx::launch(kernel, {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)},
                     stream, params);
}

template <class F>
constexpr PtxCase full(const char* name) {
  return {name, 2, 1, kThreads, &launch<F, false>};
}
template <class F>
constexpr PtxCase halves(const char* name) {
  return {name, 2, 1, kThreads, &launch<F, true>};
}

}  // namespace

std::span<const PtxCase> shfl_cases() {
  static const PtxCase cases[] = {
      full<Bfly<std::uint32_t>>("bfly"),
      full<Bfly<float>>("bfly_float"),
      full<Idx<std::uint32_t>>("idx"),
      full<Idx<int>>("idx_int"),
      full<Up<std::uint32_t>>("up"),
      full<Up<float>>("up_float"),
      full<Down<std::uint32_t>>("down"),
      full<Down<float>>("down_float"),
      full<Ballot>("ballot"),
      full<Any>("any"),
      full<All>("all"),
      halves<Bfly<float>>("bfly_halves"),
      halves<Idx<float>>("idx_halves"),
      halves<Up<float>>("up_halves"),
      halves<Down<float>>("down_halves"),
      halves<Ballot>("ballot_halves"),
      halves<Any>("any_halves"),
      halves<All>("all_halves"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
