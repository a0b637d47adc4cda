// Row-sum over rows of up to 512 vectors, without shared memory: groups of lanes take several rows
// each, or a warp one.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

// Groups of lanes within a warp, a row each, in several rows at once; consecutive groups have
// consecutive rows. A row that begins within a vector may touch one more than its lanes have: the
// elements of that one and of the first fill a single vector.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    row_sum_lanes(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr bool kWhole = Cfg::value.whole;
  constexpr int kLanes = Cfg::value.lanes;
  constexpr int kRows = Cfg::value.rows;
  constexpr int kVectors = Cfg::value.vectors;
  constexpr int kLoads = kVectors + (kWhole ? 0 : 1);  // of a row
  constexpr int kGroups = kWarpThreads / kLanes;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kRoundBytes = kLanes * kVectorBytes;
  constexpr int kWarps = Cfg::value.threads / kWarpThreads;
  constexpr int kTileRows = kGroups * kRows;  // of a warp

  const int warp = int(threadIdx.x) / kWarpThreads;
  const int group = int(threadIdx.x) % kWarpThreads / kLanes;
  const int lane = int(threadIdx.x) % kLanes;
  const int row_bytes = int(p.cols) * kBytes;  // short rows: at most 8 KiB
  const std::int64_t pitch = p.x_row_stride * kBytes;
  const std::int64_t step = pitch * kGroups;

  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t i = blockIdx.x; i < p.items; i += gridDim.x) {
    const std::int64_t first = (i * kWarps + warp) * kTileRows + group;
    const std::int64_t left = p.rows - first;
    const int rows = left < kTileRows ? int(left) : kTileRows;               // 0 or less: none
    const auto* x = static_cast<const unsigned char*>(p.x) + first * pitch;  // [rows, cols]
    // Vector i % kLoads of the lane's in row i / kLoads of the group's.
    const auto piece = [&](int i) {
      const int s = i / kLoads;
      const unsigned char* begin = x + s * step;
      const int phase = kWhole ? 0 : int(phase_of(begin, kVectorBytes));
      const int at = i % kLoads * kRoundBytes + lane * kVectorBytes;
      const int end = s * kGroups < rows ? phase + row_bytes : 0;
      return Piece{vector_of(begin + lane * kVectorBytes) + i % kLoads * kRoundBytes, phase - at,
                   end - at};
    };
    Vector w[kRows * kLoads];
    const bool inside = kWhole || rows_in_view(p, x, x + (kRows - 1) * step + row_bytes);
    load_pieces<In, Cfg::value.once>(p, inside, piece, w);

    float sums[kItems<In> * kRows];
#pragma unroll
    for (int s = 0; s < kRows; ++s) {
      Vector v[kVectors];
#pragma unroll
      for (int u = 0; u < kVectors; ++u) {
        const int i = s * kLoads + u;
        v[u] = w[i];
        if (!kWhole && (u + 1) * kRoundBytes > row_bytes) v[u] = masked_from(w[i], piece(i).to);
      }
      if constexpr (!kWhole) {
        const int last = s * kLoads + kVectors;
        v[0] = merged(masked_below(v[0], piece(s * kLoads).from),
                      masked_from(w[last], piece(last).to));
      }
      add_vectors<In>(v, sums + s, kRows);
    }
    reduce_rows<kLanes, kRows>(sums, lane);
    constexpr int kSpares = kLanes > kRows ? kLanes / kRows : 1;  // lanes with the same sums
    if (lane % kSpares == 0) {
      const int r = kept_sum<kLanes, kRows>(lane, 0) * kGroups;
      const std::int64_t at = (first + r) * p.y_stride;
      constexpr int kNext = kLanes * kGroups;
#pragma unroll
      for (int i = 0; i < kept_sums<kLanes, kRows>; ++i) {
        if (r + i * kNext < rows) store_sum_at(p, at + i * (kNext * p.y_stride), sums[i]);
      }
    }
  }
}

// A warp a row of whole vectors. Straight, and the first load comes early: a small grid waits for
// its instructions as well as for its data.
template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    row_sum_row(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kVectors = Cfg::value.vectors;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kWarps = Cfg::value.threads / kWarpThreads;
  constexpr int kRoundBytes = kWarpThreads * kVectorBytes;
  const int lane = int(threadIdx.x) % kWarpThreads;
  std::int64_t r = std::int64_t(blockIdx.x) * kWarps + threadIdx.x / kWarpThreads;
  if (r >= p.rows) return;
  await_prerequisites<Cfg::value.pdl>(p);
  const int left = int(p.cols) * kBytes - lane * kVectorBytes;  // of a row, from this lane's on
  do {
    const auto* x =
        static_cast<const unsigned char*>(p.x) + r * p.x_row_stride * kBytes + lane * kVectorBytes;
    Vector w[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      w[i] = Vector{};
      // More than half of the vectors of a tree are there.
      if (i < kVectors / 2 || i * kRoundBytes < left) w[i] = load_once<true>(x + i * kRoundBytes);
    }
    float sums[kItems<In>];
    add_vectors<In>(w, sums, 1);
    reduce_rows<kWarpThreads, 1>(sums, lane);
    if (lane == 0) store_sum(p, r, sums[0]);
    r += std::int64_t(gridDim.x) * kWarps;
  } while (r < p.rows);
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
