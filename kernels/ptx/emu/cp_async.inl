#pragma once

#include "kernels/ptx/emu/cp_async.h"

namespace libkernels::inline LK_BACKEND::ptx {

template <int kBytes>
[[gnu::always_inline]] LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src,
                                                                std::uint32_t src_size) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  emulator::cp_async(dst, src, kBytes, src_size, "cp.async.ca");
}
template <int kBytes>
[[gnu::always_inline]] LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src) {
  cp_async_ca_shared_global<kBytes>(dst, src, kBytes);
}

[[gnu::always_inline]] LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src,
                                                                std::uint32_t src_size) {
  emulator::cp_async(dst, src, 16, src_size, "cp.async.cg");
}
[[gnu::always_inline]] LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src) {
  cp_async_cg_shared_global(dst, src, 16);
}

// A prefetch is not seen.
[[gnu::always_inline]] LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst, const void* src,
                                                                        std::uint32_t src_size) {
  cp_async_cg_shared_global(dst, src, src_size);
}
[[gnu::always_inline]] LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst,
                                                                        const void* src) {
  cp_async_cg_shared_global(dst, src, 16);
}

LK_DEVICE void cp_async_commit_group() { emulator::cp_async_commit_group(); }
template <int kPending>
LK_DEVICE void cp_async_wait_group() {
  static_assert(kPending >= 0);
  emulator::cp_async_wait_group(kPending);
}
LK_DEVICE void cp_async_wait_all() {
  emulator::cp_async_commit_group();
  emulator::cp_async_wait_group(0);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
