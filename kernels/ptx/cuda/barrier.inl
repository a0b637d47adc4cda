#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE void bar_sync(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
LK_DEVICE void bar_arrive(std::uint32_t id, std::uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
LK_DEVICE void bar_warp_sync(std::uint32_t membermask) {
  asm volatile("bar.warp.sync %0;" ::"r"(membermask) : "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
