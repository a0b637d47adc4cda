#pragma once

#include "kernels/ptx/emu/wgmma.h"

namespace libkernels::inline LK_BACKEND::ptx {

[[gnu::always_inline]] LK_DEVICE MatrixDescriptor matrix_descriptor_at(const void* tile,
                                                                       DescriptorFields fields) {
  fields.start = emulator::shared_address(tile);
  return matrix_descriptor(fields);
}

template <class... Registers>
[[gnu::always_inline]] LK_DEVICE void wgmma_fence(Registers&...) {
  emulator::wgmma_fence();
}
[[gnu::always_inline]] LK_DEVICE void wgmma_commit_group() { emulator::wgmma_commit_group(); }
template <int kPending, class... Registers>
[[gnu::always_inline]] LK_DEVICE void wgmma_wait_group(Registers&...) {
  emulator::wgmma_wait_group(kPending);
}

template <int kN, MmaType kA, MmaType kB, Major kMajorA, Major kMajorB, bool kFromRegisters>
inline constexpr emulator::WgmmaForm kWgmmaForm{
    kN, emulator::MmaInput(kA), emulator::MmaInput(kB), kMajorA, kMajorB, kFromRegisters};

template <int kM, int kN, int kK, MmaType kA, MmaType kB, Major kMajorA, Major kMajorB>
requires(WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kA, kMajorA>&& WgmmaMajor<kB, kMajorB>)
    [[gnu::always_inline]] LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool scale_d) {
  emulator::wgmma_mma_async(kWgmmaForm<kN, kA, kB, kMajorA, kMajorB, false>, d, a.bits, nullptr,
                            b.bits, scale_d);
}
template <int kM, int kN, int kK, MmaType kA, MmaType kB, Major kMajorB>
requires(WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kB, kMajorB>) [[gnu::always_inline]] LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                         bool scale_d) {
  emulator::wgmma_mma_async(kWgmmaForm<kN, kA, kB, Major::k, kMajorB, true>, d, 0, a, b.bits,
                            scale_d);
}

static_assert(int(MmaType::f16) == int(emulator::MmaInput::f16) &&
              int(MmaType::bf16) == int(emulator::MmaInput::bf16) &&
              int(MmaType::tf32) == int(emulator::MmaInput::tf32) &&
              int(MmaType::e4m3) == int(emulator::MmaInput::e4m3) &&
              int(MmaType::e5m2) == int(emulator::MmaInput::e5m2));

}  // namespace libkernels::inline LK_BACKEND::ptx
