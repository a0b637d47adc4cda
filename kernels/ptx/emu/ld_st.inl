#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <AccessType T>
[[gnu::always_inline]] LK_DEVICE T ld_global(const T* p) {
  return emulator::load(emulator::Space::global, p);
}
template <AccessType T>
[[gnu::always_inline]] LK_DEVICE T ld_global_nc(const T* p) {
  return emulator::load(emulator::Space::global_nc, p);
}
template <AccessType T>
[[gnu::always_inline]] LK_DEVICE T ld_global_nc_L1_no_allocate(const T* p) {
  return emulator::load(emulator::Space::global_nc, p);
}
[[gnu::always_inline]] LK_DEVICE uint8x32 ld_global_v8_b32(const uint8x32* p) {
  emulator::require_sm(100, "ld.global.v8.b32");
  uint8x32 d;
  emulator::load_bytes(emulator::Space::global, &d, p, sizeof(d));
  return d;
}

template <AccessType T>
[[gnu::always_inline]] LK_DEVICE void st_global(T* p, T v) {
  emulator::store(emulator::Space::global, p, v);
}
[[gnu::always_inline]] LK_DEVICE void st_global_v8_b32(uint8x32* p, const uint8x32& v) {
  emulator::require_sm(100, "st.global.v8.b32");
  emulator::store_bytes(emulator::Space::global, p, &v, sizeof(v));
}

template <class T>
[[gnu::always_inline]] LK_DEVICE T ld_acquire_gpu_global(const T* p) {
  return emulator::load_acquire(p);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE void st_release_gpu_global(T* p, T v) {
  emulator::store_release(p, v);
}

template <class T>
[[gnu::always_inline]] LK_DEVICE T ld_relaxed_gpu_global(const T* p) {
  return emulator::load_relaxed(p);
}
template <class T>
[[gnu::always_inline]] LK_DEVICE void st_relaxed_gpu_global(T* p, T v) {
  emulator::store_relaxed(p, v);
}

LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_first() { return kEvictFirst; }
LK_DEVICE CachePolicy createpolicy_fractional_L2_evict_last() { return kEvictLast; }
template <AccessType T>
[[gnu::always_inline]] LK_DEVICE T ld_global_L2_cache_hint(const T* p, CachePolicy /*policy*/) {
  return emulator::load(emulator::Space::global, p);
}
template <AccessType T>
[[gnu::always_inline]] LK_DEVICE void st_global_L2_cache_hint(T* p, T v, CachePolicy /*policy*/) {
  emulator::store(emulator::Space::global, p, v);
}

template <AccessType T>
[[gnu::always_inline]] LK_DEVICE T ld_shared(const T* p) {
  return emulator::load(emulator::Space::shared, p);
}
template <AccessType T>
[[gnu::always_inline]] LK_DEVICE void st_shared(T* p, T v) {
  emulator::store(emulator::Space::shared, p, v);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
