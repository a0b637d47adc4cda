// Broken kernels around wgmma and setmaxnreg: kernel<true> has the mistake, kernel<false> does not.
#include "kernels/common/pipeline.cuh"
#include "tests/kernels/ptx/emu_fault_hopper_kernels.cuh"

namespace libkernels::inline LK_BACKEND::test_hopper {
namespace {

using ptx::MmaType;
using ptx::Swizzle;

// The tile is B: 32 rows of 128 bytes, four steps of K.
constexpr int kN = test::kHopperRows, kM = 64, kK = 16, kStep = 32;

LK_DEVICE ptx::MatrixDescriptor tile_of(Smem& s) {
  return ptx::matrix_descriptor_at(s.tile, ptx::k_major_tile(Swizzle::b128));
}
LK_DEVICE void fill_operand(Smem& s) {
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
}
LK_DEVICE void multiply(float (&d)[kN / 2], const std::uint32_t (&a)[4], ptx::MatrixDescriptor b,
                        bool scale_d = false) {
  ptx::wgmma_mma_async<kM, kN, kK, MmaType::bf16>(d, a, b, scale_d);
}
LK_DEVICE void store(const Params& p, const float (&d)[kN / 2]) {
  auto* out = reinterpret_cast<float*>(p.data) + threadIdx.x * (kWords / kThreads);
  for (int v = 0; v < kWords / kThreads; ++v) out[v] = d[v];
}
LK_DEVICE void finish(const Params& p, float (&d)[kN / 2]) {
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(d);
  store(p, d);
}

// ---- Order ------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void missing_first_fence(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  if (!kBroken) ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
template <bool kBroken>
__global__ void missing_fence_after_write(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2] = {};
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  for (float& x : d) x = float(threadIdx.x);
  if (!kBroken) ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s), true);
  finish(p, d);
}
template <bool kBroken>
__global__ void accumulator_read_before_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  if (!kBroken) ptx::wgmma_wait_group<0>(d);
  store(p, d);
  ptx::wgmma_wait_group<0>(d);
}
template <bool kBroken>
__global__ void accumulator_written_before_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  if (!kBroken) ptx::wgmma_wait_group<0>(d);
  d[5] = 0;
  ptx::wgmma_wait_group<0>(d);
  store(p, d);
}
template <bool kBroken>
__global__ void a_written_before_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d, a);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  if (!kBroken) ptx::wgmma_wait_group<0>(d, a);
  a[2] = threadIdx.x;
  ptx::wgmma_fence(d, a);
  multiply(d, a, tile_of(s), true);
  finish(p, d);
}
template <bool kBroken>
__global__ void missing_commit(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  if (!kBroken) ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(d);
  store(p, d);
}
template <bool kBroken>
__global__ void waits_for_the_older_group(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2], e[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d, e);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  multiply(e, a, tile_of(s).advanced(kStep));
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<1>(d);
  kBroken ? store(p, e) : store(p, d);
  ptx::wgmma_wait_group<0>(e);
}
template <bool kBroken>
__global__ void missing_wait_at_exit(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  if (!kBroken) ptx::wgmma_wait_group<0>(d);
}
template <bool kBroken>
__global__ void other_shape_in_flight(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  union {
    float whole[kN / 2];
    float half[kN / 4];
  } d;
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d.whole);
  multiply(d.whole, a, tile_of(s));
  if (!kBroken) {
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(d.whole);
    ptx::wgmma_fence(d.whole);
  }
  ptx::wgmma_mma_async<kM, kN / 2, kK, MmaType::bf16>(d.half, a, tile_of(s), true);
  finish(p, d.whole);
}

// ---- The warpgroup ----------------------------------------------------------------------------

template <bool kBroken>
__global__ void non_uniform_descriptor(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s).advanced(kBroken && threadIdx.x >= 96 ? kStep : 0));
  finish(p, d);
}
template <bool kBroken>
__global__ void missing_warp(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  if (kBroken && threadIdx.x >= 96) return;
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
template <bool kBroken>
__global__ void warp_at_a_barrier(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  if (kBroken && threadIdx.x >= 96) __syncthreads();
  multiply(d, a, tile_of(s));
  finish(p, d);
  if (!kBroken || threadIdx.x < 96) __syncthreads();
}
template <bool kBroken>
__global__ void divergent_multiply(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  if (kBroken && threadIdx.x >= 64) {
    ptx::wgmma_mma_async<kM, kN, kK, MmaType::f16>(d, a, tile_of(s), false);
  } else {
    multiply(d, a, tile_of(s));
  }
  finish(p, d);
}
template <bool kBroken>
__global__ void registers_differ(const __grid_constant__ Params) {
  if (kBroken && threadIdx.x >= 96) {
    ptx::setmaxnreg_dec<48>();
  } else {
    ptx::setmaxnreg_dec<40>();
  }
}
template <bool kBroken>
__global__ void registers_beyond_the_launch(const __grid_constant__ Params) {
  ptx::setmaxnreg_dec<240>();
  ptx::setmaxnreg_inc<kBroken ? 256 : 248>();
}
template <bool kBroken>
__global__ void registers_increase_downwards(const __grid_constant__ Params) {
  ptx::setmaxnreg_dec<128>();
  ptx::setmaxnreg_inc<kBroken ? 120 : 136>();
}

// ---- Operands in shared memory ----------------------------------------------------------------

template <bool kBroken>
__global__ void missing_proxy_fence(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_tile(s, 1);
  if (!kBroken) ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
// Each writer fences for itself.
template <bool kBroken>
__global__ void proxy_fence_of_one_thread(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_tile(s, 1);
  if (!kBroken || threadIdx.x == 0) ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
template <bool kBroken>
__global__ void missing_barrier_after_fill(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  if (!kBroken) __syncthreads();
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
template <bool kBroken>
__global__ void unwritten_operand(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  if (!kBroken) fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
}
template <bool kBroken>
__global__ void copy_not_waited_for(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  if (!kBroken) wait(&s.full, 0);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  finish(p, d);
  if (kBroken) wait(&s.full, 0);
}
template <bool kBroken>
__global__ void operand_overwritten_in_flight(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  if (!kBroken) ptx::wgmma_wait_group<0>(d);
  __syncthreads();
  fill_tile(s, 2);
  ptx::wgmma_wait_group<0>(d);
  store(p, d);
}
// One warp's wait says nothing of the other warps' products.
template <bool kBroken>
__global__ void operand_free_for_one_warp(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s));
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>(d);
  if (!kBroken) __syncthreads();
  if (threadIdx.x < 32) s.tile[threadIdx.x] = 0;
  store(p, d);
}
// Two rounds through a ring of one stage, of which thread 0 is the producer, too.
template <bool kBroken>
__global__ void stage_released_before_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  auto* ring = reinterpret_cast<PipelineBarriers<1>*>(s.spare);
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  if (threadIdx.x == 0) init_pipeline(ring, 1, kThreads / 32);
  __syncthreads();
  PipelinePosition<1> produced, consumed;
  const auto produce = [&] {
    if (threadIdx.x != 0) return;
    producer_acquire(ring, produced);
    producer_commit(ring, produced, kBytes);
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &ring->full[0]);
    produced.advance();
  };
  produce();
  for (int round = 0; round < 2; ++round) {
    consumer_wait(ring, consumed);
    ptx::wgmma_fence(d);
    multiply(d, a, tile_of(s), round > 0);
    ptx::wgmma_commit_group();
    if (!kBroken) ptx::wgmma_wait_group<0>(d);
    if (threadIdx.x % 32 == 0) consumer_release(ring, consumed);
    consumed.advance();
    if (round == 0) produce();
    ptx::wgmma_wait_group<0>(d);
  }
  store(p, d);
}

// ---- Descriptors ------------------------------------------------------------------------------

template <bool kBroken>
__global__ void descriptor_past_end(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s).advanced(kBroken ? 4 * kBytes : 0));
  finish(p, d);
}
template <bool kBroken>
__global__ void tile_amid_the_pattern(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s).advanced(kBroken ? 2 * 128 : kStep));
  finish(p, d);
}
template <bool kBroken>
__global__ void step_leaves_the_row(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  fill_operand(s);
  ptx::wgmma_fence(d);
  multiply(d, a, tile_of(s).advanced(kBroken ? 112 : 96));
  finish(p, d);
}
template <bool kBroken>
__global__ void wrong_swizzle(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  wait(&s.full, 0);
  ptx::DescriptorFields fields = ptx::k_major_tile(kBroken ? Swizzle::b64 : Swizzle::b128);
  ptx::wgmma_fence(d);
  multiply(d, a, ptx::matrix_descriptor_at(s.tile, fields));
  finish(p, d);
}
template <bool kBroken>
__global__ void no_swizzle(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  float d[kN / 2];
  const std::uint32_t a[4] = {1, 2, 3, 4};
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  wait(&s.full, 0);
  ptx::DescriptorFields fields = ptx::k_major_tile(Swizzle::b128);
  if (kBroken) fields = {.leading = 128, .stride = 256};
  ptx::wgmma_fence(d);
  multiply(d, a, ptx::matrix_descriptor_at(s.tile, fields));
  finish(p, d);
}

const Case kCases[] = {
    LK_HOPPER_CASE(missing_first_fence, 1, 1),
    LK_HOPPER_CASE(missing_fence_after_write, 1, 1),
    LK_HOPPER_CASE(accumulator_read_before_wait, 1, 1),
    LK_HOPPER_CASE(accumulator_written_before_wait, 1, 1),
    LK_HOPPER_CASE(a_written_before_wait, 1, 1),
    LK_HOPPER_CASE(missing_commit, 1, 1),
    LK_HOPPER_CASE(waits_for_the_older_group, 1, 1),
    LK_HOPPER_CASE(missing_wait_at_exit, 1, 1),
    LK_HOPPER_CASE(other_shape_in_flight, 1, 1),
    LK_HOPPER_CASE(non_uniform_descriptor, 1, 1),
    LK_HOPPER_CASE(missing_warp, 1, 1),
    LK_HOPPER_CASE(warp_at_a_barrier, 1, 1),
    LK_HOPPER_CASE(divergent_multiply, 1, 1),
    LK_HOPPER_CASE(registers_differ, 1, 1),
    LK_HOPPER_CASE(registers_beyond_the_launch, 1, 1),
    LK_HOPPER_CASE(registers_increase_downwards, 1, 1),
    LK_HOPPER_CASE(missing_proxy_fence, 1, 1),
    LK_HOPPER_CASE(proxy_fence_of_one_thread, 1, 1),
    LK_HOPPER_CASE(missing_barrier_after_fill, 1, 1),
    LK_HOPPER_CASE(unwritten_operand, 1, 1),
    LK_HOPPER_CASE(copy_not_waited_for, 1, 1),
    LK_HOPPER_CASE(operand_overwritten_in_flight, 1, 1),
    LK_HOPPER_CASE(operand_free_for_one_warp, 1, 1),
    LK_HOPPER_CASE(stage_released_before_wait, 1, 1),
    LK_HOPPER_CASE(descriptor_past_end, 1, 1),
    LK_HOPPER_CASE(tile_amid_the_pattern, 1, 1),
    LK_HOPPER_CASE(step_leaves_the_row, 1, 1),
    LK_HOPPER_CASE(wrong_swizzle, 1, 1),
    LK_HOPPER_CASE(no_swizzle, 1, 1),
};

}  // namespace

std::span<const Case> wgmma_cases() { return kCases; }

}  // namespace libkernels::inline LK_BACKEND::test_hopper
