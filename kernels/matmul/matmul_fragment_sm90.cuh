// Matmul on sm90: A of 32 bits out of shared memory into the registers of wgmma, which takes it
// from shared memory only if K is adjacent, and as it is.
#pragma once

#include "kernels/matmul/matmul_shape_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// A group's rows. With w its warp, g = l / 4 and q = l % 4, a lane has rows r = 16 w + g and r + 8,
// and of each step of K q and q + 4. Where M is adjacent, lanes of which g is 4 or more load q + 4
// first: so the 32 lanes of a load meet 32 banks.
template <class Cfg>
struct FragmentsA {
  using T = ShapeSm90<Cfg>;
  using Step = std::uint32_t[4];
  static constexpr Major kMajor = T::kConfig.a;

  int at[2][2];  // K: of the row that ldmatrix wants of a lane. M: [load][row, and 8 more]
  bool swapped;

  LK_DEVICE explicit FragmentsA(int group_row) {
    const int lane = int(threadIdx.x) % kWarpThreads;
    const int row = group_row + int(threadIdx.x) / kWarpThreads % kGroupWarps * kWarpRows;
    swapped = lane / 16 != 0;
    if constexpr (kMajor == Major::k) {  // [rows][kStageBytes]
      at[0][0] = place(row + lane % 16, lane / 16 * 16);
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {  // [blocks of kMnBlock rows][K][kStageBytes]
        const int mn = row + lane / 4 + i % 2 * 8;
        const int k = lane % 4 + T::kMmaK / 2 * (i / 2 ^ int(swapped));
        at[i / 2][i % 2] = place(mn / T::kMnBlock * T::kK + k, mn % T::kMnBlock * T::kElement);
      }
    }
  }

  LK_DEVICE void load(const unsigned char* stage, int step, Step& a) const {
    if constexpr (kMajor == Major::k) {
      ptx::ldmatrix<4>(a, stage + (at[0][0] ^ step * kStepBytesSm90));
    } else {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const auto get = [&](int load) {
          return ptx::ld_shared(reinterpret_cast<const std::uint32_t*>(
              stage + at[load][i] + step * T::kMmaK * kStageBytes));
        };
        const std::uint32_t first = get(0), second = get(1);
        a[i] = swapped ? second : first;
        a[i + 2] = swapped ? first : second;
      }
    }
  }

 private:
  static LK_DEVICE int place(int line, int byte) {
    return int(ptx::swizzle_at(ptx::Swizzle::b128, std::uint32_t(line), std::uint32_t(byte)));
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
