#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE void prefetch_tensormap(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(void* dst, const TensorMap* map, int x,
                                                     Mbarrier* bar) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2}], [%3];" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(smem_address(bar))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(void* dst, const TensorMap* map, int x,
                                                     Mbarrier* bar, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
      "hint [%0], [%1, {%2}], [%3], %4;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(smem_address(bar)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     Mbarrier* bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(smem_address(bar))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     Mbarrier* bar, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
      "hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     int z, Mbarrier* bar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3, %4}], [%5];" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem_address(bar))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(void* dst, const TensorMap* map, int x, int y,
                                                     int z, Mbarrier* bar, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_"
      "hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem_address(bar)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, Mbarrier* bar,
                                                               std::uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster [%0], [%1, {%2}], [%3], %4;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(smem_address(bar)), "h"(cta_mask)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster.L2::cache_hint [%0], [%1, {%2}], [%3], %4, %5;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(smem_address(bar)), "h"(cta_mask), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, Mbarrier* bar,
                                                               std::uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "h"(cta_mask)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(smem_address(bar)), "h"(cta_mask), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, int z, Mbarrier* bar,
                                                               std::uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem_address(bar)), "h"(cta_mask)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(void* dst, const TensorMap* map,
                                                               int x, int y, int z, Mbarrier* bar,
                                                               std::uint16_t cta_mask,
                                                               CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(smem_address(dst)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem_address(bar)), "h"(cta_mask), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(const TensorMap* map, int x, const void* src) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map),
      "r"(x), "r"(smem_address(src))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(const TensorMap* map, int x, const void* src,
                                                     CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1}], [%2], "
      "%3;" ::"l"(map),
      "r"(x), "r"(smem_address(src)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap* map, int x, int y,
                                                     const void* src) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(smem_address(src))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap* map, int x, int y,
                                                     const void* src, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2}], "
      "[%3], %4;" ::"l"(map),
      "r"(x), "r"(y), "r"(smem_address(src)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap* map, int x, int y, int z,
                                                     const void* src) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          map),
      "r"(x), "r"(y), "r"(z), "r"(smem_address(src))
      : "memory");
}
LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap* map, int x, int y, int z,
                                                     const void* src, CachePolicy policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group.L2::cache_hint [%0, {%1, %2, "
      "%3}], [%4], %5;" ::"l"(map),
      "r"(x), "r"(y), "r"(z), "r"(smem_address(src)), "l"(policy.bits)
      : "memory");
}
LK_DEVICE void cp_async_bulk_prefetch_tensor_1d_L2(const TensorMap* map, int x) {
  asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];" ::"l"(map), "r"(x)
               : "memory");
}
LK_DEVICE void cp_async_bulk_prefetch_tensor_2d_L2(const TensorMap* map, int x, int y) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(x),
               "r"(y)
               : "memory");
}
LK_DEVICE void cp_async_bulk_prefetch_tensor_3d_L2(const TensorMap* map, int x, int y, int z) {
  asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];" ::"l"(map),
               "r"(x), "r"(y), "r"(z)
               : "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
