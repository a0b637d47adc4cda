#pragma once

#include "kernels/ptx/cuda/smem_address.inl"

namespace libkernels::inline LK_BACKEND::ptx {

LK_DEVICE MatrixDescriptor matrix_descriptor_at(const void* tile, DescriptorFields fields) {
  fields.start = smem_address(tile);
  return matrix_descriptor(fields);
}

// No instruction: the compiler keeps accesses of the registers on their side of this point.
template <std::size_t kCount>
LK_DEVICE void pin_registers(float (&r)[kCount]) {
#pragma unroll
  for (std::size_t i = 0; i < kCount; ++i) asm volatile("" : "+f"(r[i])::"memory");
}
template <std::size_t kCount>
LK_DEVICE void pin_registers(std::uint32_t (&r)[kCount]) {
#pragma unroll
  for (std::size_t i = 0; i < kCount; ++i) asm volatile("" : "+r"(r[i])::"memory");
}

template <class... Registers>
LK_DEVICE void wgmma_fence(Registers&... registers) {
  (pin_registers(registers), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
LK_DEVICE void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending, class... Registers>
LK_DEVICE void wgmma_wait_group(Registers&... registers) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
  (pin_registers(registers), ...);
}

// ---- wgmma.mma_async ---------------------------------------------------------------------------

// The parts of the instruction's text that depend on the types.
template <MmaType kA, MmaType kB>
struct WgmmaTypes;
template <>
struct WgmmaTypes<MmaType::f16, MmaType::f16> {
  static constexpr char kText[] = "k16.f32.f16.f16";
};
template <>
struct WgmmaTypes<MmaType::bf16, MmaType::bf16> {
  static constexpr char kText[] = "k16.f32.bf16.bf16";
};
template <>
struct WgmmaTypes<MmaType::tf32, MmaType::tf32> {
  static constexpr char kText[] = "k8.f32.tf32.tf32";
};
template <>
struct WgmmaTypes<MmaType::e4m3, MmaType::e4m3> {
  static constexpr char kText[] = "k32.f32.e4m3.e4m3";
};
template <>
struct WgmmaTypes<MmaType::e4m3, MmaType::e5m2> {
  static constexpr char kText[] = "k32.f32.e4m3.e5m2";
};
template <>
struct WgmmaTypes<MmaType::e5m2, MmaType::e4m3> {
  static constexpr char kText[] = "k32.f32.e5m2.e4m3";
};
template <>
struct WgmmaTypes<MmaType::e5m2, MmaType::e5m2> {
  static constexpr char kText[] = "k32.f32.e5m2.e5m2";
};

// imm-scale-a, imm-scale-b and, for 16-bit types, imm-trans-a (A in shared memory) and imm-trans-b.
template <bool kTransposable, bool kFromRegisters, Major kA, Major kB>
struct WgmmaImmediates {
  static constexpr char kText[] = ", 1, 1";
};
template <Major kA, Major kB>
struct WgmmaImmediates<true, false, kA, kB> {
  static constexpr char kText[] = {
      ',', ' ', '1', ',', ' ', '1', ',', ' ', char('0' + int(kA)), ',', ' ', char('0' + int(kB)),
      '\0'};
};
template <Major kA, Major kB>
struct WgmmaImmediates<true, true, kA, kB> {
  static constexpr char kText[] = {',', ' ', '1', ',', ' ', '1', ',', ' ', char('0' + int(kB)),
                                   '\0'};
};

// Inline PTX wants every register of D spelled out, in the text and among the operands: N / 2 of
// them, four to a step of N.
#define LK_TEXT_8 "%0, %1, %2, %3"
#define LK_TEXT_16 LK_TEXT_8 ", %4, %5, %6, %7"
#define LK_TEXT_24 LK_TEXT_16 ", %8, %9, %10, %11"
#define LK_TEXT_32 LK_TEXT_24 ", %12, %13, %14, %15"
#define LK_TEXT_40 LK_TEXT_32 ", %16, %17, %18, %19"
#define LK_TEXT_48 LK_TEXT_40 ", %20, %21, %22, %23"
#define LK_TEXT_56 LK_TEXT_48 ", %24, %25, %26, %27"
#define LK_TEXT_64 LK_TEXT_56 ", %28, %29, %30, %31"
#define LK_TEXT_72 LK_TEXT_64 ", %32, %33, %34, %35"
#define LK_TEXT_80 LK_TEXT_72 ", %36, %37, %38, %39"
#define LK_TEXT_88 LK_TEXT_80 ", %40, %41, %42, %43"
#define LK_TEXT_96 LK_TEXT_88 ", %44, %45, %46, %47"
#define LK_TEXT_104 LK_TEXT_96 ", %48, %49, %50, %51"
#define LK_TEXT_112 LK_TEXT_104 ", %52, %53, %54, %55"
#define LK_TEXT_120 LK_TEXT_112 ", %56, %57, %58, %59"
#define LK_TEXT_128 LK_TEXT_120 ", %60, %61, %62, %63"
#define LK_TEXT_136 LK_TEXT_128 ", %64, %65, %66, %67"
#define LK_TEXT_144 LK_TEXT_136 ", %68, %69, %70, %71"
#define LK_TEXT_152 LK_TEXT_144 ", %72, %73, %74, %75"
#define LK_TEXT_160 LK_TEXT_152 ", %76, %77, %78, %79"
#define LK_TEXT_168 LK_TEXT_160 ", %80, %81, %82, %83"
#define LK_TEXT_176 LK_TEXT_168 ", %84, %85, %86, %87"
#define LK_TEXT_184 LK_TEXT_176 ", %88, %89, %90, %91"
#define LK_TEXT_192 LK_TEXT_184 ", %92, %93, %94, %95"
#define LK_TEXT_200 LK_TEXT_192 ", %96, %97, %98, %99"
#define LK_TEXT_208 LK_TEXT_200 ", %100, %101, %102, %103"
#define LK_TEXT_216 LK_TEXT_208 ", %104, %105, %106, %107"
#define LK_TEXT_224 LK_TEXT_216 ", %108, %109, %110, %111"
#define LK_TEXT_232 LK_TEXT_224 ", %112, %113, %114, %115"
#define LK_TEXT_240 LK_TEXT_232 ", %116, %117, %118, %119"
#define LK_TEXT_248 LK_TEXT_240 ", %120, %121, %122, %123"
#define LK_TEXT_256 LK_TEXT_248 ", %124, %125, %126, %127"
#define LK_FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define LK_D_8 LK_FOUR(0)
#define LK_D_16 LK_D_8, LK_FOUR(4)
#define LK_D_24 LK_D_16, LK_FOUR(8)
#define LK_D_32 LK_D_24, LK_FOUR(12)
#define LK_D_40 LK_D_32, LK_FOUR(16)
#define LK_D_48 LK_D_40, LK_FOUR(20)
#define LK_D_56 LK_D_48, LK_FOUR(24)
#define LK_D_64 LK_D_56, LK_FOUR(28)
#define LK_D_72 LK_D_64, LK_FOUR(32)
#define LK_D_80 LK_D_72, LK_FOUR(36)
#define LK_D_88 LK_D_80, LK_FOUR(40)
#define LK_D_96 LK_D_88, LK_FOUR(44)
#define LK_D_104 LK_D_96, LK_FOUR(48)
#define LK_D_112 LK_D_104, LK_FOUR(52)
#define LK_D_120 LK_D_112, LK_FOUR(56)
#define LK_D_128 LK_D_120, LK_FOUR(60)
#define LK_D_136 LK_D_128, LK_FOUR(64)
#define LK_D_144 LK_D_136, LK_FOUR(68)
#define LK_D_152 LK_D_144, LK_FOUR(72)
#define LK_D_160 LK_D_152, LK_FOUR(76)
#define LK_D_168 LK_D_160, LK_FOUR(80)
#define LK_D_176 LK_D_168, LK_FOUR(84)
#define LK_D_184 LK_D_176, LK_FOUR(88)
#define LK_D_192 LK_D_184, LK_FOUR(92)
#define LK_D_200 LK_D_192, LK_FOUR(96)
#define LK_D_208 LK_D_200, LK_FOUR(100)
#define LK_D_216 LK_D_208, LK_FOUR(104)
#define LK_D_224 LK_D_216, LK_FOUR(108)
#define LK_D_232 LK_D_224, LK_FOUR(112)
#define LK_D_240 LK_D_232, LK_FOUR(116)
#define LK_D_248 LK_D_240, LK_FOUR(120)
#define LK_D_256 LK_D_248, LK_FOUR(124)

// b, scale_d, types, immediates, then a: the operands behind the N / 2 registers of D, by number.
#define LK_WGMMA_BEGIN(N, SCALE, TYPES)       \
  "{\n.reg .pred p;\nsetp.ne.b32 p, %" #SCALE \
  ", 0;\n"                                    \
  "wgmma.mma_async.sync.aligned.m64n" #N "%" #TYPES " {" LK_TEXT_##N "}, "
#define LK_WGMMA_END(B, IMMEDIATES) ", %" #B ", p%" #IMMEDIATES ";\n}\n"
#define LK_WGMMA(N, B, SCALE, TYPES, IMMEDIATES, A0, A1, A2, A3)                                \
  if constexpr (kN == N && !kFromRegisters) {                                                   \
    asm volatile(LK_WGMMA_BEGIN(N, SCALE, TYPES) "%" #A0 LK_WGMMA_END(B, IMMEDIATES)            \
                 : LK_D_##N                                                                     \
                 : "l"(b), "r"(scale_d), "C"(Types::kText), "C"(Immediates::kText), "l"(a.bits) \
                 : "memory");                                                                   \
  }                                                                                             \
  if constexpr (kN == N && kFromRegisters) {                                                    \
    asm volatile(LK_WGMMA_BEGIN(N, SCALE, TYPES) "{%" #A0 ", %" #A1 ", %" #A2 ", %" #A3         \
                                                 "}" LK_WGMMA_END(B, IMMEDIATES)                \
                 : LK_D_##N                                                                     \
                 : "l"(b), "r"(scale_d), "C"(Types::kText), "C"(Immediates::kText), "r"(a[0]),  \
                   "r"(a[1]), "r"(a[2]), "r"(a[3])                                              \
                 : "memory");                                                                   \
  }

template <int kN, bool kFromRegisters, class Types, class Immediates, class A>
LK_DEVICE void wgmma_mma_async_text(float (&d)[kN / 2], const A& a, std::uint64_t b, int scale_d) {
  LK_WGMMA(8, 4, 5, 6, 7, 8, 9, 10, 11)
  LK_WGMMA(16, 8, 9, 10, 11, 12, 13, 14, 15)
  LK_WGMMA(24, 12, 13, 14, 15, 16, 17, 18, 19)
  LK_WGMMA(32, 16, 17, 18, 19, 20, 21, 22, 23)
  LK_WGMMA(40, 20, 21, 22, 23, 24, 25, 26, 27)
  LK_WGMMA(48, 24, 25, 26, 27, 28, 29, 30, 31)
  LK_WGMMA(56, 28, 29, 30, 31, 32, 33, 34, 35)
  LK_WGMMA(64, 32, 33, 34, 35, 36, 37, 38, 39)
  LK_WGMMA(72, 36, 37, 38, 39, 40, 41, 42, 43)
  LK_WGMMA(80, 40, 41, 42, 43, 44, 45, 46, 47)
  LK_WGMMA(88, 44, 45, 46, 47, 48, 49, 50, 51)
  LK_WGMMA(96, 48, 49, 50, 51, 52, 53, 54, 55)
  LK_WGMMA(104, 52, 53, 54, 55, 56, 57, 58, 59)
  LK_WGMMA(112, 56, 57, 58, 59, 60, 61, 62, 63)
  LK_WGMMA(120, 60, 61, 62, 63, 64, 65, 66, 67)
  LK_WGMMA(128, 64, 65, 66, 67, 68, 69, 70, 71)
  LK_WGMMA(136, 68, 69, 70, 71, 72, 73, 74, 75)
  LK_WGMMA(144, 72, 73, 74, 75, 76, 77, 78, 79)
  LK_WGMMA(152, 76, 77, 78, 79, 80, 81, 82, 83)
  LK_WGMMA(160, 80, 81, 82, 83, 84, 85, 86, 87)
  LK_WGMMA(168, 84, 85, 86, 87, 88, 89, 90, 91)
  LK_WGMMA(176, 88, 89, 90, 91, 92, 93, 94, 95)
  LK_WGMMA(184, 92, 93, 94, 95, 96, 97, 98, 99)
  LK_WGMMA(192, 96, 97, 98, 99, 100, 101, 102, 103)
  LK_WGMMA(200, 100, 101, 102, 103, 104, 105, 106, 107)
  LK_WGMMA(208, 104, 105, 106, 107, 108, 109, 110, 111)
  LK_WGMMA(216, 108, 109, 110, 111, 112, 113, 114, 115)
  LK_WGMMA(224, 112, 113, 114, 115, 116, 117, 118, 119)
  LK_WGMMA(232, 116, 117, 118, 119, 120, 121, 122, 123)
  LK_WGMMA(240, 120, 121, 122, 123, 124, 125, 126, 127)
  LK_WGMMA(248, 124, 125, 126, 127, 128, 129, 130, 131)
  LK_WGMMA(256, 128, 129, 130, 131, 132, 133, 134, 135)
}

#undef LK_WGMMA
#undef LK_WGMMA_END
#undef LK_WGMMA_BEGIN

template <int kM, int kN, int kK, MmaType kA, MmaType kB, Major kMajorA, Major kMajorB>
requires(
    WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kA, kMajorA>&& WgmmaMajor<kB, kMajorB>) LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], MatrixDescriptor a, MatrixDescriptor b, bool scale_d) {
  wgmma_mma_async_text<kN, false, WgmmaTypes<kA, kB>,
                       WgmmaImmediates<mma_bytes(kA) == 2, false, kMajorA, kMajorB>>(d, a, b.bits,
                                                                                     scale_d);
}
template <int kM, int kN, int kK, MmaType kA, MmaType kB, Major kMajorB>
requires(WgmmaShape<kM, kN, kK, kA, kB>&& WgmmaMajor<kB, kMajorB>) LK_DEVICE
    void wgmma_mma_async(float (&d)[kN / 2], const std::uint32_t (&a)[4], MatrixDescriptor b,
                         bool scale_d) {
  wgmma_mma_async_text<kN, true, WgmmaTypes<kA, kB>,
                       WgmmaImmediates<mma_bytes(kA) == 2, true, Major::k, kMajorB>>(d, a, b.bits,
                                                                                     scale_d);
}

}  // namespace libkernels::inline LK_BACKEND::ptx
