// One kernel around each width of each load and store of kernels/ptx/ld_st.cuh that sm_80 has.
//
// Word 0 of thread t, at in[t], is an index; the elements follow at in + threads. Thread t loads
// the element it names and stores it as element 2 (threads - 1 - t) + 1 of the output, so that
// every second element stays unwritten. The shared kernels send it through shared memory.
#include <span>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/support/ptx_case.h"

namespace libkernels::inline LK_BACKEND {
namespace {

using test::PtxCase;
using test::PtxParams;

constexpr unsigned kThreads = 128;

template <class T>
struct Plain {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const { return ptx::ld_global(p); }
};
template <class T>
struct NonCoherent {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const { return ptx::ld_global_nc(p); }
};
template <class T>
struct NoAllocate {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const { return ptx::ld_global_nc_L1_no_allocate(p); }
};

template <class T>
struct Acquire {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const { return ptx::ld_acquire_gpu_global(p); }
};

template <class T>
struct Relaxed {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const { return ptx::ld_relaxed_gpu_global(p); }
};
template <class T>
struct Hinted {
  using Element = T;
  LK_DEVICE T operator()(const T* p) const {
    return ptx::ld_global_L2_cache_hint(p, ptx::createpolicy_fractional_L2_evict_last());
  }
};

template <class T>
struct PlainStore {
  LK_DEVICE void operator()(T* p, T v) const { ptx::st_global(p, v); }
};
template <class T>
struct ReleaseStore {
  LK_DEVICE void operator()(T* p, T v) const { ptx::st_release_gpu_global(p, v); }
};

template <class T>
struct RelaxedStore {
  LK_DEVICE void operator()(T* p, T v) const { ptx::st_relaxed_gpu_global(p, v); }
};
template <class T>
struct HintedStore {
  LK_DEVICE void operator()(T* p, T v) const {
    ptx::st_global_L2_cache_hint(p, v, ptx::createpolicy_fractional_L2_evict_first());
  }
};

template <class Load, class Store>
__global__ void global_kernel(PtxParams p) {
  using T = typename Load::Element;
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const T* elements = reinterpret_cast<const T*>(p.in + p.threads);
  T* out = reinterpret_cast<T*>(p.out);
  Store()(out + 2 * (p.threads - 1 - t) + 1, Load()(elements + p.in[t]));
}

template <class T>
struct Stage {
  T elements[kThreads];
};

// Each thread reads what another one wrote, the low bits of its index saying which.
template <class T>
__global__ void shared_kernel(PtxParams p) {
  Stage<T>& smem = ptx::dynamic_smem<Stage<T>>();
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  const T* elements = reinterpret_cast<const T*>(p.in + p.threads);
  T* out = reinterpret_cast<T*>(p.out);
  ptx::st_shared(&smem.elements[threadIdx.x], ptx::ld_global(elements + t));
  __syncthreads();
  const T got = ptx::ld_shared(&smem.elements[p.in[t] % kThreads]);
  ptx::st_global(out + 2 * (p.threads - 1 - t) + 1, got);
}

template <class Load, class Store>
cudaError_t launch_global(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(&global_kernel<Load, Store>,
                     {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads)}, stream,
                     params);
}
template <class T>
cudaError_t launch_shared(const PtxParams& params, cudaStream_t stream) {
  return ptx::launch(
      &shared_kernel<T>,
      {.grid = dim3(params.threads / kThreads), .block = dim3(kThreads), .smem = sizeof(Stage<T>)},
      stream, params);
}

// Words of a thread: its index and one element, or two elements; rounded up to whole words.
template <class T>
constexpr int kInputs = 1 + (int(sizeof(T)) + 3) / 4;
template <class T>
constexpr int kOutputs = (2 * int(sizeof(T)) + 3) / 4;

template <class Load, class Store = PlainStore<typename Load::Element>>
constexpr PtxCase global_case(const char* name) {
  using T = typename Load::Element;
  return {name, kInputs<T>, kOutputs<T>, kThreads, &launch_global<Load, Store>};
}
template <class T>
constexpr PtxCase shared_case(const char* name) {
  return {name, kInputs<T>, kOutputs<T>, kThreads, &launch_shared<T>};
}

}  // namespace

std::span<const PtxCase> ld_st_cases() {
  static const PtxCase cases[] = {
      global_case<Plain<std::uint8_t>>("global_b8"),
      global_case<Plain<std::uint16_t>>("global_b16"),
      global_case<Plain<std::uint32_t>>("global_b32"),
      global_case<Plain<uint2>>("global_v2_b32"),
      global_case<Plain<uint4>>("global_v4_b32"),
      global_case<NonCoherent<std::uint8_t>>("global_nc_b8"),
      global_case<NonCoherent<std::uint16_t>>("global_nc_b16"),
      global_case<NonCoherent<std::uint32_t>>("global_nc_b32"),
      global_case<NonCoherent<uint2>>("global_nc_v2_b32"),
      global_case<NonCoherent<uint4>>("global_nc_v4_b32"),
      global_case<NoAllocate<std::uint8_t>>("global_nc_L1_no_allocate_b8"),
      global_case<NoAllocate<std::uint16_t>>("global_nc_L1_no_allocate_b16"),
      global_case<NoAllocate<std::uint32_t>>("global_nc_L1_no_allocate_b32"),
      global_case<NoAllocate<uint2>>("global_nc_L1_no_allocate_v2_b32"),
      global_case<NoAllocate<uint4>>("global_nc_L1_no_allocate_v4_b32"),
      global_case<Acquire<std::uint32_t>>("global_acquire_b32"),
      global_case<Acquire<std::uint64_t>, ReleaseStore<std::uint64_t>>(
          "global_acquire_release_b64"),
      global_case<Plain<std::uint32_t>, ReleaseStore<std::uint32_t>>("global_release_b32"),
      global_case<Relaxed<std::uint64_t>, RelaxedStore<std::uint64_t>>("global_relaxed_b64"),
      global_case<Hinted<uint2>, HintedStore<uint2>>("global_L2_cache_hint_v2_b32"),
      global_case<Hinted<uint4>, HintedStore<uint4>>("global_L2_cache_hint_v4_b32"),
      shared_case<std::uint8_t>("shared_b8"),
      shared_case<std::uint16_t>("shared_b16"),
      shared_case<std::uint32_t>("shared_b32"),
      shared_case<uint2>("shared_v2_b32"),
      shared_case<uint4>("shared_v4_b32"),
  };
  return cases;
}

}  // namespace libkernels::inline LK_BACKEND
