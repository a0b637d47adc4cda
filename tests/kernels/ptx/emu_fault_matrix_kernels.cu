// Mistakes with cp.async, ldmatrix and mma.sync. As in emu_fault_kernels.cu kernel<true> has the
// mistake, kernel<false> does not.
#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_fault_cases.h"

namespace libkernels::inline LK_BACKEND::test_faults {

using Params = test::FaultParams;
constexpr int kThreads = test::kFaultThreads;

namespace {

struct MatrixSmem {
  float4 row[2][kThreads];  // 16 bytes a thread
};

__device__ MatrixSmem& smem_of_cta() { return ptx::dynamic_smem<MatrixSmem>(); }
__device__ const float* my_input(const Params& p) { return p.input + threadIdx.x / 4 * 4; }

__device__ void copy(float4* dst, const float* src) {
  ptx::cp_async_cg_shared_global(dst, src);
  ptx::cp_async_commit_group();
}

}  // namespace

// ---- cp.async: waiting ------------------------------------------------------------------------

template <bool kBroken>
__global__ void copy_not_waited(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  if (!kBroken) ptx::cp_async_wait_group<0>();
  p.data[threadIdx.x] = row[threadIdx.x].y;
}
template <bool kBroken>
__global__ void copy_not_committed(Params p) {
  auto& row = smem_of_cta().row[0];
  ptx::cp_async_cg_shared_global(&row[threadIdx.x], my_input(p));
  if (!kBroken) ptx::cp_async_commit_group();
  ptx::cp_async_wait_group<0>();
  p.data[threadIdx.x] = row[threadIdx.x].y;
}
template <bool kBroken>
__global__ void wait_group_of_too_many(Params p) {
  auto& row = smem_of_cta().row;
  copy(&row[0][threadIdx.x], my_input(p));
  copy(&row[1][threadIdx.x], my_input(p));
  ptx::cp_async_wait_group<1>();
  p.data[threadIdx.x] = row[kBroken ? 1 : 0][threadIdx.x].y;
}
template <bool kBroken>
__global__ void copy_without_barrier(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  ptx::cp_async_wait_all();
  if (!kBroken) __syncthreads();
  if (threadIdx.x > 0) p.data[threadIdx.x] = row[threadIdx.x - 1].y;
}
template <bool kBroken>
__global__ void barrier_before_wait(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  if (kBroken) __syncthreads();
  ptx::cp_async_wait_all();
  if (!kBroken) __syncthreads();
  p.data[threadIdx.x] = row[(threadIdx.x + 64) % kThreads].y;
}
template <bool kBroken>
__global__ void copy_over_copy(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  if (!kBroken) ptx::cp_async_wait_all();
  copy(&row[threadIdx.x], my_input(p));
}
template <bool kBroken>
__global__ void store_over_copy(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  if (!kBroken) ptx::cp_async_wait_all();
  row[threadIdx.x].w = 0;
}
// The next stage arrives while others still read the last one.
template <bool kBroken>
__global__ void copy_over_readers(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  ptx::cp_async_wait_all();
  __syncthreads();
  p.data[threadIdx.x] = row[(threadIdx.x + 1) % kThreads].y;
  if (!kBroken) __syncthreads();
  copy(&row[threadIdx.x], my_input(p));
}
template <bool kBroken>
__global__ void source_written_in_flight(Params p) {
  auto& row = smem_of_cta().row[0];
  auto* mine = reinterpret_cast<std::uint32_t*>(p.data + threadIdx.x);
  ptx::st_global(mine, 1u);
  ptx::cp_async_ca_shared_global<4>(&row[threadIdx.x], mine);
  if (!kBroken) ptx::cp_async_wait_all();
  ptx::st_global(mine, 2u);
  ptx::cp_async_wait_all();
}

// ---- cp.async: operands -----------------------------------------------------------------------

template <bool kBroken>
__global__ void copy_from_misaligned(Params p) {
  copy(&smem_of_cta().row[0][threadIdx.x], p.input + (kBroken ? 2 : 4));
}
template <bool kBroken>
__global__ void copy_to_misaligned(Params p) {
  auto& row = smem_of_cta().row[0];
  ptx::cp_async_ca_shared_global<8>(kBroken ? &row[threadIdx.x].y : &row[threadIdx.x].z, p.input);
}
template <bool kBroken>
__global__ void src_size_too_large(Params p) {
  ptx::cp_async_cg_shared_global(&smem_of_cta().row[0][threadIdx.x], p.input, kBroken ? 17 : 16);
}
// With nothing to read any address will do.
template <bool kBroken>
__global__ void copy_source_past_end(Params p) {
  const unsigned bytes = threadIdx.x < kThreads / 4 ? 16 : kBroken ? 1 : 0;
  ptx::cp_async_cg_shared_global(&smem_of_cta().row[0][threadIdx.x], p.input + 4 * threadIdx.x,
                                 bytes);
}
template <bool kBroken>
__global__ void copy_past_shared(Params p) {
  copy(smem_of_cta().row[1] + threadIdx.x + (kBroken ? 1 : 0), p.input);
}
template <bool kBroken>
__global__ void copy_to_global(Params p) {
  void* to = &smem_of_cta().row[0][threadIdx.x];
  if (kBroken) to = p.data;
  ptx::cp_async_cg_shared_global(to, p.input);
}
template <bool kBroken>
__global__ void copy_from_shared(Params p) {
  auto& smem = smem_of_cta();
  smem.row[1][threadIdx.x] = {};
  copy(&smem.row[0][threadIdx.x], kBroken ? &smem.row[1][threadIdx.x].x : p.input);
}

// ---- ldmatrix ---------------------------------------------------------------------------------

template <bool kBroken>
__global__ void row_misaligned(Params p) {
  auto& row = smem_of_cta().row;
  row[0][threadIdx.x] = row[1][threadIdx.x] = {};
  __syncwarp();
  const auto* at = reinterpret_cast<const float*>(&row[0][threadIdx.x]);
  std::uint32_t d[2];
  ptx::ldmatrix<2>(d, threadIdx.x == 13 && kBroken ? at + 1 : at);
  p.data[threadIdx.x] = float(d[1]);
}
template <bool kBroken>
__global__ void row_of_global(Params p) {
  auto& row = smem_of_cta().row[0];
  row[threadIdx.x] = {};
  __syncwarp();
  const void* at = &row[threadIdx.x];
  if (kBroken) at = p.input;
  std::uint32_t d[1];
  ptx::ldmatrix<1>(d, at);
  p.data[threadIdx.x] = float(d[0]);
}
template <bool kBroken>
__global__ void row_without_barrier(Params p) {
  auto& row = smem_of_cta().row[0];
  row[threadIdx.x] = {};
  __syncthreads();
  row[threadIdx.x] = {};
  if (!kBroken) __syncthreads();
  std::uint32_t d[4];
  ptx::ldmatrix<4, true>(d, &row[(threadIdx.x + kThreads - 32) % kThreads]);
  p.data[threadIdx.x] = float(d[3]);
}
template <bool kBroken>
__global__ void row_uninitialised(Params p) {
  auto& row = smem_of_cta().row[0];
  if (!kBroken || threadIdx.x != 70) row[threadIdx.x] = {};
  __syncwarp();
  std::uint32_t d[4];
  ptx::ldmatrix<4>(d, &row[threadIdx.x]);
  p.data[threadIdx.x] = float(d[3]);
}
template <bool kBroken>
__global__ void row_in_flight(Params p) {
  auto& row = smem_of_cta().row[0];
  copy(&row[threadIdx.x], my_input(p));
  if (!kBroken) ptx::cp_async_wait_group<0>();
  std::uint32_t d[4];
  ptx::ldmatrix<4>(d, &row[threadIdx.x]);
  p.data[threadIdx.x] = float(d[3]);
}
template <bool kBroken>
__global__ void lane_misses_ldmatrix(Params p) {
  auto& row = smem_of_cta().row[0];
  row[threadIdx.x] = {};
  if (kBroken && threadIdx.x == 41) return;
  std::uint32_t d[4];
  ptx::ldmatrix<4>(d, &row[threadIdx.x]);
  p.data[threadIdx.x] = float(d[3]);
}

// ---- mma.sync ---------------------------------------------------------------------------------

namespace {

template <ptx::MmaType kType>
__device__ float multiply(const Params& p) {
  const std::uint32_t a[4] = {}, b[2] = {};
  const float c[4] = {p.input[threadIdx.x], 0, 0, 0};
  float d[4];
  ptx::mma_sync<16, 8, kType == ptx::MmaType::tf32 ? 8 : 16, kType>(d, a, b, c);
  return d[0];
}

}  // namespace

template <bool kBroken>
__global__ void lane_misses_mma(Params p) {
  if (kBroken && threadIdx.x % 32 == 31) return;
  p.data[threadIdx.x] = multiply<ptx::MmaType::bf16>(p);
}
// A mask of the warp's uniform condition is what the author meant.
template <bool kBroken>
__global__ void half_warps_multiply(Params p) {
  if (threadIdx.x % (kBroken ? 32 : 64) < (kBroken ? 16 : 32)) {
    p.data[threadIdx.x] = multiply<ptx::MmaType::bf16>(p);
  } else {
    p.data[threadIdx.x] = multiply<ptx::MmaType::tf32>(p);
  }
}
template <bool kBroken>
__global__ void mma_against_shfl(Params p) {
  if (kBroken && threadIdx.x % 32 >= 30) {
    p.data[threadIdx.x] = ptx::shfl_sync_idx(p.input[threadIdx.x], 0);
  } else {
    p.data[threadIdx.x] = multiply<ptx::MmaType::f16>(p);
  }
}

// ---- The list ---------------------------------------------------------------------------------

namespace {

template <unsigned kCtas>
cudaError_t run(void (*kernel)(Params), const Params& p) {
  return ptx::launch(kernel,
                     {.grid = dim3(kCtas), .block = dim3(kThreads), .smem = sizeof(MatrixSmem)},
                     nullptr, p);
}

const test::FaultCase kCases[] = {
    LK_FAULT_CASE(1, copy_not_waited),
    LK_FAULT_CASE(1, copy_not_committed),
    LK_FAULT_CASE(1, wait_group_of_too_many),
    LK_FAULT_CASE(1, copy_without_barrier),
    LK_FAULT_CASE(1, barrier_before_wait),
    LK_FAULT_CASE(1, copy_over_copy),
    LK_FAULT_CASE(1, store_over_copy),
    LK_FAULT_CASE(1, copy_over_readers),
    LK_FAULT_CASE(1, source_written_in_flight),
    LK_FAULT_CASE(1, copy_from_misaligned),
    LK_FAULT_CASE(1, copy_to_misaligned),
    LK_FAULT_CASE(1, src_size_too_large),
    LK_FAULT_CASE(1, copy_source_past_end),
    LK_FAULT_CASE(1, copy_past_shared),
    LK_FAULT_CASE(1, copy_to_global),
    LK_FAULT_CASE(1, copy_from_shared),
    LK_FAULT_CASE(1, row_misaligned),
    LK_FAULT_CASE(1, row_of_global),
    LK_FAULT_CASE(1, row_without_barrier),
    LK_FAULT_CASE(1, row_uninitialised),
    LK_FAULT_CASE(1, row_in_flight),
    LK_FAULT_CASE(1, lane_misses_ldmatrix),
    LK_FAULT_CASE(1, lane_misses_mma),
    LK_FAULT_CASE(1, half_warps_multiply),
    LK_FAULT_CASE(1, mma_against_shfl),
};

}  // namespace

std::span<const test::FaultCase> matrix_cases() { return kCases; }

}  // namespace libkernels::inline LK_BACKEND::test_faults
