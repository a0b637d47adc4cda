// The built-in names that kernels may use (design, section 5), for a host compiler.
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/ptx/emu/core.h"

#define threadIdx (::libkernels::emulator::thread_idx())
#define blockIdx (::libkernels::emulator::block_idx())
#define blockDim (::libkernels::emulator::block_dim())
#define gridDim (::libkernels::emulator::grid_dim())

// The CUDA headers make the other qualifiers vanish by themselves.
#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __grid_constant__
#define __grid_constant__

// A host compiler would silently make a __shared__ array a local of each thread.
#undef __shared__
#define __shared__ static_assert(false, "no __shared__ in kernels: use ptx::dynamic_smem<Smem>()");

[[gnu::always_inline]] LK_EMU_CONVERGENT inline void __syncthreads() {
  ::libkernels::emulator::barrier_sync_cta();
}
[[gnu::always_inline]] LK_EMU_CONVERGENT inline void __syncwarp(std::uint32_t mask = 0xffffffffu) {
  ::libkernels::emulator::collective(::libkernels::emulator::Collective::sync_warp, 0, 0, mask);
}

#if LK_EMU_HOOKED
// Compilers turn copies of structures and loops into calls of these, which carry no hook. Renaming
// them at the assembler's level catches the implicit calls as well as the written ones, with either
// compiler and without help from the linker. Outside a kernel the replacements just copy.
__asm__("memcpy = lk_emu_memcpy");
__asm__("memmove = lk_emu_memmove");
__asm__("memset = lk_emu_memset");
// So that the emulator does not take this name from a program that links the real runtime.
__asm__("__ubsan_handle_type_mismatch_v1_abort = lk_emu_misaligned");
#endif
