// Which output tile comes when, in a persistent grid. Pure arithmetic, for the host as well.
//
// Tiles that run at the same time should share rows of A and columns of B, which then come from L2.
// So the grid of tiles is cut into bands of `band` tile rows, and a band is walked column by column:
// w tiles in flight touch about `band` tile rows and w / band tile columns.
#pragma once

#include <cuda_runtime.h>

#include "kernels/ptx/backend.h"

namespace libkernels::inline LK_BACKEND {

struct TileRaster {
  int tiles_m = 1, tiles_n = 1;  // of one matrix
  int batch = 1;
  int band = 1;            // tiles, at least 1
  bool bands_of_m = true;  // else bands of tile columns, walked row by row
};

struct Tile {
  int m = 0, n = 0, batch = 0;
  bool operator==(const Tile&) const = default;
};

__host__ __device__ constexpr int tile_count(const TileRaster& r) {
  return r.tiles_m * r.tiles_n * r.batch;
}

// Tile `index` of tile_count: each comes once. The last band may be narrower.
__host__ __device__ constexpr Tile tile_at(const TileRaster& r, int index) {
  const int across = r.bands_of_m ? r.tiles_m : r.tiles_n;  // what is cut into bands
  const int along = r.bands_of_m ? r.tiles_n : r.tiles_m;
  const int in_matrix = index % (across * along);
  const int first = in_matrix / (r.band * along) * r.band;  // of the band
  const int width = across - first < r.band ? across - first : r.band;
  const int in_band = in_matrix - first * along;
  const int a = first + in_band % width, b = in_band / width;
  return {r.bands_of_m ? a : b, r.bands_of_m ? b : a, index / (across * along)};
}

// A worker (a CTA, or a cluster) takes every workers-th tile:
//   for (TileScheduler tiles(raster, worker, workers); tiles.valid(); tiles.advance())
class TileScheduler {
 public:
  __host__ __device__ constexpr TileScheduler(const TileRaster& raster, int worker, int workers)
      : raster_(raster), index_(worker), step_(workers), count_(tile_count(raster)) {}

  __host__ __device__ constexpr bool valid() const { return index_ < count_; }
  __host__ __device__ constexpr Tile tile() const { return tile_at(raster_, index_); }
  __host__ __device__ constexpr void advance() { index_ += step_; }

 private:
  TileRaster raster_;
  int index_, step_, count_;
};

// The band that makes `in_flight` tiles touch the fewest bytes: tile rows cost bytes_m each, tile
// columns bytes_n.
constexpr TileRaster choose_raster(int tiles_m, int tiles_n, int batch, int in_flight,
                                   double bytes_m, double bytes_n) {
  TileRaster best{tiles_m, tiles_n, batch, 1, true};
  double fewest = -1;
  for (const bool bands_of_m : {true, false}) {
    const int across = bands_of_m ? tiles_m : tiles_n, along = bands_of_m ? tiles_n : tiles_m;
    for (int band = 1; band <= across && band <= in_flight; ++band) {
      const int bands = (in_flight + band * along - 1) / (band * along);
      const int touched_across = band * bands < across ? band * bands : across;
      const int lines = (in_flight + band - 1) / band;
      const int touched_along = lines < along ? lines : along;
      const double cost = touched_across * (bands_of_m ? bytes_m : bytes_n) +
                          touched_along * (bands_of_m ? bytes_n : bytes_m);
      if (fewest >= 0 && cost >= fewest) continue;
      fewest = cost;
      best.band = band;
      best.bands_of_m = bands_of_m;
    }
  }
  return best;
}

}  // namespace libkernels::inline LK_BACKEND
