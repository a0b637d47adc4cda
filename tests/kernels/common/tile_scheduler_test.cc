// tile_scheduler.cuh: every tile once, whatever the workers; and tiles in flight share operands.
#include "kernels/common/tile_scheduler.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

namespace libkernels::test {
namespace {

static_assert(tile_at({.tiles_m = 4, .tiles_n = 3, .batch = 1, .band = 2}, 0) == Tile{0, 0, 0});
static_assert(tile_at({.tiles_m = 4, .tiles_n = 3, .batch = 1, .band = 2}, 1) == Tile{1, 0, 0});
static_assert(tile_at({.tiles_m = 4, .tiles_n = 3, .batch = 1, .band = 2}, 2) == Tile{0, 1, 0});
static_assert(tile_at({.tiles_m = 4, .tiles_n = 3, .batch = 2, .band = 2}, 18) == Tile{2, 0, 1});
// A last band that is narrower.
static_assert(tile_at({.tiles_m = 5, .tiles_n = 2, .batch = 1, .band = 2}, 9) == Tile{4, 1, 0});

using Key = std::tuple<int, int, int>;

TEST(TileScheduler, EveryTileComesOnce) {
  for (const int m : {1, 2, 5, 13}) {
    for (const int n : {1, 3, 8}) {
      for (const int batch : {1, 3}) {
        for (int band = 1; band <= 14; ++band) {
          for (const bool of_m : {true, false}) {
            const TileRaster r{m, n, batch, band, of_m};
            std::set<Key> seen;
            const int workers = 1 + (m + band) % 7;
            for (int w = 0; w < workers; ++w) {
              for (TileScheduler tiles(r, w, workers); tiles.valid(); tiles.advance()) {
                const Tile t = tiles.tile();
                ASSERT_TRUE(t.m >= 0 && t.m < m && t.n >= 0 && t.n < n && t.batch >= 0 &&
                            t.batch < batch);
                ASSERT_TRUE(seen.insert({t.m, t.n, t.batch}).second);
              }
            }
            ASSERT_EQ(int(seen.size()), m * n * batch);
          }
        }
      }
    }
  }
}

// Tile rows and columns that the tiles of one wave touch.
int touched(const TileRaster& r, int first, int in_flight) {
  std::set<int> rows, columns;
  for (int i = first; i < std::min(first + in_flight, tile_count(r)); ++i) {
    rows.insert(tile_at(r, i).m);
    columns.insert(tile_at(r, i).n);
  }
  return int(rows.size() + columns.size());
}

TEST(TileScheduler, AWaveTouchesFewRowsAndColumns) {
  constexpr int kInFlight = 132;  // tiles of an H200
  for (const auto& [m, n] : {std::pair{64, 64}, {32, 128}, {128, 32}, {200, 33}}) {
    const TileRaster r = choose_raster(m, n, 1, kInFlight, 1, 1);
    const TileRaster rows{m, n, 1, 1, true};
    int most = 0, sum = 0, sum_by_rows = 0;
    for (int first = 0; first < tile_count(r); first += kInFlight) {
      most = std::max(most, touched(r, first, kInFlight));
      sum += touched(r, first, kInFlight);
      sum_by_rows += touched(rows, first, kInFlight);
    }
    // A square of tiles would touch 23; a wave may straddle columns and two bands.
    EXPECT_LE(most, 46) << m << " x " << n;
    EXPECT_LT(sum, sum_by_rows) << m << " x " << n;
  }
}

TEST(TileScheduler, TheRasterFollowsTheCostsAndTheShape) {
  const TileRaster even = choose_raster(64, 64, 1, 144, 1, 1);
  EXPECT_EQ(even.band, 12);
  const TileRaster dear_rows = choose_raster(64, 64, 1, 144, 4, 1);
  EXPECT_LT(dear_rows.bands_of_m ? dear_rows.band : 144 / dear_rows.band, 12);
  const TileRaster one_row = choose_raster(1, 500, 2, 132, 1, 1);
  EXPECT_EQ(tile_count(one_row), 1000);
  const TileRaster one_tile = choose_raster(1, 1, 1, 132, 1, 1);
  EXPECT_EQ(tile_at(one_tile, 0), (Tile{0, 0, 0}));
}

}  // namespace
}  // namespace libkernels::test
