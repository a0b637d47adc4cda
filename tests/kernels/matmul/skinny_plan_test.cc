// The plans for few rows or columns, without a device: which operand is streamed, how K is cut,
// that all of it is, and what is left to other kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/matmul/matmul_sides.h"
#include "kernels/matmul/matmul_skinny_plan.h"
#include "kernels/matmul/matmul_stream_plan.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::op::matmul {
namespace {

const DeviceProperties& device(const char* name) { return *emulator::find_profile(name); }
const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }
constexpr std::uintptr_t kAligned = 4096;

// A [m, k] and B^T [n, k], K adjacent, as layers have them.
Problem layer(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::bf16) {
  Problem p{};
  p.a = {at(kAligned), type, k, 1, 0};
  p.b = {at(kAligned), type, 1, k, 0};
  p.c = {at(kAligned), DType::bf16, n, 1, 0};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.alpha = 1;
  return p;
}
SkinnyPlan plan_of(const Problem& p, const char* name = "h200") {
  return make_skinny_plan(p, device(name), device(name).sm_count);
}

TEST(MatmulSkinnyPlan, TheOperandOfMoreRowsIsW) {
  EXPECT_FALSE(plan_of(layer(16, 4096, 4096)).w_is_a);
  EXPECT_TRUE(plan_of(layer(4096, 16, 4096)).w_is_a);
  for (const bool tall : {false, true}) {
    const SkinnyPlan plan = plan_of(tall ? layer(4096, 16, 512) : layer(16, 4096, 512));
    EXPECT_EQ(plan.rows, 4096);
    EXPECT_EQ(plan.cols, 16);
    EXPECT_EQ(plan.tile.cols, 16);
    EXPECT_EQ(plan.params.cols_by_rows, !tall);  // C's rows are adjacent either way
    EXPECT_FALSE(plan.params.epilogue.bias_on_rows);
  }
}

TEST(MatmulSkinnyPlan, ColumnsFitTheTile) {
  for (std::int64_t few = 1; few <= 64; ++few) {
    const SkinnyPlan plan = plan_of(layer(few, 14336, 4096));
    EXPECT_GE(plan.tile.cols, few);
    EXPECT_LE(plan.tile.cols, few <= 8 ? 8 : 2 * few);
  }
}

// Clusters as large as allowed, scratch only beyond, and every part of K with work in it.
TEST(MatmulSkinnyPlan, PartsOfK) {
  for (const char* name : {"emu90", "h200"}) {
    for (const std::int64_t few : {1, 16, 64, 256}) {
      for (const std::int64_t n : {64, 1024, 4096, 14336, 128256}) {
        for (const std::int64_t k : {8, 72, 4096, 14336, 262144}) {
          const Problem p = layer(few, n, k);
          if (refuse_skinny(p, device(name)) != nullptr) continue;
          const SkinnyPlan plan = plan_of(p, name);
          const int parts = plan.ctas / plan.tile.sharers;
          EXPECT_LE(plan.ctas, kSkinnyMaxCluster);
          EXPECT_EQ(plan.ctas % plan.tile.sharers, 0);
          EXPECT_LE(std::int64_t(parts) * plan.params.splits, plan.params.k_blocks);
          EXPECT_EQ(plan.params.splits > 1, plan.scratch_bytes > 0);
          EXPECT_LE(plan.clusters, plan.params.tiles);
          EXPECT_LE(plan.params.rows, plan.tile.rows);
          EXPECT_GE(std::int64_t(plan.params.row_tiles) * plan.params.rows * plan.tile.sharers,
                    plan.rows);
          if (few <= 64) {
            EXPECT_EQ(plan.params.splits, 1);
          }
        }
      }
    }
  }
}

TEST(MatmulSkinnyPlan, DeepKGoesThroughScratch) {
  const SkinnyPlan plan = plan_of(layer(256, 256, 262144));
  EXPECT_GT(plan.params.splits, 1);
  EXPECT_EQ(plan.scratch_bytes, std::size_t(plan.params.splits) * 256 * 256 * sizeof(float));
  EXPECT_LE(plan.ctas * plan.clusters, device("h200").sm_count);
}

// Fewer SMs change the grid, and nothing that decides the bits.
TEST(MatmulSkinnyPlan, MaxSmsCapsTheGridAlone) {
  const Problem p = layer(16, 14336, 4096);
  const SkinnyPlan all = plan_of(p), few = make_skinny_plan(p, device("h200"), 3);
  EXPECT_EQ(few.ctas, all.ctas);
  EXPECT_EQ(few.tile_index, all.tile_index);
  EXPECT_LE(few.clusters * few.ctas, 3 * few.tile.ctas_per_sm);
}

TEST(MatmulSkinnyPlan, WhatItLeavesToOthers) {
  const DeviceProperties& d = device("h200");
  EXPECT_EQ(refuse_skinny(layer(64, 4096, 4096), d), nullptr);
  EXPECT_NE(refuse_skinny(layer(65, 4096, 4096), d), nullptr);
  EXPECT_NE(refuse_skinny(layer(16, 4096, 4095), d), nullptr);  // rows of 8190 bytes
  EXPECT_NE(refuse_skinny(layer(16, 4096, 4096, DType::f32), d), nullptr);
  EXPECT_EQ(refuse_skinny(layer(32, 4096, 4096, DType::f8_e4m3), d), nullptr);
  EXPECT_NE(refuse_skinny(layer(33, 4096, 4096, DType::f8_e4m3), d), nullptr);
  EXPECT_NE(refuse_skinny(layer(256, 256, 262144, DType::f8_e4m3), d), nullptr);
  Problem p = layer(16, 4096, 4096);
  p.b.data = at(kAligned + 2);
  EXPECT_NE(refuse_skinny(p, d), nullptr);
  p = layer(16, 4096, 4096);
  p.k = 0;
  EXPECT_NE(refuse_skinny(p, d), nullptr);
  p = layer(1, 4096, 4096);
  p.a.row_stride = 7;  // of one row: never stepped
  EXPECT_EQ(refuse_skinny(p, d), nullptr);
  p.batch = 2;
  p.b.batch_stride = 4;
  EXPECT_NE(refuse_skinny(p, d), nullptr);
  p.b.batch_stride = 0;
  EXPECT_EQ(refuse_skinny(p, d), nullptr);
}

TEST(MatmulStreamPlan, TilesCoverTheRows) {
  for (const char* name : {"a100", "h200"}) {
    for (std::int64_t few = 1; few <= kStreamCols; ++few) {
      for (const std::int64_t n : {17, 4096, 14336}) {
        const Problem p = layer(few, n, 4096);
        if (refuse_stream(p, device(name)) != nullptr) continue;
        const StreamPlan plan = make_stream_plan(p);
        const StreamTile& tile = kStreamTiles[plan.tile];
        EXPECT_GE(tile.cols, few);
        EXPECT_EQ(plan.params.row_tiles, blocks_in(n, tile.rows));
        EXPECT_EQ(plan.params.k_bytes, 8192);
      }
    }
  }
}

TEST(MatmulStreamPlan, WhatItLeavesToOthers) {
  const DeviceProperties& d = device("a100");
  EXPECT_EQ(refuse_stream(layer(1, 4096, 4096), d), nullptr);
  EXPECT_EQ(refuse_stream(layer(1, 4096, 4096, DType::f8_e4m3), d), nullptr);
  EXPECT_NE(refuse_stream(layer(17, 4096, 4096), d), nullptr);
  EXPECT_NE(refuse_stream(layer(1, 4096, 4096, DType::f32), d), nullptr);
  EXPECT_NE(refuse_stream(layer(1, 4096, 4095), d), nullptr);
  Problem p = layer(1, 4096, 4096);
  p.b.row_stride = 4096;  // N adjacent
  p.b.col_stride = 1;
  EXPECT_NE(refuse_stream(p, d), nullptr);
}

}  // namespace
}  // namespace libkernels::op::matmul
