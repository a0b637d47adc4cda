#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <int kRegisters>
requires RegisterCount<kRegisters> LK_DEVICE void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}
template <int kRegisters>
requires RegisterCount<kRegisters> LK_DEVICE void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters) : "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
