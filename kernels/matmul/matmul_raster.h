// In which order the tiles of C are computed: bands of some tiles of M, and within a band column by
// column, so that the tiles in flight at one time share few rows of A and columns of B, which the
// L2 then holds. Host half; matmul_raster.cuh has the device's.
#pragma once

#include <cstdint>

#include "kernels/common/divide.h"

namespace libkernels::inline LK_BACKEND::op::matmul {

struct Raster {
  std::int64_t tiles;  // in all, the batch included
  std::int64_t tiles_m, tiles_n;
  std::int64_t band;       // tiles of M in a band; the last band of a product may have fewer
  Divider per_product;     // tiles of one product
  Divider per_band;        // tiles of a full band
  Divider band_rows;       // band
  Divider last_band_rows;  // those of the last one
};

Raster make_raster(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch,
                   std::int64_t band);

}  // namespace libkernels::inline LK_BACKEND::op::matmul
