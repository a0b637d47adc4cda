#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE std::uint32_t atom_add_relaxed_gpu_global(std::uint32_t* p, std::uint32_t v) {
  std::uint32_t d;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(d)
               : "l"(p), "r"(v)
               : "memory");
  return d;
}

}  // namespace libkernels::inline LK_BACKEND::ptx
