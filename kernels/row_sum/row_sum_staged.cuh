// Row-sum over ragged rows that lie close to each other: out of shared memory, into which a warp
// copies as many as a tile holds, however they are aligned. A lane a row, or as many as it takes to
// have 64 words each. The trees are those of row_sum_lanes.
#pragma once

#include "kernels/row_sum/row_sum_unit.cuh"

namespace libkernels::inline LK_BACKEND::op::row_sum {

struct StagedConfig {
  DType x_type;
  int vectors;  // of the tree
  int lanes;    // of a row
  int tile_bytes;
  int threads, ctas_per_sm;
  bool pdl;
};

template <class Cfg>
struct StagedSmem {
  alignas(16) unsigned char tiles[Cfg::value.threads / kWarpThreads][Cfg::value.tile_bytes];
};

// The aligned vectors that hold [begin, end) into the tile, by a warp.
template <class In, int kTileBytes>
LK_DEVICE void stage(const Params& p, const unsigned char* begin, const unsigned char* end,
                     unsigned char* tile) {
  constexpr int kStep = kWarpThreads * kVectorBytes;
  constexpr int kLoads = kTileBytes / kStep;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const unsigned char* from = vector_of(begin);
  const int skipped = int(begin - from);
  const int bytes = int(end - from);
  if constexpr (kLoads > 8) {  // too many to be in registers
    int first = lane * kVectorBytes;
    if (lane == 0 && from < p.safe) {  // the view begins within this vector
      const Vector v = load_elements<In>({from, skipped, bytes});
      ptx::st_shared(reinterpret_cast<uint4*>(tile), bit_cast<uint4>(v));
      first += kStep;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = first + i * kStep;
      const int left = bytes - at < kVectorBytes ? bytes - at : kVectorBytes;
      if (left > 0) ptx::cp_async_cg_shared_global(tile + at, from + at, std::uint32_t(left));
    }
    ptx::cp_async_wait_all();
  } else {
    const auto piece = [&](int i) {
      const int at = i * kStep + lane * kVectorBytes;
      return Piece{from + at, skipped - at, bytes - at};
    };
    Vector w[kLoads];
    load_pieces<In, true>(p, rows_in_view(p, begin, end), piece, w);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * kStep + lane * kVectorBytes;
      if (at < bytes) ptx::st_shared(reinterpret_cast<uint4*>(tile + at), bit_cast<uint4>(w[i]));
    }
  }
  __syncwarp();
}

// A row in shared memory, as one of its lanes sees it: word m of the lane is word m * kLanes of
// these. A row that begins with the upper half of a word has its columns there and in the words
// that follow, which is a rotation of them: should it be one word too long, then what is in the
// last one belongs into the first.
template <class In, int kLanes>
struct StagedRow {
  const std::uint32_t* words;
  int lane;  // of the row
  int last;  // word of the row, and what it has of it
  std::uint32_t last_mask;
  bool upper;  // begins with the upper half of a word

  LK_DEVICE StagedRow(const unsigned char* x, int cols, int lane_of_row) : lane(lane_of_row) {
    const int skipped = In::kPerWord == 1 ? 0 : int(phase_of(x, 4)) / 2;  // elements
    words = reinterpret_cast<const std::uint32_t*>(x - 2 * skipped) + lane;
    last = (cols - 1 + skipped) / In::kPerWord;
    last_mask = first_bits(32 / In::kPerWord * (cols + skipped - last * In::kPerWord));
    upper = skipped != 0;
  }
};

// Words 4 kSlot to 4 kSlot + 3 of the lane. In the lower half of the tree all of them are there.
template <class In, int kSlots, int kLanes, int kSlot>
LK_DEVICE Vector load_slot(const StagedRow<In, kLanes>& row, int full) {
  Vector v;
  if (kSlot < kSlots / 2 || kSlot < full) {
#pragma unroll
    for (int i = 0; i < kVectorWords; ++i) {
      v.v[i] = ptx::ld_shared(row.words + (kVectorWords * kSlot + i) * kLanes);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kVectorWords; ++i) {
      const int word = (kVectorWords * kSlot + i) * kLanes + row.lane;
      v.v[i] = word <= row.last ? ptx::ld_shared(row.words + word - row.lane) : 0u;
      if (In::kPerWord == 2 && word == row.last) v.v[i] &= row.last_mask;
    }
  }
  if constexpr (In::kPerWord == 2 && kSlot == 0) {
    constexpr int kWords = kSlots * kVectorWords * kLanes;
    if (row.upper && row.lane == 0) {
      v.v[0] &= 0xffff0000u;
      if (row.last == kWords) v.v[0] |= ptx::ld_shared(row.words + kWords) & row.last_mask;
    }
  }
  return v;
}

template <class In>
struct SlotSums {
  float v[kItems<In>];
};
// Of slots kFirst, kFirst + kStep, ... The first `full` are whole, those from `count` on are not
// there.
template <class In, int kSlots, int kLanes, int kFirst = 0, int kStep = 1>
LK_DEVICE SlotSums<In> sum_slots(const StagedRow<In, kLanes>& row, int full, int count) {
  SlotSums<In> sums;
  if constexpr (kStep >= kSlots) {
    unpack<In>(load_slot<In, kSlots, kLanes, kFirst>(row, full), sums.v);
  } else {
    sums = sum_slots<In, kSlots, kLanes, kFirst, 2 * kStep>(row, full, count);
    if (kFirst + kStep < kSlots / 2 || kFirst + kStep < count) {
      const auto more = sum_slots<In, kSlots, kLanes, kFirst + kStep, 2 * kStep>(row, full, count);
#pragma unroll
      for (int i = 0; i < kItems<In>; ++i) sums.v[i] = sums.v[i] + more.v[i];
    }
  }
  return sums;
}

// A row's lanes all execute it and get the sum.
template <class In, int kVectors, int kLanes>
LK_DEVICE float sum_staged(const unsigned char* x, int cols, int lane) {
  const StagedRow<In, kLanes> row(x, cols, lane);
  constexpr int kSlotWords = kVectorWords * kLanes;
  const int full = (cols - 1) / In::kPerWord / kSlotWords;  // at least, whatever the alignment
  const int count = (cols - 2 + In::kPerWord) / In::kPerWord / kSlotWords + 1;
  SlotSums<In> sums = sum_slots<In, kVectors / kLanes, kLanes>(row, full, count);
#pragma unroll
  for (int half = kItems<In> / 2; half >= In::kPerWord; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) sums.v[i] = sums.v[i] + sums.v[i + half];
  }
#pragma unroll
  for (int i = 0; i < In::kPerWord; ++i) sums.v[i] = reduce_lanes<Sum, kLanes>(sums.v[i]);
  return In::kPerWord == 1 ? sums.v[0] : sums.v[0] + sums.v[1];
}

template <class Cfg>
__global__ void __launch_bounds__(Cfg::value.threads, Cfg::value.ctas_per_sm)
    row_sum_staged(Params p) {
  using In = Storage<Cfg::value.x_type>;
  constexpr int kBytes = int(sizeof(typename In::Element));
  constexpr int kWarps = Cfg::value.threads / kWarpThreads;
  constexpr int kLanes = Cfg::value.lanes;
  auto& smem = ptx::dynamic_smem<StagedSmem<Cfg>>();
  const int warp = int(threadIdx.x) / kWarpThreads;
  const int lane = int(threadIdx.x) % kWarpThreads;
  const int row_bytes = int(p.cols) * kBytes;
  const int pitch = int(p.x_row_stride) * kBytes;
  unsigned char* tile = smem.tiles[warp];
  await_prerequisites<Cfg::value.pdl>(p);
  for (std::int64_t i = blockIdx.x; i < p.items; i += gridDim.x) {
    const std::int64_t first = (i * kWarps + warp) * p.tile_rows;
    const std::int64_t left = p.rows - first;
    const int rows = left < p.tile_rows ? int(left) : p.tile_rows;
    if (rows <= 0) break;
    const auto* begin = static_cast<const unsigned char*>(p.x) + first * pitch;
    stage<In, Cfg::value.tile_bytes>(p, begin, begin + (rows - 1) * pitch + row_bytes, tile);
    const unsigned char* x = tile + phase_of(begin, kVectorBytes);
#pragma unroll 1
    for (int base = 0; base < rows; base += kWarpThreads / kLanes) {
      const int r = base + lane / kLanes;
      const float sum = sum_staged<In, Cfg::value.vectors, kLanes>(x + (r < rows ? r : 0) * pitch,
                                                                   int(p.cols), lane % kLanes);
      if (r < rows && lane % kLanes == 0) store_sum(p, first + r, sum);
    }
    __syncwarp();
  }
}

}  // namespace libkernels::inline LK_BACKEND::op::row_sum
