// mbarriers, bulk and tensor copies, proxies. Each kernel is a template over the mistake:
// kernel<true> has it, kernel<false> does not.
#include "tests/kernels/ptx/emu_fault_hopper_kernels.cuh"

namespace libkernels::inline LK_BACKEND::test_hopper {
namespace {

// ---- Waiting ----------------------------------------------------------------------------------

template <bool kBroken>
__global__ void missing_wait(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  __syncthreads();
  if (!kBroken) wait(&s.full, 0);
  if (threadIdx.x >= 32) copy_out(s, p);
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void wrong_parity(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  __syncthreads();
  wait(&s.full, kBroken ? 1 : 0);
  copy_out(s, p);
}
// One warp waits, the others do not, and nothing orders it before them.
template <bool kBroken>
__global__ void wait_of_one_warp(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  __syncthreads();
  if (threadIdx.x < 32) wait(&s.full, 0);
  if (!kBroken) __syncthreads();
  copy_out(s, p);
}
template <bool kBroken>
__global__ void expects_too_much(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes + (kBroken ? 16 : 0));
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void expects_too_little(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes - (kBroken ? 16 : 0));
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void expects_nothing(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    if (!kBroken) ptx::mbarrier_expect_tx(&s.full, kBytes);
    ptx::mbarrier_arrive(&s.full);
    ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
  }
  wait(&s.full, 0);
  copy_out(s, p);
}
template <bool kBroken>
__global__ void exits_before_copy_lands(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x != 0) return;
  load_tile(s, p);
  if (!kBroken) wait(&s.full, 0);
}

// ---- Buffers ----------------------------------------------------------------------------------

// Two rounds through one buffer: the second load comes when all warps have read the first.
template <bool kBroken>
__global__ void buffer_reused_early(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  for (std::uint32_t round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      if (!kBroken) wait(&s.empty, round ^ 1);
      load_tile(s, p);
    }
    wait(&s.full, round & 1);
    std::uint32_t sum = 0;
    for (unsigned i = threadIdx.x; i < unsigned(kWords); i += kThreads) sum += s.tile[i];
    p.data[threadIdx.x] = sum;
    __syncwarp();
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(&s.empty);
  }
}
template <bool kBroken>
__global__ void two_copies_into_one_buffer(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, 2 * kBytes);
    ptx::cp_async_bulk_shared_global(s.tile, p.input, kBytes, &s.full);
    ptx::cp_async_bulk_shared_global(kBroken ? s.tile : s.spare, p.input, kBytes, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void source_overwritten(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_tile(s, p);
    if (!kBroken) ptx::cp_async_bulk_wait_group_read<0>();
  }
  __syncthreads();
  fill_tile(s, 2);
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group<0>();
}
// Bulk groups belong to the thread that committed them.
template <bool kBroken>
__global__ void wait_by_another_thread(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) store_tile(s, p);
  if (threadIdx.x == (kBroken ? 32 : 0)) ptx::cp_async_bulk_wait_group_read<0>();
  __syncthreads();
  fill_tile(s, 2);
  if (threadIdx.x == 0) ptx::cp_async_bulk_wait_group<0>();
}
// One group may still be read when the other has been.
template <bool kBroken>
__global__ void waits_for_too_few_groups(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_global_shared(p.data, s.tile, kBytes / 2);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_global_shared(p.data + kWords / 2, s.tile + kWords / 2, kBytes / 2);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<1>();
  s.tile[kBroken ? kWords / 2 : 0] = 0;
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void reads_back_too_early(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_tile(s, p);
  if (kBroken) {
    ptx::cp_async_bulk_wait_group_read<0>();
  } else {
    ptx::cp_async_bulk_wait_group<0>();
  }
  s.tile[0] = p.data[5];
}
template <bool kBroken>
__global__ void unread_store_at_exit(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_tile(s, p);
  if (!kBroken) ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void uncommitted_store_at_exit(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_tensor_2d_global_shared(&p.map_wrong, 0, 0, s.tile);
  if (!kBroken) ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void uninitialised_source(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::cp_async_bulk_global_shared(p.data, s.tile + (kBroken ? 4 : 0), kBytes);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<0>();
}

// ---- Proxies ----------------------------------------------------------------------------------

template <bool kBroken>
__global__ void missing_fence_before_store(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  if (!kBroken) ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_tile(s, p);
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void fence_of_issuer_alone(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  if (!kBroken) ptx::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  ptx::fence_proxy_async_shared_cta();
  store_tile(s, p);
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void write_after_fence(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (!kBroken) s.tile[threadIdx.x] = 9;
  fill_tile(s, 1);
  ptx::fence_proxy_async_shared_cta();
  if (kBroken) s.tile[threadIdx.x] = 9;
  __syncthreads();
  if (threadIdx.x != 0) return;
  store_tile(s, p);
  ptx::cp_async_bulk_wait_group_read<0>();
}
template <bool kBroken>
__global__ void missing_fence_before_load(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  if (!kBroken) ptx::fence_proxy_async_shared_cta();
  init_barriers(s);
  if (threadIdx.x == 0) load_tile(s, p);
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void missing_global_fence(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  for (unsigned i = threadIdx.x; i < unsigned(kWords); i += kThreads) p.data[i] = i;
  if (!kBroken) ptx::fence_proxy_async_global();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    ptx::cp_async_bulk_shared_global(s.tile, p.data, kBytes, &s.full);
  }
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void missing_barrier_before_store(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  fill_tile(s, 1);
  ptx::fence_proxy_async();
  if (!kBroken) __syncthreads();
  if (threadIdx.x == kThreads - 1) {
    store_tile(s, p);
    ptx::cp_async_bulk_wait_group_read<0>();
  }
}

// ---- mbarriers --------------------------------------------------------------------------------

template <bool kBroken>
__global__ void missing_init_fence(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&s.full, 1);
    if (!kBroken) ptx::fence_mbarrier_init_release_cluster();
  }
  __syncthreads();
  if (threadIdx.x == 0) load_tile(s, p);
  wait(&s.full, 0);
}
template <bool kBroken>
__global__ void missing_barrier_after_init(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&s.full, kThreads - 32);
  if (!kBroken) __syncthreads();
  if (threadIdx.x >= 32) ptx::mbarrier_arrive(&s.full);
  if (kBroken) __syncthreads();
}
template <bool kBroken>
__global__ void over_arrival(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&s.full, 7);
  __syncthreads();
  if (threadIdx.x == 0) ptx::mbarrier_arrive(&s.full, 4);
  if (threadIdx.x == 0) ptx::mbarrier_arrive(&s.full, kBroken ? 4 : 3);
}
template <bool kBroken>
__global__ void init_twice(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&s.full, 1);
  if (!kBroken) ptx::mbarrier_inval(&s.full);
  ptx::mbarrier_init(&s.full, 2);
}
template <bool kBroken>
__global__ void use_before_init(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x == 0) ptx::mbarrier_init(&s.full, 1);
  __syncthreads();
  if (threadIdx.x == 77) ptx::mbarrier_arrive(kBroken ? &s.empty : &s.full);
}
template <bool kBroken>
__global__ void use_after_inval(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  if (threadIdx.x != 0) return;
  ptx::mbarrier_init(&s.full, 1);
  if (kBroken) ptx::mbarrier_inval(&s.full);
  ptx::mbarrier_arrive(&s.full);
}
template <bool kBroken>
__global__ void plain_write_to_mbarrier(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x != 3) return;
  if (!kBroken) ptx::mbarrier_inval(&s.full);
  s.full.opaque = 0;
}
template <bool kBroken>
__global__ void consumers_missing(const __grid_constant__ Params) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  const bool late = threadIdx.x >= 96;
  if (threadIdx.x % 32 == 0 && !(kBroken && late)) ptx::mbarrier_arrive(&s.empty);
  if (threadIdx.x < 32) wait(&s.empty, 0);
}
// Polls instead of blocking.
template <bool kBroken>
__global__ void polls_forever(const __grid_constant__ Params p) {
  auto& s = ptx::dynamic_smem<Smem>();
  init_barriers(s);
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(&s.full, kBytes);
    if (!kBroken) ptx::cp_async_bulk_tensor_2d_shared_global(s.tile, &p.map, 0, 0, &s.full);
  }
  if (threadIdx.x >= 32) return;
  while (!ptx::mbarrier_test_wait_parity(&s.full, 0)) {
  }
}

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
    LK_HOPPER_CASE(missing_wait, 1, 1),
    LK_HOPPER_CASE(wrong_parity, 1, 1),
    LK_HOPPER_CASE(wait_of_one_warp, 1, 1),
    LK_HOPPER_CASE(expects_too_much, 1, 1),
    LK_HOPPER_CASE(expects_too_little, 1, 1),
    LK_HOPPER_CASE(expects_nothing, 1, 1),
    LK_HOPPER_CASE(exits_before_copy_lands, 1, 1),
    LK_HOPPER_CASE(buffer_reused_early, 1, 1),
    LK_HOPPER_CASE(two_copies_into_one_buffer, 1, 1),
    LK_HOPPER_CASE(source_overwritten, 1, 1),
    LK_HOPPER_CASE(wait_by_another_thread, 1, 1),
    LK_HOPPER_CASE(waits_for_too_few_groups, 1, 1),
    LK_HOPPER_CASE(reads_back_too_early, 1, 1),
    LK_HOPPER_CASE(unread_store_at_exit, 1, 1),
    LK_HOPPER_CASE(uncommitted_store_at_exit, 1, 1),
    LK_HOPPER_CASE(uninitialised_source, 1, 1),
    LK_HOPPER_CASE(missing_fence_before_store, 1, 1),
    LK_HOPPER_CASE(fence_of_issuer_alone, 1, 1),
    LK_HOPPER_CASE(write_after_fence, 1, 1),
    LK_HOPPER_CASE(missing_fence_before_load, 1, 1),
    LK_HOPPER_CASE(missing_global_fence, 1, 1),
    LK_HOPPER_CASE(missing_barrier_before_store, 1, 1),
    LK_HOPPER_CASE(missing_init_fence, 1, 1),
    LK_HOPPER_CASE(missing_barrier_after_init, 1, 1),
    LK_HOPPER_CASE(over_arrival, 1, 1),
    LK_HOPPER_CASE(init_twice, 1, 1),
    LK_HOPPER_CASE(use_before_init, 1, 1),
    LK_HOPPER_CASE(use_after_inval, 1, 1),
    LK_HOPPER_CASE(plain_write_to_mbarrier, 1, 1),
    LK_HOPPER_CASE(consumers_missing, 1, 1),
    LK_HOPPER_CASE(polls_forever, 1, 1),
    LK_HOPPER_CASE(misaligned_coordinate, 1, 1),
    LK_HOPPER_CASE(misaligned_tile, 1, 1),
    LK_HOPPER_CASE(misaligned_source, 1, 1),
    LK_HOPPER_CASE(ragged_size, 1, 1),
    LK_HOPPER_CASE(source_past_end, 1, 1),
    LK_HOPPER_CASE(tensor_past_end, 1, 1),
    LK_HOPPER_CASE(wrong_rank, 1, 1),
    LK_HOPPER_CASE(access_before_grid_wait, 1, 1, true),
    LK_HOPPER_CASE(copy_before_grid_wait, 1, 1, true),
};

}  // namespace

std::span<const Case> cases() { return kCases; }
bool hooked() { return LK_EMU_HOOKED != 0; }

}  // namespace libkernels::inline LK_BACKEND::test_hopper
