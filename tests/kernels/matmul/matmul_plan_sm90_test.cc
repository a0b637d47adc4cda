// Matmul's plan on sm90, without a device: which problems it takes, tiles within what a device
// holds, every tile of C once, and that what the cost model was measured on comes out right.
#include "kernels/matmul/matmul_plan_sm90.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/common/launch_plan.h"
#include "kernels/matmul/matmul_raster.cuh"
#include "kernels/matmul/matmul_tiles_sm90.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::op::matmul {
namespace {

constexpr std::uintptr_t kAligned = 4096;
const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::bf16) {
  Problem p{};
  p.a = {at(kAligned), type, k, 1, 0};
  p.b = {at(kAligned), type, 1, k, 0};
  p.c = {at(kAligned), type, n, 1, 0};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.alpha = 1;
  return p;
}

const DeviceProperties& h200() { return *emulator::find_profile("h200"); }

TEST(MatmulPlanSm90, TakesWhatTheCopyEngineReads) {
  const auto takes = [](const Problem& p) { return why_not_sm90(p) == nullptr; };
  const Problem good = problem(256, 512, 128);
  EXPECT_TRUE(takes(good));
  EXPECT_TRUE(takes(problem(256, 512, 128, DType::f16)));
  EXPECT_TRUE(takes(problem(1, 1, 8)));
  Problem p = good;
  p.a.data = at(kAligned + 2);
  EXPECT_FALSE(takes(p));
  p = good;
  p.b.col_stride = 129;
  EXPECT_FALSE(takes(p));
  p = good;
  p.a.col_stride = 2;
  EXPECT_FALSE(takes(p));
  p = good;
  p.a.row_stride = 0;  // every row the same
  EXPECT_FALSE(takes(p));
  p = good;
  p.batch = 2;
  p.a.batch_stride = 4;
  EXPECT_FALSE(takes(p));
  p.a.batch_stride = 0;
  EXPECT_TRUE(takes(p));
  p.a.batch_stride = std::int64_t{1} << 39;
  EXPECT_FALSE(takes(p));
  p = good;
  p.c.data = at(kAligned + 2);  // C may lie anywhere
  p.c.row_stride = 513;
  EXPECT_TRUE(takes(p));
  p = good;
  p.k = 0;
  EXPECT_FALSE(takes(p));
  p = problem(256, 512, 128, DType::f32);
  EXPECT_FALSE(takes(p));
}

// A matrix of one row has no stride that could be wrong.
TEST(MatmulPlanSm90, StridesThatAreNeverSteppedMeanNothing) {
  Problem p = problem(1, 512, 128);
  p.a.row_stride = 3;
  p.a.batch_stride = 5;
  EXPECT_EQ(why_not_sm90(p), nullptr);
}

TEST(MatmulPlanSm90, LayoutsFollowTheUnitStrides) {
  Problem p = problem(256, 512, 128);
  EXPECT_EQ(make_plan_sm90(p, h200()).variant.a, Major::k);
  EXPECT_EQ(make_plan_sm90(p, h200()).variant.b, Major::k);
  p.a = {at(kAligned), DType::bf16, 1, p.m, 0};
  p.b = {at(kAligned), DType::bf16, p.n, 1, 0};
  EXPECT_EQ(make_plan_sm90(p, h200()).variant.a, Major::mn);
  EXPECT_EQ(make_plan_sm90(p, h200()).variant.b, Major::mn);
  p = problem(256, 512, 128);
  p.c = {at(kAligned), DType::bf16, 1, p.m, 0};
  const PlanSm90 plan = make_plan_sm90(p, h200());
  EXPECT_TRUE(plan.transposed);
  EXPECT_EQ(plan.m, 512);
  EXPECT_EQ(plan.n, 256);
  EXPECT_TRUE(plan.params.epilogue.bias_on_rows);
}

TEST(MatmulPlanSm90, CGoesOutAsItsAddressAllows) {
  const auto finish = [](const Problem& p) { return make_plan_sm90(p, h200()).params.finish; };
  Problem p = problem(4096, 8192, 128);  // more tiles than SMs
  EXPECT_EQ(finish(p), Finish::tensor);
  p = problem(256, 512, 128);
  EXPECT_EQ(finish(p), Finish::wide);
  p.activation = Activation::relu;
  EXPECT_EQ(finish(p), Finish::wide);
  p.c.type = DType::f32;
  EXPECT_EQ(finish(p), Finish::full);
  p.activation = Activation::gelu_erf;
  EXPECT_EQ(finish(p), Finish::block);
  p = problem(256, 512, 128);
  p.c.row_stride = 516;  // 8 bytes
  EXPECT_EQ(finish(p), Finish::half);
  p = problem(256, 508, 128);  // rows end amid 16 bytes
  p.c.row_stride = 512;
  EXPECT_EQ(finish(p), Finish::half);
  p = problem(256, 512, 128);
  p.c_in = p.c;
  EXPECT_EQ(finish(p), Finish::block);
  p = problem(256, 512, 128);
  p.c.col_stride = 2;
  EXPECT_EQ(finish(p), Finish::block);
}

TEST(MatmulPlanSm90, EveryTileFitsAndComesOnce) {
  for (const TileSm90& t : tiles_sm90(Arithmetic::bf16)) {
    EXPECT_LE(smem_bytes(t, Arithmetic::bf16), h200().smem_per_cta_optin);
    EXPECT_LE(t.threads(), 384);
    EXPECT_GT(t.stage_ns, 0);
  }
  for (const std::int64_t n : {1, 100, 1024, 1793, 4096, 16384}) {
    Problem p = problem(1000, n, 512);
    p.batch = 3;
    p.c.batch_stride = 1000 * n;
    p.a.batch_stride = p.b.batch_stride = 8;
    const PlanSm90 plan = make_plan_sm90(p, h200());
    const Raster& r = plan.params.raster;
    std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
    for (std::int64_t i = 0; i < r.tiles; ++i) {
      const TileIndex tile = tile_at(i, r);
      EXPECT_TRUE(seen.insert({tile.batch, tile.m, tile.n}).second);
      EXPECT_LT(tile.batch, 3);
      EXPECT_LT(tile.m * plan.tile.m, plan.m);
      EXPECT_LT(tile.n * plan.tile.n, plan.n);
    }
    const std::int64_t columns = plan.tile.n;
    const std::int64_t rows = plan.tile.m;
    EXPECT_EQ(std::int64_t(seen.size()),
              3 * ((plan.m + rows - 1) / rows) * ((plan.n + columns - 1) / columns));
  }
}

// What was the fastest where it was measured (matmul_tiles_sm90.h).
TEST(MatmulPlanSm90, ChoosesTheTilesThatWereFastest) {
  const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    const TileSm90 t = make_plan_sm90(problem(m, n, k), h200()).tile;
    return std::pair(t.m, t.n);
  };
  EXPECT_EQ(tile(256, 256, 256), std::pair(64, 64));
  EXPECT_EQ(tile(512, 512, 512), std::pair(64, 64));
  EXPECT_EQ(tile(1024, 1024, 1024), std::pair(128, 64));
  EXPECT_EQ(tile(1536, 1536, 1536), std::pair(128, 160));
  EXPECT_EQ(tile(1792, 1792, 1792), std::pair(128, 224));
  EXPECT_EQ(tile(2048, 2048, 2048), std::pair(128, 256));
  EXPECT_EQ(tile(4096, 4096, 4096), std::pair(128, 256));
  EXPECT_EQ(tile(512, 14336, 4096), std::pair(128, 224));
  EXPECT_EQ(tile(4096, 14336, 4096), std::pair(128, 256));
  EXPECT_EQ(tile(16384, 16384, 64), std::pair(128, 256));
}

TEST(MatmulPlanSm90, TheGridIsWithinTheSms) {
  for (const int sms : {1, 7, 132}) {
    EXPECT_EQ(int(grid_sm90(make_plan_sm90(problem(4096, 4096, 64), h200()), sms)), sms);
    EXPECT_EQ(grid_sm90(make_plan_sm90(problem(64, 64, 64), h200()), sms), 1u);
  }
}

}  // namespace
}  // namespace libkernels::op::matmul
