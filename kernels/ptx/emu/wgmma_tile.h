// The arithmetic of one wgmma: 64 x N sums of 32 bytes of K each.
#pragma once

#include <cstdint>

#include "kernels/ptx/emu/mma_model.h"

namespace libkernels::emulator {

inline constexpr int kWgmmaM = 64, kWgmmaMaxN = 256, kWgmmaRowBytes = 32;

// An operand: `rows` of M or N, each 32 bytes of K, decoded as it is filled.
class WgmmaOperand {
 public:
  // bytes: [rows][32]
  void decode(MmaInput type, const unsigned char* bytes, int rows);

  int k() const { return k_; }
  int rows() const { return rows_; }
  // Element k of a row and the power of two of its exponent, as mma_model.h counts it: at least
  // 2^-126, infinite for what is no finite number.
  const float* values(int k) const { return values_[k]; }
  const float* powers(int k) const { return powers_[k]; }
  MmaVector vector(int row) const;
  bool is_zero(int row) const { return zero_[row]; }
  bool is_finite(int row) const { return finite_[row]; }

 private:
  static constexpr int kMaxK = kWgmmaRowBytes;
  MmaInput type_{};
  int k_ = 0, rows_ = 0;
  bool zero_[kWgmmaMaxN], finite_[kWgmmaMaxN];
  alignas(64) float values_[kMaxK][kWgmmaMaxN];        // [k, row]
  alignas(64) float powers_[kMaxK][kWgmmaMaxN];        // [k, row]
  alignas(64) std::uint32_t bits_[kWgmmaMaxN][kMaxK];  // [row, k]
};

// d [64, n] = a b + (add ? d : 0), as mma_model.h sums, but many results at a time.
void wgmma_tile(const MmaNumerics& numerics, const WgmmaOperand& a, const WgmmaOperand& b, bool add,
                float* d);

}  // namespace libkernels::emulator
