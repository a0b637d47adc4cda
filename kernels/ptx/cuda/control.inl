#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

template <class Smem>
LK_DEVICE Smem& dynamic_smem() {
  extern __shared__ __align__(1024) unsigned char lk_dynamic_smem[];
  return *reinterpret_cast<Smem*>(lk_dynamic_smem);
}
LK_DEVICE void griddepcontrol_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
LK_DEVICE void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace libkernels::inline LK_BACKEND::ptx
