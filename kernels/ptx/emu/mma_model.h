// The sums of tensor cores, bit for bit, as published models describe them.
//
// Source: Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores"
// (arXiv 2511.10909; github.com/microsoft/MMA-Sim), validated there against hardware with
// random inputs; Fasi et al., "Numerical behavior of NVIDIA tensor cores" (2021), found the same
// alignment and truncation before.
//   - Products are exact. A product's exponent is the sum of its factors', not normalised;
//     subnormal factors count with the smallest normal exponent, zeros with -126.
//   - The products of a block of K and the accumulator are aligned to the largest exponent among
//     them, each truncated towards zero to some bits behind the point, and added exactly.
//   - The sum is normalised and truncated towards zero to fp32, subnormals included; beyond the
//     largest fp32 it is inf. A sum of zero is +0.
//   - Blocks follow one another in the order of k, each starting from the last one's fp32.
//   - A NaN, inf * 0 or inf - inf gives 0x7fffffff.
#pragma once

#include <cstdint>

namespace libkernels::emulator {

enum class MmaInput : std::uint8_t { f16, bf16, tf32, e4m3, e5m2 };

struct MmaNumerics {
  int block;          // products that are added at once
  int fraction_bits;  // kept of each, at the largest exponent
  int output_bits;    // kept of the sum behind its leading one
};

// mma.sync with k products a result, on a device of compute capability cc (80, 90, ...).
MmaNumerics mma_sync_numerics(int cc, MmaInput type, int k);

// wgmma, whose sums of fp8 products keep fewer bits than those of mma.sync on the same device.
MmaNumerics wgmma_numerics(MmaInput a);

// A row of A or a column of B, ready to be multiplied.
inline constexpr int kMaxMmaBlock = 32;
struct MmaVector {
  std::int32_t significand[kMaxMmaBlock];  // with the sign
  std::int32_t exponent[kMaxMmaBlock];
  int fraction_bits = 0;  // of each significand, at most
  bool finite = true;

  // From n elements, each in the low bits of its word.
  void decode(MmaInput type, const std::uint32_t* bits, int n);
};

// One block: fp32 bits of sum a[i] b[i] + c over n elements; n is 4, 8, 16 or 32.
std::uint32_t mma_block(const MmaNumerics& numerics, const MmaVector& a, const MmaVector& b, int n,
                        std::uint32_t c);

}  // namespace libkernels::emulator
