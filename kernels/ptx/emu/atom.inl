#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE std::uint32_t atom_add_relaxed_gpu_global(std::uint32_t* p,
                                                                           std::uint32_t v) {
  return emulator::fetch_add(p, v);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
