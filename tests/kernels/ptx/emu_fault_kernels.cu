// Each kernel is a template over the mistake: kernel<true> has it, kernel<false> does not.
// input holds a float per thread of the grid, data as many to write.
#include <cstring>

#include "kernels/ptx/launch.cuh"
#include "kernels/ptx/ptx.cuh"
#include "tests/kernels/ptx/emu_fault_cases.h"

namespace libkernels::inline LK_BACKEND::test_faults {

using Params = test::FaultParams;
constexpr int kThreads = test::kFaultThreads;
constexpr int kWarps = kThreads / 32;

struct Smem {
  alignas(16) float row[kThreads];
  float sum[kWarps];
};

// The processor has to notice these mistakes, not a sanitizer that would end the program.
#define LK_UNSANITIZED __attribute__((no_sanitize("undefined")))

__device__ int global_index() { return int(blockIdx.x) * kThreads + int(threadIdx.x); }

// ---- Addresses --------------------------------------------------------------------------------

template <bool kBroken>
__global__ void read_past_end(Params p) {
  p.data[global_index()] = p.input[global_index() + (kBroken ? 1 : 0)];
}
template <bool kBroken>
__global__ void write_before_begin(Params p) {
  p.data[global_index() - (kBroken ? 1 : 0)] = 1;
}
template <bool kBroken>
__global__ void instruction_past_end(Params p) {
  const auto* in = reinterpret_cast<const std::uint32_t*>(p.input);
  auto* out = reinterpret_cast<std::uint32_t*>(p.data);
  ptx::st_global(out + global_index() + (kBroken ? kThreads : 0),
                 ptx::ld_global(in + global_index()));
}
template <bool kBroken>
__global__ void copy_past_end(Params p) {
  struct Block {
    float v[32];
  };
  if (threadIdx.x != 0) return;
  *reinterpret_cast<Block*>(p.data + (kBroken ? kThreads - 31 : 0)) =
      *reinterpret_cast<const Block*>(p.input);
}
template <bool kBroken>
__global__ void memset_past_end(Params p) {
  if (threadIdx.x == 0) memset(p.data, 0, (kThreads + (kBroken ? 1 : 0)) * sizeof(float));
}
template <bool kBroken>
LK_UNSANITIZED __global__ void null_pointer(Params p) {
  float* null = p.data + p.zero;
  if (kBroken) null = reinterpret_cast<float*>(std::intptr_t(p.zero));
  if (threadIdx.x == 40) null[0] = 1;
}
// Not seen by the hooks, but by the processor.
template <bool kBroken>
LK_UNSANITIZED __global__ void unseen_null_pointer(Params p) {
  const char* text = "text";
  if (kBroken) text = reinterpret_cast<const char*>(std::intptr_t(p.zero));
  if (threadIdx.x == 40) p.data[0] = float(strlen(text));
}
template <bool kBroken>
__global__ void write_to_input(Params p) {
  float* target = kBroken ? const_cast<float*>(p.input) : p.data;
  if (threadIdx.x == 3) target[0] = 1;
}
template <bool kBroken>
__global__ void misaligned_instruction(Params p) {
  const auto* in = reinterpret_cast<const uint4*>(p.input + (kBroken ? 2 : 4));
  if (threadIdx.x == 1) ptx::st_global(reinterpret_cast<uint4*>(p.data), ptx::ld_global(in));
}
template <bool kBroken>
__global__ void misaligned_dereference(Params p) {
  const auto* in = reinterpret_cast<const uint4*>(p.input + (kBroken ? 2 : 4));
  if (threadIdx.x == 1) p.data[0] = float(in->y);
}
template <bool kBroken>
__global__ void misaligned_copy(Params p) {
  const auto* in = reinterpret_cast<const uint4*>(p.input + (kBroken ? 2 : 4));
  if (threadIdx.x == 1) *reinterpret_cast<uint4*>(p.data) = *in;
}
template <bool kBroken>
__global__ void pointer_to_foreign_local(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  auto** pointers = reinterpret_cast<float**>(smem.row);
  float local = 1;
  if (threadIdx.x == 0) pointers[0] = kBroken ? &local : p.data;
  __syncthreads();
  if (threadIdx.x == 64) *pointers[0] = 2;
  __syncthreads();
  if (threadIdx.x == 0) p.data[1] = local;
}

// ---- Shared memory ----------------------------------------------------------------------------

template <bool kBroken>
__global__ void past_shared(Params) {
  auto& smem = ptx::dynamic_smem<Smem>();
  float* end = smem.sum + kWarps;
  if (threadIdx.x == 5) end[kBroken ? 0 : -1] = 1;
}
template <bool kBroken>
__global__ void uninitialised_shared(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  if (!kBroken || threadIdx.x != 7) smem.row[threadIdx.x] = 1;
  p.data[global_index()] = smem.row[threadIdx.x];
}
template <bool kBroken>
__global__ void smem_larger_than_launch(Params) {
  struct Larger {
    float row[2 * kThreads];
  };
  if (kBroken) ptx::dynamic_smem<Larger>().row[0] = 1;
}

// ---- Collectives and barriers -----------------------------------------------------------------

template <bool kBroken>
__global__ void exited_lane(Params p) {
  if (kBroken && threadIdx.x == 63) return;
  p.data[global_index()] = ptx::shfl_sync_bfly(p.input[global_index()], 1);
}
template <bool kBroken>
__global__ void exited_first_lane(Params p) {
  if (kBroken && threadIdx.x == 32) return;
  p.data[global_index()] = ptx::shfl_sync_bfly(p.input[global_index()], 1);
}
template <bool kBroken>
__global__ void not_a_member(Params p) {
  const std::uint32_t mask = kBroken ? 0x0000ffffu : threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  p.data[global_index()] = ptx::shfl_sync_bfly(p.input[global_index()], 1, mask);
}
template <bool kBroken>
__global__ void reads_non_member(Params p) {
  const std::uint32_t mask = threadIdx.x % 32 < 16 ? 0xffffu : 0xffff0000u;
  p.data[global_index()] = ptx::shfl_sync_bfly(p.input[global_index()], kBroken ? 16 : 8, mask);
}
template <bool kBroken>
__global__ void two_collectives(Params p) {
  if (kBroken && threadIdx.x % 32 >= 16) {
    p.data[global_index()] = float(ptx::vote_sync_ballot(true));
  } else {
    p.data[global_index()] = ptx::shfl_sync_bfly(1.0f, 1);
  }
}
template <bool kBroken>
__global__ void two_places(Params p) {
  float v = 0;
  if (kBroken && threadIdx.x % 32 >= 16) {
    v = 2 * ptx::shfl_sync_idx(1.0f, 3);
  } else {
    v = 3 + ptx::shfl_sync_idx(2.0f, 5);
  }
  p.data[global_index()] = v;
}
template <bool kBroken>
__global__ void divergent_barrier(Params) {
  if (kBroken && threadIdx.x >= 100) return;
  __syncthreads();
}
template <bool kBroken>
__global__ void half_warps_at_barrier(Params) {
  if (!kBroken) {
    if (threadIdx.x < 32) ptx::bar_sync(1, 32);
  } else if (threadIdx.x % 32 < 16 && threadIdx.x < 64) {
    ptx::bar_sync(1, 32);
  }
}
template <bool kBroken>
__global__ void mismatching_counts(Params) {
  ptx::bar_sync(1, kBroken && threadIdx.x >= 64 ? 64 : kThreads);
}
template <bool kBroken>
__global__ void crossed_barriers(Params) {
  const bool first = threadIdx.x < 64;
  ptx::bar_sync(first || !kBroken ? 1 : 2, kThreads);
  ptx::bar_sync(first || !kBroken ? 2 : 1, kThreads);
}
template <bool kBroken>
__global__ void barrier_against_shfl(Params p) {
  if (kBroken && threadIdx.x == 5) __syncthreads();
  p.data[global_index()] = ptx::shfl_sync_idx(1.0f, 0);
}

// ---- Races ------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void missing_syncthreads(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  smem.row[threadIdx.x] = 0;
  __syncthreads();
  smem.row[threadIdx.x] = p.input[global_index()];
  if (!kBroken) __syncthreads();
  p.data[global_index()] = smem.row[kThreads - 1 - threadIdx.x];
}
template <bool kBroken>
__global__ void missing_second_syncthreads(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  for (int i = 0; i < 2; ++i) {
    smem.row[threadIdx.x] = p.input[global_index()];
    __syncthreads();
    p.data[global_index()] = smem.row[kThreads - 1 - threadIdx.x];
    if (!kBroken) __syncthreads();
  }
}
template <bool kBroken>
__global__ void missing_syncwarp(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  smem.row[threadIdx.x] = 0;
  __syncwarp();
  smem.row[threadIdx.x] = p.input[global_index()];
  if (!kBroken) __syncwarp();
  p.data[global_index()] = smem.row[threadIdx.x ^ 1];
}
template <bool kBroken>
__global__ void syncwarp_of_too_few(Params p) {
  auto& smem = ptx::dynamic_smem<Smem>();
  smem.row[threadIdx.x] = 0;
  __syncwarp();
  smem.row[threadIdx.x] = p.input[global_index()];
  __syncwarp(threadIdx.x % 32 < 16 ? 0x0000ffffu : 0xffff0000u);
  p.data[global_index()] = smem.row[threadIdx.x ^ (kBroken ? 16 : 1)];
}
template <bool kBroken>
__global__ void ctas_write_one_element(Params p) {
  if (threadIdx.x == 0) p.data[kBroken ? 0 : blockIdx.x] = 1;
}
template <bool kBroken>
__global__ void cta_reads_neighbour(Params p) {
  p.data[global_index()] = 1;
  if (kBroken && blockIdx.x == 1) p.data[global_index()] = p.data[threadIdx.x];
}
// CTA 1 writes its elements and raises a flag, which CTA 0 waits for and takes down again.
template <bool kAcquire, bool kRelease, bool kBarrier, class Consume>
__device__ void pass_flag(const Params& p, Consume consume) {
  auto* flag = reinterpret_cast<std::uint32_t*>(p.data);
  if (blockIdx.x == 1) {
    p.data[global_index()] = 1;
    if (kBarrier) __syncthreads();
    if (threadIdx.x == 0)
      kRelease ? ptx::st_release_gpu_global(flag, 1u) : ptx::st_global(flag, 1u);
  } else {
    if (threadIdx.x == 0) {
      while ((kAcquire ? ptx::ld_acquire_gpu_global(flag) : ptx::ld_global(flag)) != 1) {
      }
      ptx::st_release_gpu_global(flag, 0u);
    }
    consume();
  }
}
template <bool kBroken>
__global__ void flag_without_order(Params p) {
  pass_flag<!kBroken, !kBroken, true>(p, [] {});
}
template <bool kBroken>
__global__ void flag_without_release(Params p) {
  pass_flag<true, !kBroken, true>(p, [] {});
}
template <bool kBroken>
__global__ void release_without_barrier(Params p) {
  pass_flag<true, true, !kBroken>(p, [&] {
    if (threadIdx.x == 0) p.data[1] = p.data[2 * kThreads - 1] + p.data[kThreads + 1];
  });
}
// Only what the releasing lane did itself.
template <bool kBroken>
__global__ void release_by_another_lane(Params p) {
  pass_flag<true, true, false>(p, [&] {
    if (threadIdx.x == 0) p.data[1] = p.data[kThreads + (kBroken ? 1 : 0)];
  });
}
template <bool kBroken>
__global__ void acquire_by_another_lane(Params p) {
  pass_flag<true, true, true>(p, [&] {
    if (!kBroken) __syncwarp();
    if (threadIdx.x == 1) p.data[1] = p.data[2 * kThreads - 1];
  });
}
template <bool kBroken>
__global__ void acquire_by_another_warp(Params p) {
  pass_flag<true, true, true>(p, [&] {
    if (!kBroken) __syncthreads();
    if (threadIdx.x == 32) p.data[1] = p.data[2 * kThreads - 1];
  });
}
// Warps of a producer and of a consumer, with one barrier for full and one for empty.
template <bool kBroken>
__global__ void consumer_does_not_wait(Params p) {
  constexpr std::uint32_t kFull = 1, kEmpty = 2;
  constexpr int kRounds = kBroken ? 1 : 3;
  auto& smem = ptx::dynamic_smem<Smem>();
  const int i = int(threadIdx.x) % 64;
  if (threadIdx.x < 64) smem.row[i] = 0;
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    if (threadIdx.x < 64) {
      if (round > 0) ptx::bar_sync(kEmpty, kThreads);
      smem.row[i] = float(round);
      ptx::bar_arrive(kFull, kThreads);
    } else {
      if (!kBroken) ptx::bar_sync(kFull, kThreads);
      p.data[global_index()] = smem.row[63 - i];
      if (round + 1 < kRounds) ptx::bar_arrive(kEmpty, kThreads);
    }
  }
}
template <bool kBroken>
__global__ void nc_load_of_written(Params p) {
  auto* word = reinterpret_cast<std::uint32_t*>(p.data + threadIdx.x);
  ptx::st_global(word, 1u);
  ptx::st_global(word, kBroken ? ptx::ld_global_nc(word) : ptx::ld_global(word));
}

// ---- The rest ---------------------------------------------------------------------------------

__device__ __attribute__((noinline)) int recurse(int depth, const Params& p) {
  volatile int filler[256];
  filler[depth % 256] = depth;
  return depth == p.zero ? filler[0] : recurse(depth - 1, p) + filler[depth % 256];
}
template <bool kBroken>
__global__ void stack_overflow(Params p) {
  if (threadIdx.x == 9) p.data[0] = float(recurse(kBroken ? 100000 : 10, p));
}
template <bool kBroken>
LK_UNSANITIZED __global__ void division_by_zero(Params p) {
  if (threadIdx.x == 9) p.data[0] = float(7 / (kBroken ? p.zero : p.zero + 1));
}
template <bool kBroken>
__global__ void reads_host_memory(Params p) {
  if (threadIdx.x == 2) p.data[0] = p.input[0];
}

// ---- The list ---------------------------------------------------------------------------------

template <unsigned kCtas>
cudaError_t run(void (*kernel)(Params), const Params& p) {
  return ptx::launch(kernel, {.grid = dim3(kCtas), .block = dim3(kThreads), .smem = sizeof(Smem)},
                     nullptr, p);
}

const test::FaultCase kCases[] = {
    LK_FAULT_CASE(1, read_past_end),
    LK_FAULT_CASE(1, write_before_begin),
    LK_FAULT_CASE(1, instruction_past_end),
    LK_FAULT_CASE(1, copy_past_end),
    LK_FAULT_CASE(1, memset_past_end),
    LK_FAULT_CASE(1, null_pointer),
    LK_FAULT_CASE(1, unseen_null_pointer),
    LK_FAULT_CASE(1, write_to_input),
    LK_FAULT_CASE(1, misaligned_instruction),
    LK_FAULT_CASE(1, misaligned_dereference),
#if !defined(__clang__)  // which checks members, but not copies of a whole vector
    LK_FAULT_CASE(1, misaligned_copy),
#endif
    LK_FAULT_CASE(1, pointer_to_foreign_local),
    LK_FAULT_CASE(1, past_shared),
    LK_FAULT_CASE(1, uninitialised_shared),
    LK_FAULT_CASE(1, smem_larger_than_launch),
    LK_FAULT_CASE(1, exited_lane),
    LK_FAULT_CASE(1, exited_first_lane),
    LK_FAULT_CASE(1, not_a_member),
    LK_FAULT_CASE(1, reads_non_member),
    LK_FAULT_CASE(1, two_collectives),
    LK_FAULT_CASE(1, two_places),
    LK_FAULT_CASE(1, divergent_barrier),
    LK_FAULT_CASE(1, half_warps_at_barrier),
    LK_FAULT_CASE(1, mismatching_counts),
    LK_FAULT_CASE(1, crossed_barriers),
    LK_FAULT_CASE(1, barrier_against_shfl),
    LK_FAULT_CASE(1, missing_syncthreads),
    LK_FAULT_CASE(1, missing_second_syncthreads),
    LK_FAULT_CASE(1, missing_syncwarp),
    LK_FAULT_CASE(1, syncwarp_of_too_few),
    LK_FAULT_CASE(2, ctas_write_one_element),
    LK_FAULT_CASE(2, cta_reads_neighbour),
    LK_FAULT_CASE(2, flag_without_order),
    LK_FAULT_CASE(2, flag_without_release),
    LK_FAULT_CASE(2, release_without_barrier),
    LK_FAULT_CASE(2, release_by_another_lane),
    LK_FAULT_CASE(2, acquire_by_another_lane),
    LK_FAULT_CASE(2, acquire_by_another_warp),
    LK_FAULT_CASE(1, consumer_does_not_wait),
    LK_FAULT_CASE(1, nc_load_of_written),
    LK_FAULT_CASE(1, stack_overflow),
    LK_FAULT_CASE(1, division_by_zero),
    LK_FAULT_CASE(1, reads_host_memory),
};

std::span<const test::FaultCase> cases() { return kCases; }
bool hooked() { return LK_EMU_HOOKED != 0; }

}  // namespace libkernels::inline LK_BACKEND::test_faults
