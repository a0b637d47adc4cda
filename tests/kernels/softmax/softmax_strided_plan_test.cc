// The plan of softmax without unit column strides, by arithmetic: no kernel runs.
// Cost: below a second.
#include "kernels/softmax/softmax_strided_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace libkernels::op::softmax {
namespace {

constexpr std::size_t kSmemOfSm80 = 99 * 1024;  // of a CTA on every device from 8.0 on
constexpr int kClusters[] = {1, 8};

Problem problem(std::int64_t rows, std::int64_t cols, DType type = DType::f32) {
  return {.x = reinterpret_cast<const void*>(std::uintptr_t{4096}),
          .y = reinterpret_cast<void*>(std::uintptr_t{1} << 46),
          .x_type = type,
          .y_type = type,
          .scale = 1,
          .log = false,
          .zero_neg_inf_row = false,
          .rows = rows,
          .cols = cols,
          .x_row_stride = 1,
          .x_col_stride = rows,
          .y_row_stride = 1,
          .y_col_stride = rows};
}

// Everything that decides the order of additions.
std::string tree_of(const Plan& plan) {
  const Params& p = plan.params;
  std::string text;
  for (const std::int64_t part :
       {std::int64_t(plan.cluster), std::int64_t(plan.threads), std::int64_t(p.lanes_log2),
        std::int64_t(p.parked), p.chunk_cols, p.chunks.divisor}) {
    text += std::to_string(part) + " ";
  }
  return text;
}

TEST(SoftmaxStridedPlan, TheTreeFollowsFromColumnsAndTypesAlone) {
  for (const int most : kClusters) {
    for (std::int64_t cols = 2; cols < std::int64_t{1} << 30; cols = cols * 5 / 4 + 1) {
      const std::string tree = tree_of(make_strided_plan(problem(1, cols), most));
      for (const std::int64_t rows : {2, 7, 132, 4096, 1 << 22}) {
        Problem p = problem(rows, cols);
        EXPECT_EQ(tree_of(make_strided_plan(p, most)), tree);
        p.x = reinterpret_cast<const void*>(std::uintptr_t{4100});
        p.x_row_stride = 3;
        p.y_row_stride = cols;
        p.y_col_stride = 1;
        p.scale = -3;
        p.log = p.zero_neg_inf_row = true;
        EXPECT_EQ(tree_of(make_strided_plan(p, most)), tree);
      }
    }
  }
}

TEST(SoftmaxStridedPlan, TilesFitAndChunksCoverRowsOfAnyLength) {
  for (const int most : kClusters) {
    for (const DType type : {DType::f32, DType::bf16}) {
      for (std::int64_t cols = 2; cols < std::int64_t{1} << 40; cols = cols * 9 / 8 + 1) {
        const Problem p = problem(100, cols, type);
        const Plan plan = make_strided_plan(p, most);
        const Params& q = plan.params;
        const std::int64_t slots = plan.threads >> q.lanes_log2;
        ASSERT_GE(slots, 1);
        ASSERT_LE(plan.cluster, most);
        ASSERT_LE(plan.cluster * plan.threads, 2048) << "more than an SM's, where one is allowed";
        ASSERT_LE(plan.threads, kTileMostThreads);
        ASSERT_EQ(q.chunk_cols, plan.cluster * slots * q.parked);
        ASSERT_GE(q.chunk_cols * q.chunks.divisor, cols);
        ASSERT_LT(q.chunk_cols * (q.chunks.divisor - 1), cols) << "an empty chunk";
        ASSERT_LE(strided_smem_bytes(plan, type), kSmemOfSm80);
        ASSERT_EQ(plan.two_launches(), q.chunks.divisor > 1);
        const std::int64_t rows = std::int64_t(tile_items(type)) << q.lanes_log2;
        ASSERT_GE(q.items * rows, p.rows * q.chunks.divisor);
        ASSERT_EQ(plan.workspace_bytes, q.chunks.divisor > 1
                                            ? 100u * std::size_t(q.chunks.divisor) * sizeof(Partial)
                                            : 0u);
      }
    }
  }
}

TEST(SoftmaxStridedPlan, AccessFollowsFromStridesAndAlignment) {
  const auto access = [](const Problem& p) { return make_strided_plan(p, 1).params.x_access; };
  Problem p = problem(64, 40, DType::bf16);
  EXPECT_EQ(access(p), Access::vectors);
  p.x_col_stride = 65;
  EXPECT_EQ(access(p), Access::shifted);
  p.x_col_stride = 72;
  p.x = reinterpret_cast<const void*>(std::uintptr_t{4098});
  EXPECT_EQ(access(p), Access::shifted);
  p.x_row_stride = 2;
  EXPECT_EQ(access(p), Access::elements);
}

TEST(SoftmaxStridedPlan, DescriptionSaysWhatStridesAndAlignmentCost) {
  const auto has = [&](const Problem& p, const char* part) {
    const std::string text = describe_strided_plan(p, make_strided_plan(p, 1), 7);
    return text.find(part) != std::string::npos
               ? testing::AssertionSuccess()
               : testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
  };
  Problem p = problem(64, 40);
  EXPECT_TRUE(has(p, "path: strided, tiles of 64 rows"));
  EXPECT_TRUE(has(p, "x by aligned vectors, y by aligned vectors\nlaunch: grid 7, block "));
  p.y_col_stride = 65;
  EXPECT_TRUE(has(p, "x by aligned vectors, y by misaligned vectors"));
  p.x_row_stride = 3;
  EXPECT_TRUE(has(p, "x by elements, slower than adjacent rows"));
  EXPECT_TRUE(has(problem(64, 1 << 20), "read twice"));
}

}  // namespace
}  // namespace libkernels::op::softmax
