// Matmul on sm90: from the sums of wgmma to 16-bit C whose rows begin and end anywhere.
//
// A warp stages eight whole rows of its group's part of the tile in its shared memory, then stores
// them a row after the other, so that all lanes have one alignment to make up for: the aligned 16
// bytes of C are a funnel shift away from two neighbouring vectors of the staged row. Products
// alone, with C odd and aligned: 1793^3 24.9 and 23.2 us, 4095^3 212 and 199 (H200, 2026-12-01).
#pragma once

#include "kernels/common/vector.cuh"
#include "kernels/matmul/matmul_bias_sm90.cuh"

namespace libkernels::inline LK_BACKEND::op::matmul {

// Eight rows of a group's part of C in its warp's shared memory, [8][kGroupN] of 16 bits, each
// chunk of 16 bytes where neither stmatrix nor a row's loads meet in a bank.
template <int kCols>
struct Rows {
  static constexpr int kRows = 8, kVector = 8, kChunk = 16;
  static constexpr int kVectors = kCols / kVector;  // of a row
  static constexpr bool kSwizzled = kVectors % 8 == 0;
  static constexpr int kPitch = kCols * 2 + (kSwizzled ? 0 : kChunk);
  static_assert(kRows * kPitch <= kWarpStaging && kVectors % 2 == 0);
  // Lanes of a row when it is stored, and rows that a warp stores at once.
  static constexpr int kLanes = kVectors <= 8 ? 8 : kVectors <= 16 ? 16 : 32;
  static constexpr int kAtOnce = kWarpThreads / kLanes;

  static LK_DEVICE int offset(int row, int vector) {
    return row * kPitch + (kSwizzled ? vector ^ row : vector) * kChunk;
  }
  // Of the vector `more`, a multiple of 4, to the right of one of the first four.
  static LK_DEVICE int right_of(int offset, int more) {
    return kSwizzled ? (offset ^ more % 8 * kChunk) + more / 8 * 8 * kChunk
                     : offset + more * kChunk;
  }
};

// Rows `half` * 8 + l / 4 of each 16, rounded and clamped, into the warp's shared memory.
template <class Cfg>
LK_DEVICE void stage_rows(const Epilogue& e, unsigned char* staged, const BiasSm90<Cfg>& bias,
                          float scale, int i64, int half,
                          const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
  using R = Rows<T::kGroupN>;
  constexpr Arithmetic kArithmetic = Cfg::value.arithmetic;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const float* columns = bias.columns + lane % 4 * 2;
  // stmatrix wants of each lane where a row goes: rows 0-7 of each of four vectors.
  const int to = R::offset(lane % 8, lane / 8);
#pragma unroll
  for (int first = 0; first < R::kVectors; first += 4) {
    std::uint32_t w[4] = {};
#pragma unroll
    for (int j = 0; j < 4 && first + j < R::kVectors; ++j) {
      const float* of = sums[i64] + (first + j) * 4 + half * 2;
      float x = of[0] * scale, y = of[1] * scale;
      if (e.bias_on_rows) {
        x += bias.rows[2 * i64 + half];
        y += bias.rows[2 * i64 + half];
      } else {
        const uint2 b = ptx::ld_shared(reinterpret_cast<const uint2*>(columns + (first + j) * 8));
        x += bit_cast<float>(b.x);
        y += bit_cast<float>(b.y);
      }
      w[j] = pack_half<kArithmetic>(x, y, e.type);
      if (e.activation == Activation::relu) w[j] = relu_half<kArithmetic>(w[j], e.type);
    }
    unsigned char* const at = staged + R::right_of(to, first);
    if (first + 4 <= R::kVectors) {
      ptx::stmatrix<4>(at, w);
    } else {
      const std::uint32_t two[2] = {w[0], w[1]};
      ptx::stmatrix<2>(at, two);
    }
  }
}

// Staged rows to C: aligned vectors, each out of the two that hold it; the up to seven elements
// before the first and behind the last of a row one by one, an element a lane.
template <int kCols>
LK_DEVICE void store_staged_rows(const Epilogue& e, const unsigned char* staged, int batch,
                                 int row0, int col0) {
  using R = Rows<kCols>;
  constexpr int kSteps = R::kRows / R::kAtOnce, kGroup = 4 < kSteps ? 4 : kSteps;
  constexpr int kEnds = R::kLanes < 2 * R::kVector ? 2 : 1;  // elements of a lane
  const int lane = int(threadIdx.x) % kWarpThreads, vector = lane % R::kLanes;
  const int row = lane / R::kLanes;
  const std::int64_t columns = e.cols - col0;
  const int end = columns < kCols ? int(columns) : kCols;
  auto* c = static_cast<std::uint16_t*>(e.c) + batch * e.batch_stride +
            (row0 + row) * e.row_stride + col0;
#pragma unroll 1  // else addresses are made before the loop over K, and spilled
  for (int first = row; first < R::kRows; first += kGroup * R::kAtOnce) {
    Words<4> own[kGroup], right[kGroup];
    int head[kGroup], column[kGroup][kEnds];
    std::uint16_t element[kGroup][kEnds];
#pragma unroll
    for (int i = 0; i < kGroup; ++i) {
      const int r = first + i * R::kAtOnce;
      const auto load = [&](int v) {
        return bit_cast<Words<4>>(
            ptx::ld_shared(reinterpret_cast<const uint4*>(staged + R::offset(r, v))));
      };
      const int v = vector < R::kVectors ? vector : 0;
      own[i] = load(v);
      right[i] = load(v + 1 < R::kVectors ? v + 1 : 0);
      head[i] =
          int(R::kChunk - phase_of(c + i * R::kAtOnce * e.row_stride, R::kChunk)) % R::kChunk / 2;
#pragma unroll
      for (int j = 0; j < kEnds; ++j) {
        const int s = vector + j * R::kLanes;
        const int tail = head[i] + (end - head[i]) / R::kVector * R::kVector + s - R::kVector;
        const bool mine = row0 + r < e.rows && (s < R::kVector ? s < head[i] && s < end
                                                               : s < 2 * R::kVector && tail < end);
        const int at = s < R::kVector ? s : tail;
        column[i][j] = mine && at >= 0 ? at : -1;
        element[i][j] = 0;
        if (column[i][j] < 0) continue;
        element[i][j] = ptx::ld_shared(reinterpret_cast<const std::uint16_t*>(
            staged + R::offset(r, at / R::kVector) + at % R::kVector * 2));
      }
    }
#pragma unroll
    for (int i = 0; i < kGroup; ++i, c += R::kAtOnce * e.row_stride) {
      const int at = vector * R::kVector + head[i];
      if (row0 + first + i * R::kAtOnce < e.rows && at + R::kVector <= end) {
        store_vector<4>(c + at, funnel(own[i], right[i], std::uint32_t(2 * head[i])));
      }
#pragma unroll
      for (int j = 0; j < kEnds; ++j) {
        if (column[i][j] >= 0) ptx::st_global(c + column[i][j], element[i][j]);
      }
    }
  }
}

template <class Cfg>
LK_DEVICE void store_rows(const Epilogue& e, unsigned char* staged, const BiasSm90<Cfg>& bias,
                          float scale, int batch, int row0, int col0,
                          const typename ShapeSm90<Cfg>::Sums& sums) {
  using T = ShapeSm90<Cfg>;
#pragma unroll
  for (int i = 0; i < 2 * T::kM64; ++i) {
    stage_rows<Cfg>(e, staged, bias, scale, i / 2, i % 2, sums);
    __syncwarp();
    store_staged_rows<T::kGroupN>(e, staged, batch, row0 + i / 2 * kWgmmaM + i % 2 * 8, col0);
    __syncwarp();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
