// Where the bytes of a tile lie in shared memory: the swizzles that tensor copies write, wgmma and
// tcgen05.mma read, and kernels compute for themselves. Shared by kernels, both backends and tests.
//
// A swizzle permutes the 16-byte chunks of a row W bytes wide by the number of the row, so that
// the same chunk of successive rows falls into different banks. It is a function of the address in
// shared memory, not of the tile: a tile starts on a multiple of swizzle_repeat() bytes, and
// dynamic_smem() is aligned for all of them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND::ptx {

// In the order of CUtensorMapSwizzle. descriptor.cuh has the codes of wgmma, which differ.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };

// W: bytes of one row of the pattern. Without a swizzle a row is one chunk.
__host__ __device__ constexpr std::uint32_t swizzle_width(Swizzle s) { return 16u << int(s); }

// Bytes after which the pattern repeats: 256, 512, 1024; 16 without a swizzle. (A tensor copy wants
// 128 bytes at least.)
__host__ __device__ constexpr std::uint32_t swizzle_repeat(Swizzle s) {
  return s == Swizzle::none ? 16u : 8 * swizzle_width(s);
}

// Where a swizzle stores the byte that lies at `address` without it: chunk bits 4.. of the address
// are flipped by its line bits 7... Its own inverse. `address` counts from any multiple of
// swizzle_repeat(s).
__host__ __device__ constexpr std::uint32_t swizzle(Swizzle s, std::uint32_t address) {
  const std::uint32_t chunk_bits = swizzle_width(s) - 16;  // 0, 0x10, 0x30, 0x70
  return address ^ ((address >> 3) & chunk_bits);
}

// The same for byte `column` of row `row` of a tile [rows][W], from the tile's start.
__host__ __device__ constexpr std::uint32_t swizzle_at(Swizzle s, std::uint32_t row,
                                                       std::uint32_t column) {
  return swizzle(s, row * swizzle_width(s) + column);
}

// ---- The tables of the PTX manual --------------------------------------------------------------

namespace swizzle_checks {

// Chunk c of row r moves to chunk c ^ f(r); the same chunk of eight rows covers all banks once.
constexpr bool moves_chunks(Swizzle s, std::uint32_t row_shift) {
  const std::uint32_t width = swizzle_width(s), chunks = width / 16;
  for (std::uint32_t row = 0; row < 64; ++row) {
    for (std::uint32_t c = 0; c < chunks; ++c) {
      const std::uint32_t moved = c ^ ((row >> row_shift) % chunks);
      const std::uint32_t plain = row * width + c * 16;
      if (swizzle(s, plain + 5) != row * width + moved * 16 + 5) return false;
      if (swizzle(s, swizzle(s, plain)) != plain) return false;
      if (swizzle(s, plain + swizzle_repeat(s)) != swizzle(s, plain) + swizzle_repeat(s)) {
        return false;
      }
    }
  }
  for (std::uint32_t c = 0; c < chunks; ++c) {
    std::uint32_t banks = 0;  // groups of four
    for (std::uint32_t row = 0; row < 8; ++row) {
      banks |= 1u << swizzle_at(s, row, c * 16) / 16 % 8;
    }
    if (banks != 0xff) return false;
  }
  return true;
}

static_assert(moves_chunks(Swizzle::b32, 2) && moves_chunks(Swizzle::b64, 1) &&
              moves_chunks(Swizzle::b128, 0));
static_assert(swizzle(Swizzle::none, 0x3ffff) == 0x3ffff);
static_assert(swizzle(Swizzle::b32, 0x80) == 0x90 && swizzle(Swizzle::b32, 0x100) == 0x100);
static_assert(swizzle(Swizzle::b64, 0x180) == 0x1b0 && swizzle(Swizzle::b64, 0x200) == 0x200);
static_assert(swizzle(Swizzle::b128, 0x380) == 0x3f0 && swizzle(Swizzle::b128, 0x400) == 0x400);
static_assert(swizzle_repeat(Swizzle::b32) == 256 && swizzle_repeat(Swizzle::b64) == 512 &&
              swizzle_repeat(Swizzle::b128) == 1024 && swizzle_repeat(Swizzle::none) == 16);

}  // namespace swizzle_checks

}  // namespace libkernels::inline LK_BACKEND::ptx
