#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

template <int kBytes>
LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(smem_address(dst)), "l"(src),
               "n"(kBytes)
               : "memory");
}
template <int kBytes>
LK_DEVICE void cp_async_ca_shared_global(void* dst, const void* src, std::uint32_t src_size) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(smem_address(dst)), "l"(src),
               "n"(kBytes), "r"(src_size)
               : "memory");
}

LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(smem_address(dst)), "l"(src)
               : "memory");
}
LK_DEVICE void cp_async_cg_shared_global(void* dst, const void* src, std::uint32_t src_size) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_address(dst)), "l"(src),
               "r"(src_size)
               : "memory");
}

LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst, const void* src) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(smem_address(dst)),
               "l"(src)
               : "memory");
}
LK_DEVICE void cp_async_cg_shared_global_L2_128B(void* dst, const void* src,
                                                 std::uint32_t src_size) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(smem_address(dst)),
               "l"(src), "r"(src_size)
               : "memory");
}

LK_DEVICE void cp_async_commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
LK_DEVICE void cp_async_wait_group() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
LK_DEVICE void cp_async_wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace libkernels::inline LK_BACKEND::ptx
