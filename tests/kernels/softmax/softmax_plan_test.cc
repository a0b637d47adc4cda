// The plan of softmax by arithmetic: no kernel runs, so shapes larger than any machine are fine.
// Cost: below a second.
#include "kernels/softmax/softmax_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "kernels/common/launch_plan.h"

namespace libkernels::op::softmax {
namespace {

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

Problem problem(std::int64_t rows, std::int64_t cols, DType x = DType::f32, DType y = DType::f32) {
  return {.x = reinterpret_cast<const void*>(std::uintptr_t{4096}),
          .y = reinterpret_cast<void*>(std::uintptr_t{1} << 46),
          .x_type = x,
          .y_type = y,
          .scale = 1,
          .log = false,
          .zero_neg_inf_row = false,
          .rows = rows,
          .cols = cols,
          .x_row_stride = cols,
          .x_col_stride = 1,
          .y_row_stride = cols,
          .y_col_stride = 1};
}

// Everything that decides the order of additions.
std::string tree_of(const Plan& plan) {
  const Params& p = plan.params;
  std::string text;
  for (const std::int64_t part :
       {std::int64_t(plan.path), std::int64_t(plan.windows), std::int64_t(plan.threads),
        std::int64_t(p.lanes_log2), std::int64_t(p.parked), std::int64_t(plan.cluster),
        p.chunk_cols, p.chunks.divisor}) {
    text += std::to_string(part) + " ";
  }
  return text;
}

// Columns that the plan has room for: in registers, parked, or in chunks.
std::int64_t capacity(const Plan& plan, DType y_type) {
  const Params& p = plan.params;
  const std::int64_t items = items_of(y_type);
  switch (plan.path) {
    case Path::warp:
      return (std::int64_t{1} << p.lanes_log2) * plan.windows * items;
    case Path::block:
    case Path::parked:
    case Path::cluster:
      return std::int64_t(plan.cluster) * plan.threads * (plan.windows + p.parked) * items;
    case Path::split:
      return p.chunk_cols * p.chunks.divisor;
    case Path::strided:
      break;
  }
  return 0;
}

TEST(SoftmaxPlan, HasRoomForEveryLength) {
  for (const DType y : {DType::f32, DType::bf16}) {
    Path last = Path::warp;
    const std::int64_t held = block_capacity(y, y);
    for (std::int64_t cols = 1; cols <= 2 * held; cols += cols < 3000 ? 1 : 37) {
      const Problem p = problem(3, cols, y, y);
      const Plan plan = make_plan(p);
      ASSERT_GE(capacity(plan, y), cols) << cols;
      ASSERT_LT(capacity(plan, y) - cols, std::max<std::int64_t>(cols * 3, 8))
          << cols << " is wasteful";
      ASSERT_LE(plan.params.parked, kMostParked);
      ASSERT_LE(plan.windows * items_of(y), most_values(y));
      ASSERT_GE(int(plan.path), int(last)) << "the ladder has only rungs up";
      ASSERT_EQ(plan.path == Path::split, cols > held);
      last = plan.path;
    }
  }
}

// From half a CTA's rows on, up to what sixteen CTAs hold: longer ones keep the other plan.
TEST(SoftmaxPlan, ClustersHaveRoomForTheRowsTheyTake) {
  for (const auto& [x, y, longest] : {std::tuple{DType::f32, DType::f32, std::int64_t{262144}},
                                      {DType::bf16, DType::bf16, std::int64_t{524288}},
                                      {DType::f16, DType::f32, std::int64_t{262144}}}) {
    const std::int64_t least = kLeastClusterValues * most_values(y);
    EXPECT_EQ(make_cluster_plan(problem(3, least, x, y)).cluster, 1);
    for (std::int64_t cols = least + 1; cols <= longest; cols += cols < longest - 999 ? 997 : 1) {
      const Plan plan = make_cluster_plan(problem(3, cols, x, y));
      ASSERT_EQ(plan.path, Path::cluster) << cols;
      ASSERT_GE(capacity(plan, y), cols) << cols;
      ASSERT_LT(capacity(plan, y) - cols, cols / 2) << cols << " is wasteful";
      ASSERT_LE(plan.cluster, kMostClusterCtas);
      ASSERT_LE(plan.threads, 32 * kMostClusterWarps);
      ASSERT_EQ(plan.params.parked, 0);
      ASSERT_EQ(plan.workspace_bytes, 0u);
    }
    const Plan beyond = make_cluster_plan(problem(3, longest + 1, x, y));
    EXPECT_EQ(beyond.path, Path::split);
    EXPECT_EQ(beyond.cluster, 1);
  }
}

TEST(SoftmaxPlan, MaxSmsLeavesClustersWhole) {
  DeviceProperties properties{};
  properties.sm_count = 132;
  properties.max_threads_per_sm = 2048;
  const Plan plan = make_cluster_plan(problem(1000, 200000, DType::f32, DType::f32));
  for (const int sms : {1, 2, 3, 7, 50, 131, 132}) {
    const LaunchContext context{.properties = properties,
                                .max_sms = sms,
                                .pdl = false,
                                .workspace = nullptr,
                                .stream = nullptr};
    const unsigned grid = grid_of(plan, context);
    EXPECT_GE(grid, unsigned(plan.cluster));
    EXPECT_EQ(grid % unsigned(plan.cluster), 0u);
    if (sms == 132) {
      EXPECT_EQ(grid, 1000u * unsigned(plan.cluster));
    }
  }
}

TEST(SoftmaxPlan, H1SharedMemoryFitsEveryDevice) {
  constexpr std::size_t kOf86 = 99 * 1024;  // of a CTA on compute capability 8.6 and 12.x
  for (const auto& [x, y] : {std::pair{DType::f32, DType::f32}, {DType::bf16, DType::bf16}}) {
    const Plan plan = make_plan(problem(1, block_capacity(x, y), x, y));
    EXPECT_LE(std::size_t(plan.params.parked * plan.threads * vector_bytes(x, y)) + 1024, kOf86);
    EXPECT_EQ(plan.params.parked, most_parked(x));
  }
}

// Rows, their pitch, their alignment and what else may differ between calls leave the tree alone.
TEST(SoftmaxPlan, TheTreeFollowsFromColumnsAndTypesAlone) {
  for (const std::int64_t cols : {1, 5, 100, 1000, 1025, 5000, 30000, 60000, 1 << 20, 1 << 25}) {
    const std::string tree = tree_of(make_plan(problem(1, cols)));
    const std::string clusters = tree_of(make_cluster_plan(problem(1, cols)));
    for (const std::int64_t rows : {2, 7, 132, 4096, 1 << 22}) {
      Problem p = problem(rows, cols);
      EXPECT_EQ(tree_of(make_plan(p)), tree);
      p.x_row_stride = cols + 1;
      p.y_row_stride = cols + 3;
      p.x = reinterpret_cast<const void*>(std::uintptr_t{4100});
      p.scale = -3;
      p.log = p.zero_neg_inf_row = true;
      EXPECT_EQ(tree_of(make_plan(p)), tree);
      EXPECT_EQ(tree_of(make_cluster_plan(p)), clusters);
    }
  }
}

TEST(SoftmaxPlan, ChunksCoverRowsOfAnyLength) {
  for (const std::int64_t cols :
       {kTwo31 - 1, kTwo31, kTwo31 + 1, kTwo31 << 5, kTwo31 << 20, std::int64_t{57345},
        std::int64_t{1} << 20, std::int64_t{1} << 24}) {
    const Problem p = problem(3, cols);
    const Plan plan = make_plan(p);
    const std::int64_t chunks = plan.params.chunks.divisor, size = plan.params.chunk_cols;
    EXPECT_GE(chunks * size, cols);
    EXPECT_LT((chunks - 1) * size, cols) << "an empty chunk";
    EXPECT_EQ(size % split_block(p.y_type), 0);
    EXPECT_LE(size / split_block(p.y_type), kMostBlocks);
    if (cols <= kTwo31) {
      EXPECT_LE(chunks, kMostChunks);
    }
    EXPECT_EQ(plan.workspace_bytes, std::size_t(p.rows * chunks + 1) * sizeof(Partial));
    EXPECT_EQ(plan.params.items, 3 * chunks);
  }
  // One row of 2^20 columns fills a GPU.
  EXPECT_GE(make_plan(problem(1, 1 << 20)).params.items, 128);
}

// Who writes a chunk waits for earlier tickets alone: those of its row are, if all have their turn.
TEST(SoftmaxPlan, AChunkIsWrittenARowAfterItWasReadAtLeast) {
  DeviceProperties properties{};
  for (const auto& [sms, l2] :
       {std::pair{6, std::size_t{0}}, {84, std::size_t{6} << 20}, {132, std::size_t{60} << 20}}) {
    properties.sm_count = sms;
    properties.l2_bytes = l2;
    for (const std::int64_t rows : {1, 3, 1000}) {
      for (const std::int64_t cols : {std::int64_t{57345}, std::int64_t{1} << 20, kTwo31}) {
        const Problem p = problem(rows, cols);
        const Plan plan = make_plan(p);
        const std::int64_t lag = lag_of(p, plan, properties);
        EXPECT_GE(lag, plan.params.chunks.divisor);
        EXPECT_LE(lag, plan.params.items);
        const std::int64_t most = std::int64_t(l2) / kLagOfL2 / (plan.params.chunk_cols * 4);
        EXPECT_LE(lag, std::max(plan.params.chunks.divisor, most));
      }
    }
    EXPECT_EQ(lag_of(problem(3, 1000), make_plan(problem(3, 1000)), properties), 0);
  }
}

// C8: rows at which a 32-bit count, or a ceiling division of ints, overflows.
TEST(SoftmaxPlan, C8GridsOfHugeProblemsAreLegalAndCoverThem) {
  DeviceProperties h200;
  h200.sm_count = 132;
  h200.max_threads_per_sm = 2048;
  const LaunchContext all{h200, 132, false, nullptr, nullptr};
  const LaunchContext one{h200, 1, false, nullptr, nullptr};
  for (const std::int64_t rows : {std::int64_t{65537}, kTwo31 - 1, kTwo31, kTwo31 << 8}) {
    for (const std::int64_t cols : {1, 40, 5000, 100000}) {
      const Plan plan = make_plan(problem(rows, cols));
      const std::int64_t per_item = plan.path == Path::warp
                                        ? (kWarpCtaThreads >> plan.params.lanes_log2) *
                                              rows_at_once(plan.windows, plan.aligned)
                                        : 1;
      EXPECT_GE(plan.params.items * per_item, rows);
      EXPECT_EQ(capped_grid(plan.params.items, all, plan.threads),
                std::min(plan.params.items, kTwo31 - 1));
      EXPECT_EQ(capped_grid(plan.params.items, one, plan.threads), 2048u / unsigned(plan.threads));
    }
  }
}

TEST(SoftmaxPlan, StridesOfOneColumnAreIgnored) {
  Problem p = problem(9, 1);
  p.x_col_stride = p.y_col_stride = 77;
  EXPECT_EQ(path_of(p), Path::warp);
  p = problem(9, 2);
  p.x_col_stride = 0;
  EXPECT_EQ(path_of(p), Path::strided);
}

// (hi + lo) * pre is scale * log2(e), both parts in range and of one sign, for every magnitude.
TEST(SoftmaxPlan, ExponentsAreInRangeForEveryScale) {
  const double log2_e = std::log2(std::exp(1.0));
  for (int e = -149; e <= 127; ++e) {
    for (const double mantissa : {1.0, 1.25, 1.7, 1.9999999}) {
      for (const float sign : {1.0f, -1.0f}) {
        const float scale = sign * float(std::ldexp(mantissa, e));
        const Exponent x = make_exponent(scale);
        ASSERT_TRUE(std::isfinite(x.hi) && std::isfinite(x.lo) && std::isfinite(x.linear)) << scale;
        ASSERT_GT(x.lo, 0.0f) << scale;
        ASSERT_GT(x.hi, 0.0f) << scale;
        const double pre = double(x.turn) * double(x.shrink);
        ASSERT_LE(std::fabs(pre), 1.0);
        const double factor = (double(x.hi) + double(x.lo)) * pre;
        const double wanted = double(scale) * log2_e;
        // Where hi alone would overflow, lo is as large and has no more bits than that.
        const int bits = std::fabs(wanted) > double(std::numeric_limits<float>::max()) ? 25 : 46;
        ASSERT_LE(std::fabs(factor - wanted), std::ldexp(std::fabs(wanted), -bits)) << scale;
        ASSERT_EQ(double(x.linear) * pre, double(scale));
        // Differences overflow only where the scaled ones are beyond any exponent that matters.
        if (std::fabs(double(scale)) < 1) {
          ASSERT_LE(std::fabs(pre), 0.5);
        }
      }
    }
  }
  EXPECT_EQ(make_exponent(0).turn, 0.0f);
  EXPECT_EQ(make_exponent(-0.0f).turn, 0.0f);
}

TEST(SoftmaxPlan, DescriptionSaysWhatTheStridesAndAlignmentCost) {
  DeviceProperties h200;
  h200.sm_count = 132;
  h200.max_threads_per_sm = 2048;
  const LaunchContext all{h200, 132, false, nullptr, nullptr};
  const auto has = [&](const Problem& p, const char* part) {
    const std::string text = describe_plan(p, make_plan(p), 77, all);
    return text.find(part) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
  };
  EXPECT_TRUE(has(problem(10, 100),
                  "32 lane(s) a row, 1 vector(s) of 4 columns each; rows of x and y are aligned"));
  EXPECT_TRUE(has(problem(10, 101), "rows of x and y are misaligned"));
  EXPECT_TRUE(
      has(problem(10, 5000), "a CTA a row, 8 vectors of 4 columns a thread in registers; "));
  EXPECT_TRUE(has(problem(10, 40000), "a thread in registers and 2 in shared memory"));
  EXPECT_TRUE(has(problem(1, 1 << 20), "each row in 128 chunks of 8192 columns, read twice"));
  EXPECT_TRUE(has(problem(1, 1 << 20), "launch: twice, grid 128, block 256, shared memory 77\n"));
  Problem p = problem(10, 100);
  p.x_row_stride = 101;
  EXPECT_TRUE(has(p, "rows of x are misaligned: loaded once, shuffled"));
  p = problem(10, 100);
  p.y_row_stride = 101;
  EXPECT_TRUE(has(p, "rows of y are misaligned"));
  EXPECT_TRUE(has(problem(10, 5001), "rows of x and y are misaligned alike"));
  p = problem(10, 5000);
  p.x_row_stride = 5001;
  EXPECT_TRUE(has(p, "rows of x and y are not aligned alike: x by words"));
}

}  // namespace
}  // namespace libkernels::op::softmax
