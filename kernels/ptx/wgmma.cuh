// Asynchronous products by a warpgroup: D = A B + D. Included by ptx.cuh only.
//
// A warpgroup is four warps of which the first has an index divisible by 4; all their threads
// execute each of these instructions, with the same descriptors. A is 64 x K, from shared memory or
// registers; B is K x N, from shared memory; D is fp32, in registers. K is 32 bytes of elements.
// With w the warp in the group, l the lane, q = l % 4, r = 16 w + l / 4:
//   D               register v: row r + 8 (v / 2 % 2), column 8 (v / 4) + 2 q + v % 2
//   A, 16 bits      register i: row r + 8 (i % 2), columns 2 q + 8 (i / 2) (low half) and the next
//   A, tf32         register i: row r + 8 (i % 2), column q + 4 (i / 2)
//   A, 8 bits       register i: row r + 8 (i % 2), columns 4 q + 16 (i / 2) (lowest byte) and up
// The order and precision of the sum inside are the hardware's (emu/mma_model.h).
//
// The order of things:
//   wgmma_fence             before the first product, and after registers of D or A were touched
//   wgmma_mma_async         any number; those of the same shape add up in D by themselves
//   wgmma_commit_group      makes a group of them
//   wgmma_wait_group<n>     leaves the n youngest groups running: D and A of the others are free
// Operands in shared memory that were written by ordinary stores need fence.proxy.async by the
// writers, then a barrier. They may be overwritten once all four warps have waited.
#pragma once

#include "kernels/ptx/descriptor.cuh"
#include "kernels/ptx/mma_type.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// What the hardware has.
template <int kM, int kN, int kK, MmaType kA, MmaType kB>
concept WgmmaShape = kM == 64 && kN >= 8 && kN <= 256 && kN % 8 == 0 && kK* mma_bytes(kA) == 32 &&
                     (kA == kB || (mma_bytes(kA) == 1 && mma_bytes(kB) == 1));
// Operands other than 16-bit ones are K-major.
template <MmaType kType, Major kMajor>
concept WgmmaMajor = kMajor == Major::k || mma_bytes(kType) == 2;

// The operand at `tile`, in shared memory, laid out as `fields` says (whose start is ignored).
LK_DEVICE MatrixDescriptor matrix_descriptor_at(const void* tile, DescriptorFields fields);

// wgmma.fence.sync.aligned;                                             sm_90a, PTX 8.0, warpgroup
// Accesses of `registers` (float or std::uint32_t arrays) stay before it.
template <class... Registers>
LK_DEVICE void wgmma_fence(Registers&... registers);

// wgmma.commit_group.sync.aligned;                                      sm_90a, PTX 8.0, warpgroup
LK_DEVICE void wgmma_commit_group();

// wgmma.wait_group.sync.aligned kPending;                               sm_90a, PTX 8.0, warpgroup
// Accesses of `registers` stay behind it.
template <int kPending, class... Registers>
LK_DEVICE void wgmma_wait_group(Registers&... registers);

// wgmma.mma_async.sync.aligned.m64n{N}k{K}.f32.{A}.{B} d, a, b, scale_d, 1, 1 {, major_a, major_b};
//                                                                       sm_90a, PTX 8.0, warpgroup
// Without scale_d, D = A B.
template <int kM, int kN, int kK, MmaType kA, MmaType kB = kA, Major kMajorA = Major::k,
          Major kMajorB = Major::k>
requires(
    WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kA, kMajorA>&& WgmmaMajor<kB, kMajorB>) LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool scale_d);

// The same with A in registers, which must stay as they are until the wait.
template <int kM, int kN, int kK, MmaType kA, MmaType kB = kA, Major kMajorB = Major::k>
requires(WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kB, kMajorB>) LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                         bool scale_d);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/wgmma.inl"
#else
#include "kernels/ptx/cuda/wgmma.inl"
#endif
