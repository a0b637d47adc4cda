// Tensor copies: one thread has the copy engine move a box of a tensor in global memory, to or from
// a dense tile in shared memory that may be swizzled. Included by ptx.cuh only.
//
// The tensor map says where the tensor lies and how large the box is (tensor_map.h); it is passed as
// a `__grid_constant__ const` parameter of the kernel. Coordinates are in elements, innermost first,
// and may be negative or beyond the end; x times the element's size is a multiple of 16 bytes. What
// lies outside the tensor is zero in shared memory, is not stored, and counts as bytes all the same.
// The tile in shared memory starts at a multiple of 128 bytes; of swizzle_repeat() if the pattern is
// to start with it.
#pragma once

#include "kernels/ptx/cp_async_bulk.cuh"
#include "kernels/ptx/tensor_map.h"

namespace libkernels::inline LK_BACKEND::ptx {

// prefetch.tensormap [map];                                             sm_90, PTX 8.0, thread
LK_DEVICE void prefetch_tensormap(const TensorMap* map);

// cp.async.bulk.tensor.{1,2,3}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
//     {.L2::cache_hint} [dst], [map, {x, y, z}], [bar]{, policy};       sm_90, PTX 8.0, thread
// dst and bar are in the executing CTA.
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(void* dst, const TensorMap* map, int x,
                                                     Mbarrier* bar);
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(void* dst, const TensorMap* map, int x,
                                                     Mbarrier* bar, CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     Mbarrier* bar);
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     Mbarrier* bar, CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     int z, Mbarrier* bar);
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     int z, Mbarrier* bar, CachePolicy policy);

// cp.async.bulk.tensor.{1,2,3}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
//     .multicast::cluster{.L2::cache_hint} [dst], [map, {x, y, z}], [bar], cta_mask{, policy};
//                                                                       sm_90a, PTX 8.0, thread
// To the same offsets of every CTA whose rank is set in the mask, each with its own mbarrier.
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, Mbarrier* bar,
                                                               std::uint16_t cta_mask);
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, Mbarrier* bar,
                                                               std::uint16_t cta_mask);
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, int z, Mbarrier* bar,
                                                               std::uint16_t cta_mask);
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, int z, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy);

// cp.async.bulk.tensor.{1,2,3}d.global.shared::cta.tile.bulk_group{.L2::cache_hint}
//     [map, {x, y, z}], [src]{, policy};                                sm_90, PTX 8.0, thread
LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(const TensorMap* map, int x, const void* src);
LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(const TensorMap* map, int x, const void* src,
                                                     CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap* map, int x, int y,
                                                     const void* src);
LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap* map, int x, int y,
                                                     const void* src, CachePolicy policy);
LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap* map, int x, int y, int z,
                                                     const void* src);
LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap* map, int x, int y, int z,
                                                     const void* src, CachePolicy policy);

// cp.async.bulk.prefetch.tensor.{1,2,3}d.L2.global.tile [map, {x, y, z}];
//                                                                       sm_90, PTX 8.0, thread
LK_DEVICE void cp_async_bulk_prefetch_tensor_1d_L2(const TensorMap* map, int x);
LK_DEVICE void cp_async_bulk_prefetch_tensor_2d_L2(const TensorMap* map, int x, int y);
LK_DEVICE void cp_async_bulk_prefetch_tensor_3d_L2(const TensorMap* map, int x, int y, int z);

}  // namespace libkernels::inline LK_BACKEND::ptx

#if defined(LK_EMULATE)
#include "kernels/ptx/emu/cp_async_bulk_tensor.inl"
#else
#include "kernels/ptx/cuda/cp_async_bulk_tensor.inl"
#endif
