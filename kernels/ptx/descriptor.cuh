// How wgmma is told where its operands lie in shared memory. Shared by kernels, both backends and
// tests.
//
// An operand is a tile of M (or N) by 32 bytes of K, in pieces of 8 x 16 bytes or of 8 rows of a
// swizzle. The descriptor names the first byte and two distances between pieces; with es the size
// of an element, T = 16 / es and W = swizzle_width, byte 0 of element (mn, k) lies at
//
//   K-major   none  start + mn / 8 * stride + k / T * leading + mn % 8 * 16 + k % T * es
//   K-major   W     start + mn / 8 * stride + mn % 8 * W + k * es               (leading: ignored)
//   MN-major  none  start + mn / T * stride + k / 8 * leading + k % 8 * 16 + mn % T * es
//   MN-major  W     start + mn es / W * leading + k / 8 * stride + k % 8 * W + mn es % W
//
// after which the swizzle permutes the 16-byte chunks, by the address in shared memory: so the tile
// that `start` points into begins on a multiple of swizzle_repeat.
#pragma once

#include "kernels/ptx/mma_type.cuh"
#include "kernels/ptx/swizzle.cuh"

namespace libkernels::inline LK_BACKEND::ptx {

// Which index of an operand is contiguous: imm-trans-a, imm-trans-b of wgmma.
enum class Major : std::uint8_t { k, mn };

struct MatrixDescriptor {
  std::uint64_t bits;

  // The operand `bytes` further on in shared memory, a multiple of 16: a step along K or MN.
  __host__ __device__ constexpr MatrixDescriptor advanced(std::uint32_t bytes) const {
    return {bits + bytes / 16};
  }
  bool operator==(const MatrixDescriptor&) const = default;
};

// The fields, in bytes. All but the swizzle are multiples of 16.
struct DescriptorFields {
  std::uint32_t start = 0;    // address in shared memory, below 256 KiB
  std::uint32_t leading = 0;  // LBO, below 256 KiB
  std::uint32_t stride = 0;   // SBO, below 256 KiB
  Swizzle swizzle = Swizzle::none;
  std::uint32_t base_offset =
      0;  // 0 to 7; not 0 only if the tile begins amid its swizzle's pattern
};

namespace descriptor_bits {
inline constexpr int kStart = 0, kLeading = 16, kStride = 32, kBaseOffset = 49, kSwizzle = 62;
inline constexpr std::uint64_t kFieldMask = 0x3fff;  // of a number of bytes, by 16
}  // namespace descriptor_bits

// The hardware counts swizzles the other way: 1 is 128 bytes, 3 is 32 bytes.
__host__ __device__ constexpr std::uint64_t descriptor_swizzle(Swizzle s) {
  return (4 - std::uint64_t(s)) % 4;
}

__host__ __device__ constexpr MatrixDescriptor matrix_descriptor(const DescriptorFields& f) {
  using namespace descriptor_bits;
  return {(f.start / 16 & kFieldMask) << kStart | (f.leading / 16 & kFieldMask) << kLeading |
          (f.stride / 16 & kFieldMask) << kStride |
          std::uint64_t(f.base_offset & 7) << kBaseOffset |
          descriptor_swizzle(f.swizzle) << kSwizzle};
}

__host__ __device__ constexpr DescriptorFields descriptor_fields(MatrixDescriptor d) {
  using namespace descriptor_bits;
  const auto bytes = [&](int at) { return std::uint32_t(d.bits >> at & kFieldMask) * 16; };
  return {.start = bytes(kStart),
          .leading = bytes(kLeading),
          .stride = bytes(kStride),
          .swizzle = Swizzle((4 - (d.bits >> kSwizzle)) % 4),
          .base_offset = std::uint32_t(d.bits >> kBaseOffset & 7)};
}

// ---- The usual tiles ---------------------------------------------------------------------------

// A tile [rows][W], as a tensor copy with this swizzle writes it: K contiguous, W bytes of it. A
// step of 32 bytes along K is advanced(32) as long as it stays within the W bytes; 8 rows further
// is advanced(8 W).
__host__ __device__ constexpr DescriptorFields k_major_tile(Swizzle s) {
  return {.stride = 8 * swizzle_width(s), .swizzle = s};
}
// A tile [blocks][depth][W]: M or N contiguous, in blocks of W bytes, `depth` rows of K in each. A
// step of k rows of K is advanced(k W), a block further advanced(depth W).
__host__ __device__ constexpr DescriptorFields mn_major_tile(Swizzle s, std::uint32_t depth) {
  return {.leading = depth * swizzle_width(s), .stride = 8 * swizzle_width(s), .swizzle = s};
}

// ---- Where an element lies ---------------------------------------------------------------------

// The address of element (mn, k) of an operand, as in the table above.
__host__ __device__ constexpr std::uint32_t element_address(const DescriptorFields& f, Major major,
                                                            std::uint32_t es, std::uint32_t mn,
                                                            std::uint32_t k) {
  const std::uint32_t t = 16 / es, w = swizzle_width(f.swizzle);
  const std::uint32_t line = mn * es;  // MN-major
  std::uint32_t at = f.start;
  if (f.swizzle == Swizzle::none) {
    at += major == Major::k ? mn / 8 * f.stride + k / t * f.leading + mn % 8 * 16 + k % t * es
                            : mn / t * f.stride + k / 8 * f.leading + k % 8 * 16 + mn % t * es;
  } else {
    at += major == Major::k ? mn / 8 * f.stride + mn % 8 * w + k * es
                            : line / w * f.leading + k / 8 * f.stride + k % 8 * w + line % w;
  }
  return swizzle(f.swizzle, at);
}

// ---- Bit positions, against values that other libraries build ----------------------------------

namespace descriptor_checks {

// K-major bf16, 128-byte swizzle, at 0x2000: stride 1024.
static_assert(matrix_descriptor({.start = 0x2000, .stride = 1024, .swizzle = Swizzle::b128}).bits ==
              0x4000004000000200u);
static_assert(matrix_descriptor({.start = 0x400, .stride = 512, .swizzle = Swizzle::b64}).bits ==
              0x8000002000000040u);
static_assert(matrix_descriptor({.start = 0x400, .stride = 256, .swizzle = Swizzle::b32}).bits ==
              0xc000001000000040u);
static_assert(matrix_descriptor({.start = 0x3fff0, .leading = 128, .stride = 256}).bits ==
              0x0000001000083fffu);
static_assert(matrix_descriptor({.swizzle = Swizzle::none, .base_offset = 5}).bits ==
              0x000a000000000000u);
static_assert(matrix_descriptor(k_major_tile(Swizzle::b128)).advanced(32).bits ==
              0x4000004000000002u);
static_assert(matrix_descriptor(mn_major_tile(Swizzle::b128, 64)).bits == 0x4000004002000000u);

constexpr bool round_trip(const DescriptorFields& f) {
  const DescriptorFields g = descriptor_fields(matrix_descriptor(f));
  return g.start == f.start && g.leading == f.leading && g.stride == f.stride &&
         g.swizzle == f.swizzle && g.base_offset == f.base_offset;
}
static_assert(round_trip({.start = 0x38c00,
                          .leading = 0x2000,
                          .stride = 0x400,
                          .swizzle = Swizzle::b128,
                          .base_offset = 7}));
static_assert(round_trip({.start = 16, .leading = 32, .stride = 48, .swizzle = Swizzle::b32}));
static_assert(round_trip({.start = 0x3fff0, .swizzle = Swizzle::b64}));

// A tile that a tensor copy wrote: row r, byte c at swizzle_at(s, r, c).
constexpr bool matches_copies(Swizzle s) {
  DescriptorFields f = k_major_tile(s);
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t step = 0; step < swizzle_width(s); step += 32) {
      f.start = step;
      for (std::uint32_t k = 0; k < 16; ++k) {
        if (element_address(f, Major::k, 2, row, k) != swizzle_at(s, row, step + 2 * k)) {
          return false;
        }
      }
    }
  }
  constexpr std::uint32_t kDepth = 16;
  f = mn_major_tile(s, kDepth);
  for (std::uint32_t mn = 0; mn < 64; ++mn) {
    for (std::uint32_t k = 0; k < kDepth; ++k) {
      const std::uint32_t block = 2 * mn / swizzle_width(s);
      if (element_address(f, Major::mn, 2, mn, k) !=
          swizzle_at(s, block * kDepth + k, 2 * mn % swizzle_width(s))) {
        return false;
      }
    }
  }
  return true;
}
static_assert(matches_copies(Swizzle::b32) && matches_copies(Swizzle::b64) &&
              matches_copies(Swizzle::b128));

}  // namespace descriptor_checks

}  // namespace libkernels::inline LK_BACKEND::ptx
