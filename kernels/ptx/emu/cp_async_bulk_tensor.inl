#pragma once

#include "kernels/ptx/emu/async.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE void prefetch_tensormap(const TensorMap* map) {
  emulator::tensor_prefetch_map(map);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(void* dst,
                                                                            const TensorMap* map,
                                                                            int x, Mbarrier* bar) {
  emulator::tensor_load(dst, map, {1, {x}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_shared_global(
    void* dst, const TensorMap* map, int x, Mbarrier* bar, CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {1, {x}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(void* dst,
                                                                            const TensorMap* map,
                                                                            int x, int y,
                                                                            Mbarrier* bar) {
  emulator::tensor_load(dst, map, {2, {x, y}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_shared_global(
    void* dst, const TensorMap* map, int x, int y, Mbarrier* bar, CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {2, {x, y}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(void* dst,
                                                                            const TensorMap* map,
                                                                            int x, int y, int z,
                                                                            Mbarrier* bar) {
  emulator::tensor_load(dst, map, {3, {x, y, z}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_shared_global(
    void* dst, const TensorMap* map, int x, int y, int z, Mbarrier* bar, CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {3, {x, y, z}}, bar);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, Mbarrier* bar, std::uint16_t cta_mask) {
  emulator::tensor_load(dst, map, {1, {x}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, Mbarrier* bar, std::uint16_t cta_mask,
    CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {1, {x}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, int y, Mbarrier* bar, std::uint16_t cta_mask) {
  emulator::tensor_load(dst, map, {2, {x, y}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, int y, Mbarrier* bar, std::uint16_t cta_mask,
    CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {2, {x, y}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, int y, int z, Mbarrier* bar, std::uint16_t cta_mask) {
  emulator::tensor_load(dst, map, {3, {x, y, z}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_shared_global_multicast(
    void* dst, const TensorMap* map, int x, int y, int z, Mbarrier* bar, std::uint16_t cta_mask,
    CachePolicy /*policy*/) {
  emulator::tensor_load(dst, map, {3, {x, y, z}}, bar, cta_mask);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(const TensorMap* map,
                                                                            int x,
                                                                            const void* src) {
  emulator::tensor_store(map, {1, {x}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_1d_global_shared(
    const TensorMap* map, int x, const void* src, CachePolicy /*policy*/) {
  emulator::tensor_store(map, {1, {x}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(const TensorMap* map,
                                                                            int x, int y,
                                                                            const void* src) {
  emulator::tensor_store(map, {2, {x, y}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_2d_global_shared(
    const TensorMap* map, int x, int y, const void* src, CachePolicy /*policy*/) {
  emulator::tensor_store(map, {2, {x, y}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(const TensorMap* map,
                                                                            int x, int y, int z,
                                                                            const void* src) {
  emulator::tensor_store(map, {3, {x, y, z}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_tensor_3d_global_shared(
    const TensorMap* map, int x, int y, int z, const void* src, CachePolicy /*policy*/) {
  emulator::tensor_store(map, {3, {x, y, z}}, src);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_prefetch_tensor_1d_L2(const TensorMap* map,
                                                                          int x) {
  emulator::tensor_prefetch(map, {1, {x}});
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_prefetch_tensor_2d_L2(const TensorMap* map,
                                                                          int x, int y) {
  emulator::tensor_prefetch(map, {2, {x, y}});
}
[[gnu::always_inline]] LK_DEVICE void cp_async_bulk_prefetch_tensor_3d_L2(const TensorMap* map,
                                                                          int x, int y, int z) {
  emulator::tensor_prefetch(map, {3, {x, y, z}});
}

}  // namespace libkernels::inline LK_BACKEND::ptx
