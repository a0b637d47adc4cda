// Softmax of views without unit column stride: kTileRows rows a CTA, kTileSlots threads a row.
//
// Slot s of a row sums the columns s, s + kTileSlots, ...; the slots are then combined in one
// order. Which thread is which slot of which row is free, and follows the strides of x.
#pragma once

#include "kernels/softmax/softmax_math.cuh"

namespace libkernels::inline LK_BACKEND::op::softmax {

// Values of the tile's slots on their way to the rows' results.
struct TileSmem {
  float of_slot[kTileRows][kTileSlots + 1];  // the last column keeps banks apart
  float of_row[kTileRows];
};

// This thread's row and slot in the tile.
struct TilePlace {
  int row, slot;
};

LK_DEVICE TilePlace tile_place(const Params& p) {
  const int a = int(threadIdx.x) % kWarpThreads, b = int(threadIdx.x) / kWarpThreads;
  return p.down ? TilePlace{.row = a, .slot = b} : TilePlace{.row = b, .slot = a};
}

// Over the slots of each row; all threads of the row get its value.
template <class Op>
LK_DEVICE float reduce_slots(float v, TileSmem& smem, const TilePlace& place) {
  smem.of_slot[place.row][place.slot] = v;
  __syncthreads();
  const int lane = int(threadIdx.x) % kWarpThreads, warp = int(threadIdx.x) / kWarpThreads;
  const float all = reduce_lanes<Op, kTileSlots>(smem.of_slot[warp][lane]);
  if (lane == 0) smem.of_row[warp] = all;
  __syncthreads();
  return smem.of_row[place.row];
}

// One row's columns [begin, end), of which a slot visits every kTileSlots-th.
template <class Cfg>
struct StridedRow {
  using In = Storage<Cfg::value.x_type>;
  using Out = Storage<Cfg::value.y_type>;

  const Params& p;
  const typename In::Element* x;
  typename Out::Element* y;
  std::int64_t begin, end;  // begin: of this slot

  LK_DEVICE StridedRow(const Params& params, std::int64_t r, std::int64_t chunk, int slot)
      : p(params) {
    x = static_cast<const typename In::Element*>(p.x) + r * p.x_row_stride;
    y = static_cast<typename Out::Element*>(p.y) + r * p.y_row_stride;
    begin = chunk * p.chunk_cols + slot;
    end = (chunk + 1) * p.chunk_cols;
    if (end > p.cols) end = p.cols;
    if (r >= p.rows) end = begin;  // a tile beyond the last row
  }
  LK_DEVICE float value(std::int64_t c) const {
    return In::decode(ptx::ld_global(x + c * p.x_col_stride)) * p.exponent.turn;
  }
  LK_DEVICE float most() const {
    float m = kMinusInfinity;
    for (std::int64_t c = begin; c < end; c += kTileSlots) m = ptx::max_NaN_f32(m, value(c));
    return m;
  }
  LK_DEVICE float sum(float subtrahend) const {
    LongSum s;
    for (std::int64_t c = begin; c < end; c += kTileSlots) {
      s.add(
          exponential<Cfg::value.y_type>(difference(value(c), subtrahend, p.exponent), p.exponent));
    }
    return s.value();
  }
  LK_DEVICE void store(float subtrahend, const Norm& norm) const {
    for (std::int64_t c = begin; c < end; c += kTileSlots) {
      const float d = difference(value(c), subtrahend, p.exponent);
      const float v = p.log ? d : exponential<Cfg::value.y_type>(d, p.exponent);
      ptx::st_global(y + c * p.y_col_stride, Out::encode(norm(v)));
    }
  }
};

}  // namespace libkernels::inline LK_BACKEND::op::softmax
