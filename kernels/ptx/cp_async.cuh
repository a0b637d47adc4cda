// Copies from global to shared memory that do not wait. Included by ptx.cuh only.
//
// Pointers are aligned to the copy's bytes. Only src_size bytes are read, 0 to the copy's bytes;
// the rest of the destination becomes zero, so a tail needs no branch. Copies are unordered among
// themselves. The thread that issued a copy sees it after its wait, others after a barrier behind
// that wait; until then nobody touches the destination or writes the source. Groups are per thread.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// cp.async.ca.shared.global [dst], [src], kBytes;                       sm_80, PTX 7.0, thread
// kBytes: 4, 8 or 16.
template <int kBytes>
LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src);
// cp.async.ca.shared.global [dst], [src], kBytes, src_size;             sm_80, PTX 7.0, thread
template <int kBytes>
LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src, std::uint32_t src_size);

// cp.async.cg.shared.global [dst], [src], 16;        not through L1     sm_80, PTX 7.0, thread
LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src);
// cp.async.cg.shared.global [dst], [src], 16, src_size;                 sm_80, PTX 7.0, thread
LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src, std::uint32_t src_size);

// cp.async.cg.shared.global.L2::128B [dst], [src], 16;                  sm_80, PTX 7.4, thread
// The whole 128-byte line is brought into L2.
LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst, const void* src);
// cp.async.cg.shared.global.L2::128B [dst], [src], 16, src_size;        sm_80, PTX 7.4, thread
LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst, const void* src,
                                                 std::uint32_t src_size);

// cp.async.commit_group;                                                sm_80, PTX 7.0, thread
// The thread's copies since the last commit are a group, possibly an empty one.
LK_DEVICE void cp_async_commit_group();

// cp.async.wait_group kPending;                                         sm_80, PTX 7.0, thread
// Until at most the kPending youngest groups are unfinished.
template <int kPending>
LK_DEVICE void cp_async_wait_group();

// cp.async.wait_all;         commits, and waits for every group         sm_80, PTX 7.0, thread
LK_DEVICE void cp_async_wait_all();

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/cp_async.inl"
#else
#include "kernels/ptx/cuda/cp_async.inl"
#endif
