#pragma once

#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::inline LK_BACKEND::ptx {

template <int kRegisters>
requires RegisterCount<kRegisters>
[[gnu::always_inline]] LK_DEVICE void setmaxnreg_dec() {
  emulator::set_max_registers(kRegisters, false);
}
template <int kRegisters>
requires RegisterCount<kRegisters>
[[gnu::always_inline]] LK_DEVICE void setmaxnreg_inc() {
  emulator::set_max_registers(kRegisters, true);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
