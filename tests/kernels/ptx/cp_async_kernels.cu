// One kernel around each form of kernels/ptx/cp_async.cuh.
//
// The first 4 * threads words are 16 bytes a thread. Each thread copies its own into shared memory
// and gives back those of the next thread of its CTA.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 64;
constexpr int kRowBytes = 16;
constexpr int kInputs = 5;

struct Smem {
  uint4 row[kThreads];
};

template <int kBytes>
struct Ca {
  static constexpr int kSize = kBytes;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t) const {
    ptx::cp_async_ca_shared_global<kBytes>(dst, src);
  }
};
template <int kBytes>
struct CaSrcSize {
  static constexpr int kSize = kBytes;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t src_size) const {
    ptx::cp_async_ca_shared_global<kBytes>(dst, src, src_size);
  }
};
struct Cg {
  static constexpr int kSize = 16;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t) const {
    ptx::cp_async_cg_shared_global(dst, src);
  }
};
struct CgSrcSize {
  static constexpr int kSize = 16;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t src_size) const {
    ptx::cp_async_cg_shared_global(dst, src, src_size);
  }
};
struct CgL2 {
  static constexpr int kSize = 16;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t) const {
    ptx::cp_async_cg_shared_global_L2_128B(dst, src);
  }
};
struct CgL2SrcSize {
  static constexpr int kSize = 16;
  LK_DEVICE void operator()(void* dst, const void* src, std::uint32_t src_size) const {
    ptx::cp_async_cg_shared_global_L2_128B(dst, src, src_size);
  }
};

// Copy i of a row reads byte i of the thread's fifth word, modulo the copy's bytes and one.
template <class F>
__global__ void copy_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  auto& smem = ptx::dynamic_smem<Smem>();
  auto* to = reinterpret_cast<unsigned char*>(&smem.row[threadIdx.x]);
  const auto* from = reinterpret_cast<const unsigned char*>(p.in) + std::size_t(kRowBytes) * t;
  const std::uint32_t sizes = ptx::ld_global(&p.in[4 * p.threads + t]);
  for (int i = 0; i < kRowBytes / F::kSize; ++i) {
    F()(to + i * F::kSize, from + i * F::kSize, (sizes >> (8 * i) & 0xff) % (F::kSize + 1));
  }
  ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  __syncthreads();
  const uint4 v = smem.row[(threadIdx.x + 1) % kThreads];
  p.out[t] = v.x;
  p.out[p.threads + t] = v.y;
  p.out[2 * p.threads + t] = v.z;
  p.out[3 * p.threads + t] = v.w;
}

// A ring of stages of one word a thread, kAhead of them in flight, as matmul has it.
struct Ring {
  static constexpr int kStages = 3, kAhead = kStages - 1, kSteps = 4;
  std::uint32_t stage[kStages][kThreads];
};

__global__ void ring_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  auto& smem = ptx::dynamic_smem<Ring>();
  const auto load = [&](int step) {
    if (step < Ring::kSteps) {
      ptx::cp_async_ca_shared_global<4>(&smem.stage[step % Ring::kStages][threadIdx.x],
                                        &p.in[4 * t + unsigned(step)]);
    }
    ptx::cp_async_commit_group();
  };
  for (int step = 0; step < Ring::kAhead; ++step) load(step);
  for (int step = 0; step < Ring::kSteps; ++step) {
    ptx::cp_async_wait_group<Ring::kAhead - 1>();
    __syncthreads();
    p.out[unsigned(step) * p.threads + t] =
        smem.stage[step % Ring::kStages][(threadIdx.x + 1) % kThreads];
    load(step + Ring::kAhead);
  }
}

// wait_all, of copies that no group holds yet.
__global__ void wait_all_kernel(PtxParams p) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  auto& smem = ptx::dynamic_smem<Ring>();
  for (int i = 0; i < Ring::kStages; ++i) {
    ptx::cp_async_ca_shared_global<4>(&smem.stage[i][threadIdx.x], &p.in[4 * t + unsigned(i)]);
    if (i == 0) ptx::cp_async_commit_group();
  }
  ptx::cp_async_wait_all();
  __syncthreads();
  for (int i = 0; i < Ring::kStages; ++i) {
    p.out[unsigned(i) * p.threads + t] = smem.stage[i][(threadIdx.x + 1) % kThreads];
  }
}

template <auto kKernel, class S>
cudaError_t launch(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(
      kKernel,
      {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads), .smem = sizeof(S)}, stream,
      params);
}

template <class F>
constexpr PtxCase make_case(const char* name) {
  return {name, kInputs, 4, kThreads, &launch<&copy_kernel<F>, Smem>};
}

}  // namespace

std::span<const PtxCase> cp_async_cases() {
  static const PtxCase cases[] = {
      make_case<Ca<4>>("ca_4"),
      make_case<Ca<8>>("ca_8"),
      make_case<Ca<16>>("ca_16"),
      make_case<Cg>("cg_16"),
      make_case<CgL2>("cg_L2_16"),
      make_case<CaSrcSize<4>>("ca_4_src_size"),
      make_case<CaSrcSize<8>>("ca_8_src_size"),
      make_case<CaSrcSize<16>>("ca_16_src_size"),
      make_case<CgSrcSize>("cg_16_src_size"),
      make_case<CgL2SrcSize>("cg_L2_16_src_size"),
      {"ring", kInputs, Ring::kSteps, kThreads, &launch<&ring_kernel, Ring>},
      {"wait_all", kInputs, Ring::kStages, kThreads, &launch<&wait_all_kernel, Ring>},
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
