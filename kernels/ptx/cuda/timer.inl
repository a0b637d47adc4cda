#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE std::uint64_t globaltimer() {
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
