// Matmul on sm80: from a stage of shared memory to the registers of mma.sync, and the products.
//
// A step is 32 bytes of K: 16 elements of 16 bits or 8 of 32. A's fragments are 16 x step, B's step
// x 8. Where K is adjacent ldmatrix fills either kind, since it moves 16-byte rows whatever is in
// them; where it is not, ldmatrix.trans serves 16-bit elements and single loads 32-bit ones.
#pragma once

#include "kernels/matmul/matmul_split.cuh"
#include "kernels/matmul/matmul_stage.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr int kStepBytes = 32;

template <int kM16, int kN8>
struct Fragments {
  std::uint32_t a[kM16][4];
  std::uint32_t b[kN8][2];
};

// A lane's addresses in a stage of A, from row `mn` of the tile on, a multiple of the warp's rows.
template <class S>
struct FragmentA {
  int base, chunk;  // offset of the row; offset in it, swizzled

  LK_DEVICE explicit FragmentA(int mn) {
    const int lane = int(threadIdx.x) % kWarpThreads;
    if constexpr (S::kMajor == Major::k) {
      const int row = mn + lane % 16;
      base = row * S::kRowBytes;
      chunk = lane / 16 * kChunkBytes ^ S::swizzle(row);
    } else if constexpr (S::kElement == 2) {
      const int row = lane % 8 + lane / 16 * 8;
      base = row * S::kRowBytes;
      chunk = (mn * 2 + lane / 8 % 2 * kChunkBytes) ^ S::swizzle(row);
    } else {
      base = lane % 4 * S::kRowBytes + lane / 4 % 4 * 4;
      chunk = (mn * 4 + lane / 16 * kChunkBytes) ^ S::swizzle(lane % 4);
    }
  }

  template <int kM16>
  LK_DEVICE void load(const unsigned char* stage, int step, std::uint32_t (&a)[kM16][4]) const {
#pragma unroll
    for (int i = 0; i < kM16; ++i) {
      if constexpr (S::kMajor == Major::k) {
        ptx::ldmatrix<4>(a[i], stage + base + i * 16 * S::kRowBytes + (chunk ^ step * kStepBytes));
      } else if constexpr (S::kElement == 2) {
        ptx::ldmatrix<4, true>(a[i], stage + base + step * 16 * S::kRowBytes + (chunk ^ i * 32));
      } else {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int k = step * 8 + r / 2 * 4;
          a[i][r] = ptx::ld_shared(reinterpret_cast<const std::uint32_t*>(
              stage + base + k * S::kRowBytes + (chunk ^ (i * 64 + r % 2 * 32))));
        }
      }
    }
  }
};

// The same of B; `mn` is a column.
template <class S>
struct FragmentB {
  int base, chunk;

  LK_DEVICE explicit FragmentB(int mn) {
    const int lane = int(threadIdx.x) % kWarpThreads;
    if constexpr (S::kMajor == Major::k) {
      const int row = mn + lane % 8 + lane / 16 * 8;
      base = row * S::kRowBytes;
      chunk = lane / 8 % 2 * kChunkBytes ^ S::swizzle(row);
    } else if constexpr (S::kElement == 2) {
      const int row = lane % 16;
      base = row * S::kRowBytes;
      chunk = (mn * 2 + lane / 16 * kChunkBytes) ^ S::swizzle(row);
    } else {
      base = lane % 4 * S::kRowBytes + lane / 4 % 4 * 4;
      chunk = (mn * 4 + lane / 16 * kChunkBytes) ^ S::swizzle(lane % 4);
    }
  }

  template <int kN8>
  LK_DEVICE void load(const unsigned char* stage, int step, std::uint32_t (&b)[kN8][2]) const {
    static_assert(kN8 % 2 == 0);
#pragma unroll
    for (int j = 0; j < kN8; j += 2) {
      if constexpr (S::kMajor == Major::mn && S::kElement == 4) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const int k = step * 8 + r % 2 * 4;
          b[j + r / 2][r % 2] = ptx::ld_shared(reinterpret_cast<const std::uint32_t*>(
              stage + base + k * S::kRowBytes + (chunk ^ (j + r / 2) * 32)));
        }
      } else {
        std::uint32_t d[4];
        if constexpr (S::kMajor == Major::k) {
          ptx::ldmatrix<4>(d, stage + base + j * 8 * S::kRowBytes + (chunk ^ step * kStepBytes));
        } else {
          ptx::ldmatrix<4, true>(d, stage + base + step * 16 * S::kRowBytes + (chunk ^ j * 16));
        }
        b[j][0] = d[0];
        b[j][1] = d[1];
        b[j + 1][0] = d[2];
        b[j + 1][1] = d[3];
      }
    }
  }
};

// ---- Products -----------------------------------------------------------------------------------

// acc += A B in three products of tf32, the small ones first.
template <bool kOrdinary, int kM16, int kN8>
LK_DEVICE void multiply_split(float (&acc)[kM16][kN8][4], const Fragments<kM16, kN8>& f) {
  const auto split = [](std::uint32_t bits) {
    return kOrdinary ? split_ordinary(bits) : split_any(bits);
  };
  Split b[kN8][2];
#pragma unroll
  for (int j = 0; j < kN8; ++j) {
    b[j][0] = split(f.b[j][0]);
    b[j][1] = split(f.b[j][1]);
  }
#pragma unroll
  for (int i = 0; i < kM16; ++i) {
    std::uint32_t hi[4], lo[4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const Split s = split(f.a[i][r]);
      hi[r] = s.hi;
      lo[r] = s.lo;
    }
#pragma unroll
    for (int j = 0; j < kN8; ++j) {
      const std::uint32_t b_hi[2] = {b[j][0].hi, b[j][1].hi};
      const std::uint32_t b_lo[2] = {b[j][0].lo, b[j][1].lo};
      ptx::mma_sync<16, 8, 8, ptx::MmaType::tf32>(acc[i][j], lo, b_hi, acc[i][j]);
      ptx::mma_sync<16, 8, 8, ptx::MmaType::tf32>(acc[i][j], hi, b_lo, acc[i][j]);
      ptx::mma_sync<16, 8, 8, ptx::MmaType::tf32>(acc[i][j], hi, b_hi, acc[i][j]);
    }
  }
}

// Are all elements of the warp's fragments ordinary?
template <int kM16, int kN8>
LK_DEVICE bool all_ordinary(const Fragments<kM16, kN8>& f) {
  bool ordinary = true;
#pragma unroll
  for (int i = 0; i < kM16; ++i) {
#pragma unroll
    for (int r = 0; r < 4; ++r) ordinary &= is_ordinary(f.a[i][r]);
  }
#pragma unroll
  for (int j = 0; j < kN8; ++j) {
#pragma unroll
    for (int r = 0; r < 2; ++r) ordinary &= is_ordinary(f.b[j][r]);
  }
  return ptx::vote_sync_all(ordinary);
}

// acc += A B, one step.
template <Arithmetic kArithmetic, int kM16, int kN8>
LK_DEVICE void multiply(float (&acc)[kM16][kN8][4], Fragments<kM16, kN8>& f) {
  if constexpr (kArithmetic == Arithmetic::tf32x3) {
    if (all_ordinary(f)) {  // both give ordinary values the same bits
      multiply_split<true>(acc, f);
    } else {
      multiply_split<false>(acc, f);
    }
  } else {
    constexpr ptx::MmaType kType = kArithmetic == Arithmetic::bf16   ? ptx::MmaType::bf16
                                   : kArithmetic == Arithmetic::tf32 ? ptx::MmaType::tf32
                                                                     : ptx::MmaType::f16;
    constexpr int kK = kArithmetic == Arithmetic::tf32 ? 8 : 16;
    if constexpr (kArithmetic == Arithmetic::tf32) {  // mma.sync itself would truncate
#pragma unroll
      for (int i = 0; i < kM16; ++i) {
#pragma unroll
        for (int r = 0; r < 4; ++r) f.a[i][r] = ptx::cvt_rna_tf32_f32(bit_cast<float>(f.a[i][r]));
      }
#pragma unroll
      for (int j = 0; j < kN8; ++j) {
#pragma unroll
        for (int r = 0; r < 2; ++r) f.b[j][r] = ptx::cvt_rna_tf32_f32(bit_cast<float>(f.b[j][r]));
      }
    }
#pragma unroll
    for (int i = 0; i < kM16; ++i) {
#pragma unroll
      for (int j = 0; j < kN8; ++j) {
        ptx::mma_sync<16, 8, kK, kType>(acc[i][j], f.a[i], f.b[j], acc[i][j]);
      }
    }
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
