#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <class Smem>
[[gnu::always_inline]] LK_DEVICE Smem& dynamic_smem() {
  return *static_cast<Smem*>(emulator::dynamic_shared(sizeof(Smem)));
}
[[gnu::always_inline]] LK_DEVICE void griddepcontrol_wait() { emulator::griddepcontrol_wait(); }
[[gnu::always_inline]] LK_DEVICE void griddepcontrol_launch_dependents() {
  emulator::griddepcontrol_launch_dependents();
}

}  // namespace libkernels::inline LK_BACKEND::ptx
