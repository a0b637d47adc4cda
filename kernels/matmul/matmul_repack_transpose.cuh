// Matmul on sm90: operands that are transposed on their way to scratch, where wgmma wants K
// adjacent: in all but 16-bit elements.
//
// A CTA takes 128 rows of K, 128 bytes of M or N of each, into shared memory, and writes lines of
// K: whole sectors on both sides. A thread reads one word (1, 2 or 4 elements of M or N) of each
// row of a vector of K, and transposes those in its registers. Chunks of 16 bytes are permuted by
// their row, so that neither the vectors that are written nor the words that are read meet in a
// bank.
#pragma once

#include <type_traits>

#include "kernels/common/divide.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/matmul/matmul_repack_plan.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

// 16 bytes of elements on their way.
template <int kElement>
struct LoadedVector {
  Words<4> lo{}, hi{};
  std::uint32_t shift = 0;  // bytes into {lo, hi}

  LK_DEVICE Words<4> words() const { return funnel(lo, hi, shift); }

  // `count` elements from p on, `step` apart. Of all there is, [begin, end) may be read.
  LK_DEVICE void load(const unsigned char* p, std::int64_t step, int count,
                      const unsigned char* begin, const unsigned char* end) {
    if (step == 1) {
      const std::uint32_t phase = phase_of(p, kRepackVector);
      const unsigned char* aligned = p - phase;
      const bool two = int(phase) + kElement * count > kRepackVector;
      if (aligned >= begin && aligned + (two ? 2 * kRepackVector : kRepackVector) <= end) {
        lo = load_vector<4>(aligned);
        if (two) hi = load_vector<4>(aligned + kRepackVector);
        shift = phase;
        return;
      }
    }
    using Element =
        std::conditional_t<kElement == 1, std::uint8_t,
                           std::conditional_t<kElement == 2, std::uint16_t, std::uint32_t>>;
    constexpr int kPerWord = 4 / kElement;
#pragma unroll
    for (int e = 0; e < kRepackVector / kElement; ++e) {
      const auto* q = reinterpret_cast<const Element*>(p) + e * step;
      const std::uint32_t bits = e < count ? std::uint32_t(ptx::ld_global(q)) : 0u;
      lo.v[e / kPerWord] |= bits << (8 * kElement * (e % kPerWord));
    }
  }
};

// The words of kRows rows to their columns: line j has element j of each.
template <int kElement>
LK_DEVICE void transpose_words(const std::uint32_t (&rows)[kRepackVector / kElement],
                               Words<4> (&lines)[4 / kElement]) {
  if constexpr (kElement == 4) {
    lines[0] = {rows[0], rows[1], rows[2], rows[3]};
  } else {
    static_assert(kElement == 1);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t* r = rows + 4 * i;
      const std::uint32_t low01 = ptx::prmt_b32(r[0], r[1], 0x5140);  // elements 0, 0, 1, 1
      const std::uint32_t low23 = ptx::prmt_b32(r[2], r[3], 0x5140);
      const std::uint32_t high01 = ptx::prmt_b32(r[0], r[1], 0x7362);  // 2, 2, 3, 3
      const std::uint32_t high23 = ptx::prmt_b32(r[2], r[3], 0x7362);
      lines[0].v[i] = ptx::prmt_b32(low01, low23, 0x5410);
      lines[1].v[i] = ptx::prmt_b32(low01, low23, 0x7632);
      lines[2].v[i] = ptx::prmt_b32(high01, high23, 0x5410);
      lines[3].v[i] = ptx::prmt_b32(high01, high23, 0x7632);
    }
  }
}

struct RepackSmem {
  alignas(16) unsigned char rows[kRepackRows][kRepackRow];
};

template <int kElement>
LK_DEVICE void transpose_item(const Repack& r, unsigned char* scratch, std::int64_t item) {
  constexpr int kRowVectors = kRepackRow / kRepackVector;
  constexpr int kRows = kRepackVector / kElement;  // of a vector of K
  constexpr int kVectors = kRepackRows / kRows;    // of K
  const auto place = [](int row, int vector) { return (vector ^ row / kRows) % kRowVectors; };
  auto& s = ptx::dynamic_smem<RepackSmem>();
  const int thread = int(threadIdx.x);
  const std::int64_t across = quotient(item, r.per_line);  // of all matrices
  const std::int64_t k0 = (item - across * r.per_line.divisor) * kRepackRows;
  const std::int64_t matrix = quotient(across, r.per_matrix);
  const std::int64_t line0 = (across - matrix * r.per_matrix.divisor) * (kRepackRow / kElement);

  const auto* base = static_cast<const unsigned char*>(r.from) + matrix * r.batch_stride * kElement;
  LoadedVector<kElement> loaded[kRepackUnroll];
#pragma unroll
  for (int i = 0; i < kRepackUnroll; ++i) {
    const int vector = thread + i * kRepackThreads;
    const std::int64_t k = k0 + vector / kRowVectors;
    const std::int64_t line = line0 + vector % kRowVectors * kRows;
    if (k >= r.length || line >= r.lines) continue;
    const std::int64_t left = r.lines - line;
    const unsigned char* first = base + k * r.step * kElement;
    const unsigned char* begin = r.dense ? base : first;
    const unsigned char* end = begin + r.lines * (r.dense ? r.length : 1) * kElement;
    loaded[i].load(first + line * kElement, 1, left < kRows ? int(left) : kRows, begin, end);
  }
#pragma unroll
  for (int i = 0; i < kRepackUnroll; ++i) {
    const int vector = thread + i * kRepackThreads, row = vector / kRowVectors;
    ptx::st_shared(
        reinterpret_cast<uint4*>(s.rows[row] + place(row, vector % kRowVectors) * kRepackVector),
        bit_cast<uint4>(loaded[i].words()));
  }
  __syncthreads();
  const int word = thread / 8;  // of a row: a warp has a vector of each
#pragma unroll 1
  for (int v = thread % 8; v < kVectors; v += 8) {
    std::uint32_t rows[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const int row = v * kRows + i;
      rows[i] = ptx::ld_shared(reinterpret_cast<const std::uint32_t*>(
          s.rows[row] + place(row, word / 4) * kRepackVector + word % 4 * 4));
    }
    Words<4> lines[4 / kElement];
    transpose_words<kElement>(rows, lines);
    const std::int64_t k = k0 + v * kRows;
#pragma unroll
    for (int j = 0; j < 4 / kElement; ++j) {
      const std::int64_t line = line0 + word * (4 / kElement) + j;
      if (line >= r.lines || k >= r.length) continue;
      store_vector<4>(scratch + r.place + ((matrix * r.lines + line) * r.pitch + k) * kElement,
                      lines[j]);
    }
  }
  __syncthreads();
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
