// Addresses of copies, and dependent launches. Each kernel is a template over the mistake:
// kernel<true> has it, kernel<false> does not.
#include "tests/kernels/ptx/emu_fault_hopper_kernels.cuh"

namespace libkernels::inline LK_BACKEND::test_hopper {
namespace {

// ---- Addresses --------------------------------------------------------------------------------

template <bool kBroken>
__global__ void misaligned_coordinate(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, kBroken ? 4 : 8, 0, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void misaligned_tile(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile + (kBroken ? 4 : 32), &p.map, 0, 0, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void misaligned_source(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, 64);
    ptx::cp_async_bulk_shared_global(s.tile, p.input + (kBroken ? 1 : 4), 64, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void ragged_size(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBroken ? 56 : 64);
    ptx::cp_async_bulk_shared_global(s.tile, p.input, kBroken ? 56 : 64, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void source_past_end(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, 64);
    ptx::cp_async_bulk_shared_global(s.tile, p.input + kWords - (kBroken ? 12 : 16), 64, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void tensor_past_end(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, kBroken ? &p.map_wrong : &p.map, 0, 8,
                                               &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void store_before_tensor(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_tensor_2d_global_shared(&p.map, 0, kBroken ? -1 : 1, s.tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}
// The tensor's rows end after 120 bytes; a box of 128 would write the last piece of 16 in full.
template <bool kBroken>
__global__ void store_across_ragged_end(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_tensor_2d_global_shared(kBroken ? &p.map_ragged : &p.map, 0, 0, s.tile);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void wrong_rank(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    if (kBroken) {
      ptx::cp_async_bulk_tensor_3d_shared_global(s.tile, &p.map, 0, 0, 0, &s.full);
    } else {
      ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
    }
  }
  wait(&s.full, 0);
}

// ---- Dependent launch -------------------------------------------------------------------------

template <bool kBroken>
__global__ void access_before_grid_wait(const __grid_constant__ Params p) {
  if (!kBroken) ptx::griddepcontrol_wait();
  p.data[threadIdx.x] = 1;
  if (kBroken) ptx::griddepcontrol_wait();
}
template <bool kBroken>
__global__ void copy_before_grid_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  // One warp waits, another one copies.
  if (threadIdx.x == 32) ptx::griddepcontrol_wait();
  if (!kBroken) __syncthreads();
  if (threadIdx.x == 0) load_tile(s, p);
  wait(&s.full, 0);
}

const Case kCases[] = {
    LK_HOPPER_CASE(misaligned_coordinate, 1, 1),
    LK_HOPPER_CASE(misaligned_tile, 1, 1),
    LK_HOPPER_CASE(misaligned_source, 1, 1),
    LK_HOPPER_CASE(ragged_size, 1, 1),
    LK_HOPPER_CASE(source_past_end, 1, 1),
    LK_HOPPER_CASE(tensor_past_end, 1, 1),
    LK_HOPPER_CASE(store_before_tensor, 1, 1),
    LK_HOPPER_CASE(store_across_ragged_end, 1, 1),
    LK_HOPPER_CASE(wrong_rank, 1, 1),
    LK_HOPPER_CASE(access_before_grid_wait, 1, 1, true),
    LK_HOPPER_CASE(copy_before_grid_wait, 1, 1, true),
};

}  // namespace

std::span<const Case> address_cases() { return kCases; }

}  // namespace libkernels::inline LK_BACKEND::test_hopper
