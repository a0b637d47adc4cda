// The device half of matmul_raster.h.
#pragma once

#include "kernels/common/divide.cuh"
#include "kernels/matmul/matmul_raster.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct TileIndex {
  std::int64_t batch, m, n;  // in tiles
};

LK_DEVICE TileIndex tile_at(std::int64_t index, const Raster& r) {
  const std::int64_t batch = quotient(index, r.per_product);
  index -= batch * r.per_product.divisor;
  const std::int64_t band = quotient(index, r.per_band);
  index -= band * r.per_band.divisor;
  const bool last = (band + 1) * r.band > r.tiles_m;
  const Divider& rows = last ? r.last_band_rows : r.band_rows;
  const std::int64_t n = quotient(index, rows);
  return {batch, band * r.band + index - n * rows.divisor, n};
}

}  // namespace libkernels::inline LK_BACKEND::op::matmul
