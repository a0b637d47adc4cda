// Matmul's plan, without a device: tiles within what a device holds, every tile of C once, layouts
// and alignment as they are.
#include "kernels/matmul/matmul_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_tiles.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::op::matmul {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

constexpr std::uintptr_t kAligned = 4096;

Matrix row_major(DType type, std::int64_t cols, std::uintptr_t address = kAligned) {
  return {at(address), type, cols, 1, 0};
}
Matrix col_major(DType type, std::int64_t rows, std::uintptr_t address = kAligned) {
  return {at(address), type, 1, rows, 0};
}

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::bf16) {
  Problem p{};
  p.a = row_major(type, k);
  p.b = row_major(type, n);
  p.c = row_major(type, n);
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.alpha = 1;
  return p;
}

const DeviceProperties& device(const char* name) { return *emulator::find_profile(name); }

TEST(MatmulPlan, LayoutsFollowTheUnitStrides) {
  Problem p = problem(256, 512, 128);
  EXPECT_EQ(make_plan(p, device("h200")).variant.a, Major::k);
  EXPECT_EQ(make_plan(p, device("h200")).variant.b, Major::mn);
  p.a = col_major(DType::bf16, p.m);
  p.b = col_major(DType::bf16, p.k);
  EXPECT_EQ(make_plan(p, device("h200")).variant.a, Major::mn);
  EXPECT_EQ(make_plan(p, device("h200")).variant.b, Major::k);
}

TEST(MatmulPlan, AColumnMajorCTransposesTheProblem) {
  Problem p = problem(256, 512, 128);
  EXPECT_FALSE(make_plan(p, device("h200")).transposed);
  p.c = col_major(DType::bf16, p.m);
  p.bias = at(kAligned);
  const Plan plan = make_plan(p, device("h200"));
  EXPECT_TRUE(plan.transposed);
  EXPECT_EQ(plan.params.m, 512);
  EXPECT_EQ(plan.params.n, 256);
  EXPECT_EQ(plan.variant.a, Major::mn);  // B^T
  EXPECT_EQ(plan.variant.b, Major::k);   // A^T
  EXPECT_TRUE(plan.params.epilogue.bias_on_rows);
  EXPECT_TRUE(plan.params.epilogue.wide);
}

TEST(MatmulPlan, OnlyAlignedOperandsAreCopiedAsynchronously) {
  const auto load = [](const Problem& p) { return make_plan(p, device("h200")).variant.load; };
  const Problem good = problem(256, 512, 128);
  EXPECT_EQ(load(good), Load::async);
  Problem p = good;
  p.a.data = at(kAligned + 2);
  EXPECT_EQ(load(p), Load::staged);
  p = good;
  p.b.row_stride = 513;
  EXPECT_EQ(load(p), Load::staged);
  p = good;
  p.a.col_stride = 2;
  EXPECT_EQ(load(p), Load::staged);
  p = good;
  p.batch = 2;
  p.a.batch_stride = 4;
  EXPECT_EQ(load(p), Load::staged);
  p.a.batch_stride = 0;
  EXPECT_EQ(load(p), Load::async);
  p = good;
  p.a.row_stride = 0;  // broadcast
  EXPECT_EQ(load(p), Load::async);
  p = problem(256, 512, 128, DType::f32);
  p.a.data = at(kAligned + 4);  // an element at a time
  EXPECT_EQ(load(p), Load::async);
  p = problem(256, 512, 128, DType::f32);
  p.math = Math::tf32;
  EXPECT_EQ(load(p), Load::async);
}

// H1, H3, H4, H5: for every device and every instantiation, within the device's limit.
TEST(MatmulPlan, H1SharedMemoryIsWithinEveryDevice) {
  for (const DeviceProperties& d : emulator::profiles()) {
    for (const DType type : {DType::bf16, DType::f16, DType::f8_e4m3, DType::f32}) {
      for (const Math math : {Math::fp32, Math::tf32, Math::tf32x3}) {
        for (const std::int64_t size : {1, 64, 500, 2048, 8192}) {
          for (const std::uintptr_t offset : {0, 4}) {
            Problem p = problem(size, size, size, type);
            p.a.data = at(kAligned + offset);
            p.math = math;
            const Plan plan = make_plan(p, d);
            EXPECT_LE(smem_bytes(plan.variant.arithmetic, plan.tile), d.smem_per_cta_optin)
                << d.name;
            EXPECT_LE(plan.tile.threads(), d.max_threads_per_cta);
          }
        }
      }
    }
  }
}

TEST(MatmulPlan, SmallProblemsTakeSmallTiles) {
  EXPECT_EQ(make_plan(problem(256, 256, 4096), device("h200")).tile.m, 64);
  EXPECT_EQ(make_plan(problem(8192, 8192, 4096), device("h200")).tile.n, 256);
}

// E9, C5, C6, C8: every tile once, bands that do not divide the tiles, batches, beyond 2^32 tiles.
TEST(MatmulPlan, E9TheRasterVisitsEveryTileOnce) {
  for (const auto& [m, n, batch, band] :
       {std::tuple{1, 1, 1, 1}, std::tuple{7, 5, 2, 3}, std::tuple{8, 3, 1, 8},
        std::tuple{9, 4, 3, 8}, std::tuple{5, 6, 1, 100}, std::tuple{64, 1, 2, 7}}) {
    const Raster r = make_raster(m, n, batch, band);
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
    ASSERT_EQ(r.tiles, std::int64_t(m) * n * batch);
    for (std::int64_t i = 0; i < r.tiles; ++i) {
      const TileIndex t = tile_at(i, r);
      EXPECT_TRUE(t.m >= 0 && t.m < m && t.n >= 0 && t.n < n && t.batch >= 0 && t.batch < batch);
      seen.insert({t.batch, t.m, t.n});
    }
    EXPECT_EQ(std::int64_t(seen.size()), r.tiles);
  }
  const std::int64_t many = std::int64_t{1} << 40;
  const Raster r = make_raster(many, 3, 5, 16);
  const TileIndex last = tile_at(r.tiles - 1, r);
  EXPECT_EQ(last.batch, 4);
  EXPECT_EQ(last.m, many - 1);
  EXPECT_EQ(last.n, 2);
}

// C5, C6, C8: tiles lie along the grid's x, of which there are 2^31 - 1; the rest is a loop.
TEST(MatmulPlan, C6TheGridHasOneDimension) {
  const DeviceProperties& h200 = device("h200");
  const LaunchContext all{h200, h200.sm_count, false, nullptr, nullptr};
  const LaunchContext two{h200, 2, false, nullptr, nullptr};
  for (const std::int64_t tiles :
       {std::int64_t{65535}, std::int64_t{65537}, (std::int64_t{1} << 31) - 1,
        std::int64_t{1} << 31, std::int64_t{1} << 33}) {
    const std::int64_t most = (std::int64_t{1} << 31) - 1;
    EXPECT_EQ(std::int64_t(capped_grid(tiles, all, 128)), std::min(tiles, most));
    EXPECT_EQ(capped_grid(tiles, two, 128), 32u);
  }
  Problem p = problem(1, 1, 1);
  p.batch = std::int64_t{1} << 33;
  p.c.batch_stride = 1;
  EXPECT_EQ(make_plan(p, h200).params.raster.tiles, p.batch);
}

// C4: products of extents are 64-bit.
TEST(MatmulPlan, C4HugeExtents) {
  Problem p = problem(std::int64_t{1} << 33, 65536, 65536);
  const Plan plan = make_plan(p, device("h200"));
  EXPECT_EQ(plan.params.a.mn_stride, 65536);
  EXPECT_GT(plan.params.raster.tiles, std::int64_t{1} << 32);
}

TEST(MatmulPlan, EveryTileOfTheTablesCanBeChosen) {
  for (const Arithmetic a :
       {Arithmetic::bf16, Arithmetic::tf32, Arithmetic::tf32x3, Arithmetic::fp32}) {
    for (const Load load : {Load::async, Load::staged}) {
      if (a == Arithmetic::fp32 && load == Load::staged) continue;
      std::set<int> chosen;
      for (const DeviceProperties& d : emulator::profiles()) {
        for (std::int64_t size = 64; size <= 8192; size += size / 32 * 8 + 8) {
          Problem p = problem(size, size, 512, a == Arithmetic::bf16 ? DType::bf16 : DType::f32);
          p.math = a == Arithmetic::tf32     ? Math::tf32
                   : a == Arithmetic::tf32x3 ? Math::tf32x3
                                             : Math::fp32;
          if (load == Load::staged) p.a.data = at(kAligned + 4);
          const Plan plan = make_plan(p, d);
          ASSERT_EQ(plan.variant.load, load);
          chosen.insert(plan.variant.tile);
        }
      }
      EXPECT_EQ(chosen.size(), tiles_of(a, load).size()) << int(a) << " " << int(load);
    }
  }
}

TEST(MatmulPlan, TheDescriptionNamesTheCosts) {
  const DeviceProperties& h200 = device("h200");
  const LaunchContext context{h200, h200.sm_count, false, nullptr, nullptr};
  Problem p = problem(4096, 4096, 4096);
  std::string text = describe_plan(p, make_plan(p, h200), context);
  EXPECT_NE(text.find("path: mma.sync bf16, 512 tile(s) of 128 x 256"), std::string::npos) << text;
  EXPECT_NE(text.find("a: k adjacent, 16 bytes a cp.async"), std::string::npos) << text;
  EXPECT_NE(text.find("b: n adjacent, 16 bytes a cp.async"), std::string::npos) << text;
  p.a.data = at(kAligned + 2);
  p.b.col_stride = 3;
  p.c.data = at(kAligned + 2);
  text = describe_plan(p, make_plan(p, h200), context);
  EXPECT_NE(text.find("a: k adjacent, realigned vectors"), std::string::npos) << text;
  EXPECT_NE(text.find("b: n adjacent, element by element"), std::string::npos) << text;
  EXPECT_NE(text.find("c: a column a store"), std::string::npos) << text;
}

}  // namespace
}  // namespace libkernels::op::matmul
