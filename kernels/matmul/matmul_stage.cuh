// Matmul on sm80: how operands lie in a stage of shared memory, and how they get there.
//
// A stage holds kMn x K elements of an operand in rows of the dimension that is adjacent in global
// memory, 16-byte chunks of which are permuted by XOR within their row:
//
//   major k             rows of mn, 64 bytes:   chunk ^ (row / 2) % 4
//                                  128 bytes:   chunk ^ row % 8
//   major mn, 16 bits   rows of k:              chunk ^ row % 8
//   major mn, 32 bits   rows of k:              chunk ^ 2 (row % 4)
//
// so that the eight rows of an ldmatrix (or the eight columns and four rows of a 32-bit fragment)
// meet every bank once, as do the eight lanes that write a row. The emulator counts no conflicts.
#pragma once

#include "kernels/common/fp8.cuh"
#include "kernels/common/reduce.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/matmul/matmul_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

inline constexpr int kChunkBytes = 16;

// One operand of a tile.
template <int kMn_, int kKBytes_, int kElement_, Major kMajor_, int kThreads_>
struct Side {
  static constexpr int kMn = kMn_;            // rows of A or columns of B
  static constexpr int kElement = kElement_;  // bytes, in shared memory
  static constexpr Major kMajor = kMajor_;
  static constexpr int kThreads = kThreads_;
  static constexpr int kK = kKBytes_ / kElement;
  static constexpr int kBytes = kMn * kKBytes_;
  static constexpr int kRowBytes = kMajor == Major::k ? kKBytes_ : kMn * kElement;
  static constexpr int kPerChunk = kChunkBytes / kElement;  // elements
  static constexpr int kRowChunks = kRowBytes / kChunkBytes;
  static constexpr int kRowsAtOnce = kThreads / kRowChunks;  // by all threads, a chunk each
  static constexpr int kPasses = kBytes / kChunkBytes / kThreads;
  static_assert(kThreads % kRowChunks == 0 && kRowsAtOnce % 8 == 0);  // a swizzle's period
  static_assert(kBytes % (kChunkBytes * kThreads) == 0);

  // What is XORed to the chunks of a row, in bytes.
  static LK_DEVICE int swizzle(int row) {
    static_assert(kRowChunks >= 4);
    if constexpr (kMajor == Major::k) {
      return (kRowBytes == 64 ? row / 2 % 4 : row % 8) * kChunkBytes;
    } else {
      return (kElement == 2 ? row % 8 : row % 4 * 2) * kChunkBytes;
    }
  }
  static LK_DEVICE int offset(int row, int chunk) {
    return row * kRowBytes + (chunk * kChunkBytes ^ swizzle(row));
  }
};

// The part of a 64-bit extent that lies in a tile's.
LK_DEVICE int clipped(std::int64_t left, int most) {
  return left < 0 ? 0 : left < most ? int(left) : most;
}

// ---- Asynchronously: 16 aligned bytes a thread and pass -----------------------------------------

template <class S>
struct AsyncCopy {
  const unsigned char* src;  // this thread's chunk of the first pass, in the next stage to come
  std::int64_t pass_stride;  // bytes
  int dst;                   // offset in a stage
  int first;                 // major k: the chunk's first k; mn: its row, a k
  unsigned inside;  // major k: a bit a pass, is its row in the matrix? mn: bytes of a chunk

  // `data` is the operand of this product; the tile starts at mn0 of mn_extent.
  LK_DEVICE void start(const Operand& o, const unsigned char* data, std::int64_t mn0,
                       std::int64_t mn_extent) {
    const int row = int(threadIdx.x) / S::kRowChunks;
    const int chunk = int(threadIdx.x) % S::kRowChunks;
    const std::int64_t mn_bytes = o.mn_stride * S::kElement;
    const std::int64_t k_bytes = o.k_stride * S::kElement;
    const int mn = S::kMajor == Major::k ? row : chunk * S::kPerChunk;
    const int k = S::kMajor == Major::k ? chunk * S::kPerChunk : row;
    src = data + (mn0 + mn) * mn_bytes + k * k_bytes;
    pass_stride = S::kRowsAtOnce * (S::kMajor == Major::k ? mn_bytes : k_bytes);
    dst = S::offset(row, chunk);
    first = k;
    if constexpr (S::kMajor == Major::k) {
      inside = 0;
#pragma unroll
      for (int i = 0; i < S::kPasses; ++i) {
        inside |= unsigned(mn0 + mn + i * S::kRowsAtOnce < mn_extent) << i;
      }
    } else {
      inside = unsigned(clipped(mn_extent - mn0 - mn, S::kPerChunk) * S::kElement);
    }
  }

  // The next stage, of whose K k_left elements exist. Zeros stand for the others. kWhole: all of it
  // exists, and the copies go without a size, which costs six instructions each.
  template <bool kWhole>
  LK_DEVICE void copy(unsigned char* stage, int k_left) {
    const unsigned of_chunk =
        S::kMajor == Major::k ? unsigned(clipped(k_left - first, S::kPerChunk) * S::kElement) : 0u;
#pragma unroll
    for (int i = 0; i < S::kPasses; ++i) {
      unsigned char* to = stage + dst + i * S::kRowsAtOnce * S::kRowBytes;
      const unsigned char* from = src + i * pass_stride;
      if constexpr (kWhole) {
        ptx::cp_async_cg_shared_global(to, from);
      } else if constexpr (S::kMajor == Major::k) {
        ptx::cp_async_cg_shared_global(to, from, (inside >> i & 1u) != 0 ? of_chunk : 0u);
      } else {
        ptx::cp_async_cg_shared_global(to, from, first + i * S::kRowsAtOnce < k_left ? inside : 0u);
      }
    }
    // K is adjacent, or the passes have gone through all K of the stage.
    src += S::kMajor == Major::k ? S::kK * S::kElement : S::kPasses * pass_stride;
  }
};

// ---- Through registers: any strides, any alignment, fp8 -----------------------------------------

// kSource: bytes of an element in global memory. kPlain: the stage is [k][mn] without a swizzle,
// and a chunk out of alignment comes as single elements: two vectors of each would take the
// registers that the fused multiply-adds of such a kernel need more.
template <class S, int kSource, bool kPlain = false>
struct StagedCopy {
  static constexpr int kWords = S::kPerChunk * kSource / 4;  // of a chunk in global memory
  static constexpr int kVector = 4 * kWords;                 // bytes
  using Element =
      std::conditional_t<kSource == 1, std::uint8_t,
                         std::conditional_t<kSource == 2, std::uint16_t, std::uint32_t>>;

  Words<kWords> lo[S::kPasses], hi[S::kPasses];  // kPlain: lo alone
  std::uint32_t shift[S::kPasses];               // bytes into {lo, hi}

  // Where pass i of this thread is. A plain stage wants neighbouring mn in neighbouring lanes.
  static LK_DEVICE int row_of(int i) {
    const int id = int(threadIdx.x) + i * S::kThreads;
    return kPlain && S::kMajor == Major::k ? id % S::kMn : id / S::kRowChunks;
  }
  static LK_DEVICE int chunk_of(int i) {
    const int id = int(threadIdx.x) + i * S::kThreads;
    return kPlain && S::kMajor == Major::k ? id / S::kMn : id % S::kRowChunks;
  }

  LK_DEVICE void load(const Operand& o, const unsigned char* data, std::int64_t mn0,
                      std::int64_t mn_extent, std::int64_t k0, std::int64_t k_extent) {
    const std::int64_t run_extent = S::kMajor == Major::k ? k_extent : mn_extent;
    const std::int64_t step = S::kMajor == Major::k ? o.k_stride : o.mn_stride;  // within a run
    const std::int64_t row_step = S::kMajor == Major::k ? o.mn_stride : o.k_stride;
#pragma unroll
    for (int i = 0; i < S::kPasses; ++i) {
      const std::int64_t row = (S::kMajor == Major::k ? mn0 : k0) + row_of(i);
      const std::int64_t at = (S::kMajor == Major::k ? k0 : mn0) + chunk_of(i) * S::kPerChunk;
      const bool inside = row < (S::kMajor == Major::k ? mn_extent : k_extent);
      const int count = inside ? clipped(run_extent - at, S::kPerChunk) : 0;
      load_chunk(i, data + (row * row_step + at * step) * kSource, step, at, run_extent, count,
                 o.unit);
    }
  }

  // Chunk `at` .. of a run, `count` of its elements exist.
  LK_DEVICE void load_chunk(int i, const unsigned char* p, std::int64_t step, std::int64_t at,
                            std::int64_t extent, int count, bool unit) {
    const std::uint32_t phase = phase_of(p, kVector);
    lo[i] = hi[i] = Words<kWords>{};
    shift[i] = 0;
    if (unit && count == S::kPerChunk) {
      const bool realigns =
          !kPlain && at * kSource >= phase && (extent - at) * kSource + phase >= 2 * kVector;
      if (phase == 0 || realigns) {
        lo[i] = load_vector<kWords>(p - phase);
        if (phase != 0) hi[i] = load_vector<kWords>(p - phase + kVector);
        shift[i] = phase;
        return;
      }
    }
#pragma unroll
    for (int e = 0; e < S::kPerChunk; ++e) {
      const auto* q = reinterpret_cast<const Element*>(p) + e * step;
      const std::uint32_t bits = e < count ? std::uint32_t(ptx::ld_global(q)) : 0u;
      lo[i].v[e * kSource / 4] |= bits << (8 * (e * kSource % 4));
    }
  }

  LK_DEVICE void store(unsigned char* stage, DType type) const {
#pragma unroll
    for (int i = 0; i < S::kPasses; ++i) {
      Words<kWords> words = lo[i];
      if constexpr (!kPlain) words = funnel(lo[i], hi[i], shift[i]);
      if constexpr (kPlain && S::kMajor == Major::k) {
        auto* to = reinterpret_cast<std::uint32_t*>(stage) + row_of(i);  // [kK][kMn]
#pragma unroll
        for (int e = 0; e < S::kPerChunk; ++e) {
          ptx::st_shared(to + (chunk_of(i) * S::kPerChunk + e) * S::kMn, words.v[e]);
        }
      } else {
        const int offset = kPlain ? row_of(i) * S::kRowBytes + chunk_of(i) * kChunkBytes
                                  : S::offset(row_of(i), chunk_of(i));
        ptx::st_shared(reinterpret_cast<uint4*>(stage + offset), converted(words, type));
      }
    }
  }

  static LK_DEVICE uint4 converted(const Words<kWords>& words, DType type) {
    if constexpr (kSource == 1) {
      std::uint32_t low[2], high[2];
      if (type == DType::f8_e4m3) {
        decode_e4m3x4(words.v[0], low);
        decode_e4m3x4(words.v[1], high);
      } else {
        decode_e5m2x4(words.v[0], low);
        decode_e5m2x4(words.v[1], high);
      }
      return make_uint4(low[0], low[1], high[0], high[1]);
    } else {
      return bit_cast<uint4>(words);
    }
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::matmul
