// The plan of row-sum by arithmetic: no kernel runs, so shapes larger than any machine are fine.
// Cost: below a second.
#include "kernels/row_sum/row_sum_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "kernels/common/launch_plan.h"

namespace libkernels::op::row_sum {
namespace {

constexpr std::int64_t kMostCtas = (std::int64_t{1} << 31) - 1;

// As a generation might have them.
constexpr Shape kShapes[] = {{1, 1, 8, 1, 1, 8, 1, 0, 0, 128},
                             {4, 4, 8, 1, 2, 4, 2, 64, 48, 128},
                             {128, 32, 2, 4, 32, 2, 4, 320, 320, 128},
                             {1024, 128, 1, 8, 128, 1, 8, 0, 0, 128},
                             {0, 256, 1, 8, 256, 1, 8, 0, 0, 256}};

Problem problem(std::int64_t rows, std::int64_t cols, DType type = DType::bf16,
                std::uintptr_t x = 4096) {
  return {.x = reinterpret_cast<const void*>(x),
          .y = reinterpret_cast<void*>(std::uintptr_t{1} << 46),
          .x_type = type,
          .y_type = type,
          .rows = rows,
          .cols = cols,
          .x_row_stride = cols,
          .x_col_stride = 1,
          .y_stride = 1};
}
Problem spread(Problem p, std::int64_t row_stride, std::int64_t col_stride) {
  p.x_row_stride = row_stride;
  p.x_col_stride = col_stride;
  return p;
}

Plan plan_of(const Problem& p, void* workspace = nullptr) {
  return make_plan(p, kShapes, int(std::size(kShapes)), workspace);
}

DeviceProperties h200() {
  DeviceProperties p;
  p.cc_major = 9;
  p.sm_count = 132;
  p.max_threads_per_sm = 2048;
  return p;
}

bool is_unit(const Pass& pass) {
  return pass.path == Path::unit || pass.path == Path::unit_row || pass.path == Path::unit_staged;
}
// Of the tree of a row, or of all lanes' loads at once.
int tree_vectors(const Pass& pass) {
  if (pass.path == Path::unit_row) return 32 * row_vectors(pass.shape);
  return kShapes[pass.shape].lanes * kShapes[pass.shape].vectors;
}

// What a row's tree consists of.
struct Tree {
  Path path;
  int vectors;
  std::int64_t chunk_cols, piece_cols;
  int pieces, count;
  bool operator==(const Tree&) const = default;
};
Tree tree_of(const Plan& plan) {
  const Pass& pass = plan.passes[0];
  return {is_unit(pass) ? Path::unit : Path::strided_rows,
          is_unit(pass) ? tree_vectors(pass) : 0,
          pass.params.chunk_cols,
          pass.params.piece_cols,
          pass.params.pieces,
          plan.count};
}

// Batch invariance: neither rows nor alignment nor strides change it.
TEST(RowSumPlan, TheTreeDependsOnColumnsAndTypeAlone) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    for (std::int64_t cols = 1; cols < std::int64_t{1} << 40; cols = cols * 5 / 4 + 1) {
      const Tree unit = tree_of(plan_of(problem(1, cols, type)));
      for (const std::int64_t rows : {std::int64_t{7}, std::int64_t{132}, std::int64_t{1} << 15}) {
        EXPECT_EQ(tree_of(plan_of(problem(rows, cols, type))), unit) << cols;
        EXPECT_EQ(tree_of(plan_of(problem(rows, cols, type, 4098))), unit) << cols;
        EXPECT_EQ(tree_of(plan_of(spread(problem(rows, cols, type), cols + 1, 1))), unit) << cols;
      }
      if (cols == 1) continue;
      const Tree strided = tree_of(plan_of(spread(problem(1, cols, type), cols, 2)));
      EXPECT_EQ(tree_of(plan_of(spread(problem(9, cols, type), 1, 9))), strided) << cols;
      EXPECT_EQ(tree_of(plan_of(spread(problem(9, cols, type), 0, 0))), strided) << cols;
    }
  }
}

// The elements of a chain, at most 32 of them on every path and pass, for rows of up to 2^50.
TEST(RowSumPlan, NoChainIsLongerThan32) {
  for (const DType type : {DType::f32, DType::bf16}) {
    for (std::int64_t cols = 1; cols < std::int64_t{1} << 50; cols = cols * 9 / 8 + 1) {
      for (const std::int64_t col_stride : {1, 2}) {
        const Plan plan = plan_of(spread(problem(1, cols, type), cols, col_stride));
        ASSERT_LE(plan.count, Plan::kMostPasses);
        EXPECT_EQ(plan.passes[plan.count - 1].chunks, 1) << cols;
        for (int i = 0; i < plan.count; ++i) {
          const Pass& pass = plan.passes[i];
          const Params& p = pass.params;
          EXPECT_EQ(pass.chunks, (std::max<std::int64_t>(p.cols, 1) - 1) / p.chunk_cols + 1);
          EXPECT_GE(p.chunk_cols * pass.chunks, p.cols);
          if (is_unit(pass)) {
            const std::int64_t vector = kVectorBytes / std::int64_t(size_of(pass.x_type));
            const int lanes = pass.path == Path::unit_row ? 32 : kShapes[pass.shape].lanes;
            EXPECT_LE(p.chunk_cols, lanes * kLongestChain * vector) << cols;
            EXPECT_EQ(p.chunk_cols % vector, 0) << cols;
          } else {
            EXPECT_EQ(p.piece_cols * p.pieces, p.chunk_cols);
            EXPECT_EQ(p.piece_cols % kChains, 0);
            EXPECT_LE(p.piece_cols / kChains, kLongestChain) << cols;
          }
        }
      }
    }
  }
}

// C8: element counts around 2^31 and beyond: all of them covered, by a grid that can be launched.
TEST(RowSumPlan, C8LargeCounts) {
  const std::int64_t counts[] = {(std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                 std::int64_t{1} << 32, std::int64_t{1} << 33,
                                 (std::int64_t{1} << 28) * 9};
  const DeviceProperties properties = h200();
  const LaunchContext all{properties, 132, false, nullptr, nullptr};
  for (const std::int64_t n : counts) {
    for (const Problem& p : {problem(1, n), problem(n, 1), problem(n, 3), problem(n / 9, 9),
                             spread(problem(1, n), n, 2), spread(problem(n, 2), 1, n)}) {
      const Plan plan = plan_of(p);
      for (int i = 0; i < plan.count; ++i) {
        const Pass& pass = plan.passes[i];
        const unsigned grid = capped_grid(pass.ctas, all, pass.threads);
        EXPECT_GE(grid, 1u);
        EXPECT_LE(std::int64_t(grid), kMostCtas);
        EXPECT_EQ(pass.params.chunks.divisor, pass.chunks);
        if (pass.path == Path::unit_staged) {
          EXPECT_GE(pass.params.items * (kStagedThreads / 32) * pass.params.tile_rows, p.rows);
        } else if (pass.path == Path::unit_row) {
          EXPECT_GE(pass.params.items * (pass.threads / 32), p.rows);
        } else if (pass.path != Path::unit) {
          const std::int64_t rows_per_warp =
              pass.path == Path::strided_vectors
                  ? std::int64_t(kVectorBytes / size_of(pass.x_type)) * strided_vectors(pass.shape)
              : pass.path == Path::strided_rows ? 32
                                                : 1;
          const std::int64_t rows =
              pass.params.items / pass.chunks * (8 / pass.params.pieces) * rows_per_warp;
          EXPECT_GE(rows, p.rows);
        } else if (const Shape& shape = kShapes[pass.shape]; shape.lanes <= 32) {
          const bool whole = pass.params.whole;
          const int rows = whole ? shape.rows : shape.ragged_rows;
          const int lanes = whole ? shape.lanes : shape.ragged_lanes;
          EXPECT_GE(pass.params.items * (shape.threads / lanes * rows), p.rows);
          EXPECT_EQ(pass.ctas, pass.params.items);
        } else {
          EXPECT_EQ(pass.params.items, p.rows * pass.chunks);
        }
      }
    }
  }
}

TEST(RowSumPlan, PassesHandTheirSumsOn) {
  void* const workspace = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
  Problem p = problem(3, std::int64_t{1} << 28, DType::bf16);
  p.y_type = DType::f32;
  p.y_stride = 5;
  const Plan plan = plan_of(p, workspace);
  ASSERT_EQ(plan.count, 2);
  const Pass &first = plan.passes[0], &second = plan.passes[1];
  EXPECT_EQ(first.params.y, workspace);
  EXPECT_EQ(first.params.y_type, DType::f32);
  EXPECT_EQ(first.params.y_stride, 1);
  EXPECT_EQ(second.params.x, workspace);
  EXPECT_EQ(second.x_type, DType::f32);
  EXPECT_EQ(second.params.cols, first.chunks);
  EXPECT_EQ(second.params.x_row_stride, first.chunks);
  EXPECT_EQ(second.params.safe, workspace);
  EXPECT_EQ(second.params.safe_bytes, std::uint64_t(3 * first.chunks) * sizeof(float));
  EXPECT_EQ(second.params.y, p.y);
  EXPECT_EQ(second.params.y_stride, 5);
  EXPECT_GE(plan.workspace_bytes, 3 * first.chunks * std::int64_t(sizeof(float)));
  EXPECT_EQ(plan.workspace_bytes, plan_of(p).workspace_bytes);
  EXPECT_LE(first.chunks, 8192) << "the second pass is one round of loads";
}

TEST(RowSumPlan, AlignedMeansEveryRow) {
  EXPECT_TRUE(plan_of(problem(5, 64)).passes[0].params.aligned);
  EXPECT_TRUE(plan_of(problem(1, 63)).passes[0].params.aligned);
  EXPECT_FALSE(plan_of(problem(5, 63)).passes[0].params.aligned);
  EXPECT_FALSE(plan_of(problem(1, 64, DType::bf16, 4098)).passes[0].params.aligned);
  EXPECT_TRUE(plan_of(spread(problem(5, 63), 64, 1)).passes[0].params.aligned);
  EXPECT_TRUE(plan_of(spread(problem(5, 63), 0, 1)).passes[0].params.aligned);
}

TEST(RowSumPlan, WholeMeansThatNoAlignedVectorLeavesTheView) {
  EXPECT_TRUE(plan_of(problem(5, 64)).passes[0].params.whole);
  EXPECT_FALSE(plan_of(problem(1, 63)).passes[0].params.whole);
  EXPECT_FALSE(plan_of(spread(problem(5, 63), 64, 1)).passes[0].params.whole);
  EXPECT_FALSE(plan_of(problem(8, 63)).passes[0].params.whole) << "ends well, but rows do not";
  EXPECT_FALSE(plan_of(problem(1, 64, DType::bf16, 4098)).passes[0].params.whole);
}

TEST(RowSumPlan, SafeVectorsLieWithinTheView) {
  const auto safe = [](const Problem& p) {
    const Params params = plan_of(p).passes[0].params;
    const auto begin = reinterpret_cast<std::uintptr_t>(params.safe);
    return std::pair(begin, begin + params.safe_bytes);
  };
  EXPECT_EQ(safe(problem(5, 64)), std::pair(4096ul, 4096ul + 2 * 5 * 64));
  EXPECT_EQ(safe(problem(5, 63)), std::pair(4096ul, 4096ul + 624));                     // of 630
  EXPECT_EQ(safe(spread(problem(5, 63), 70, 1)), std::pair(4096ul, 4096ul + 672));      // of 686
  EXPECT_EQ(safe(problem(5, 63, DType::bf16, 4098)), std::pair(4112ul, 4096ul + 624));  // of 632
  EXPECT_EQ(safe(problem(1, 3, DType::bf16, 4098)), std::pair(4112ul, 4112ul));
  EXPECT_EQ(safe(problem(1, 15, DType::bf16, 4098)), std::pair(4112ul, 4128ul));
  const auto [begin, end] = safe(problem(5, 0));
  EXPECT_EQ(begin, end);
}

TEST(RowSumPlan, LanesRunAlongTheCloserDimension) {
  const auto vectors = [](const Problem& p, int shape) {
    const Pass pass = plan_of(p).passes[0];
    return pass.path == Path::strided_vectors && pass.shape == shape;
  };
  EXPECT_TRUE(vectors(spread(problem(40, 99), 1, 40), 7));    // 8 lanes, aligned
  EXPECT_TRUE(vectors(spread(problem(400, 99), 1, 400), 9));  // 16 lanes
  EXPECT_TRUE(vectors(spread(problem(400, 9), 1, 400), 11));  // 32, a few columns
  EXPECT_TRUE(vectors(spread(problem(40, 9), 1, 41), 6));
  EXPECT_TRUE(vectors(spread(problem(57, 9), 1, 57), 10));
  EXPECT_TRUE(vectors(spread(problem(57, 99), 1, 57), 8));
  EXPECT_TRUE(vectors(spread(problem(40, 9, DType::bf16, 4098), 1, 40), 6));
  EXPECT_TRUE(vectors(spread(problem(16, 9, DType::f32), 1, 16), 5));
  EXPECT_TRUE(vectors(spread(problem(16, 9), 1, 16), 3));
  EXPECT_TRUE(vectors(spread(problem(8, 9), 1, 8), 1));
  EXPECT_TRUE(vectors(spread(problem(3, 9), 1, 3), 2));
  EXPECT_EQ(plan_of(spread(problem(40, 9), 2, 40)).passes[0].path, Path::strided_rows);
  EXPECT_EQ(plan_of(spread(problem(40, 9), 30, 3)).passes[0].path, Path::strided_cols);
  EXPECT_EQ(plan_of(spread(problem(1, 9), 9, 40)).passes[0].path, Path::strided_cols);
  EXPECT_EQ(plan_of(spread(problem(40, 1), 30, 1)).passes[0].path, Path::unit);
}

TEST(RowSumPlan, WordsNameWhatMatters) {
  const DeviceProperties properties = h200();
  const auto text = [&](const Problem& p, int max_sms = 132) {
    const LaunchContext context{properties, max_sms, false, nullptr, nullptr};
    return describe_plan(plan_of(p), kShapes, context, false);
  };
  const auto has = [](const std::string& s, const char* part) {
    return s.find(part) != std::string::npos ? testing::AssertionSuccess()
                                             : testing::AssertionFailure() << s;
  };
  EXPECT_TRUE(has(text(problem(1000, 8)), "path: 1 lane(s) a row, 256 row(s) a warp\n"));
  EXPECT_TRUE(has(text(problem(1000, 8)), "launch: grid 1, block 128\n"));
  EXPECT_TRUE(
      has(text(problem(1000, 9)), "path: 1 lane(s) a row, 224 rows a warp, through shared"));
  EXPECT_TRUE(has(text(problem(1000, 999)), "rows are not all 16-byte aligned"));
  EXPECT_TRUE(has(text(problem(1000, 16384)), "path: 256 threads a row\nlaunch: grid 1000, "));
  EXPECT_TRUE(has(text(problem(1000, 16384), 2), "launch: grid 16, block 256\n"));
  const std::string split = text(problem(2, 1 << 20));
  EXPECT_TRUE(has(split, "each row in 16 chunks of 65536 columns"));
  EXPECT_TRUE(has(split, "then: the sums of the chunks, "));
  EXPECT_TRUE(has(text(spread(problem(40, 9), 1, 40)), "16 bytes a load, lanes along the rows"));
  EXPECT_TRUE(has(text(spread(problem(40, 9), 30, 3)), "slower than unit columns"));
}

}  // namespace
}  // namespace libkernels::op::row_sum
