// The plan of GeLU by arithmetic: no kernel runs, so shapes larger than any machine are fine.
// Cost: below a second.
#include "kernels/gelu/gelu_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "kernels/common/launch_plan.h"

namespace libkernels::op::gelu {
namespace {

constexpr int kThreads = 256;
constexpr int kWindowBytes = 16;
constexpr Shape kShape{.threads = kThreads, .window_bytes = kWindowBytes};
constexpr std::int64_t kMostCtas = (std::int64_t{1} << 31) - 1;

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

Problem problem(std::int64_t rows, std::int64_t cols, DType type = DType::bf16,
                std::uintptr_t x = 4096, std::uintptr_t y = std::uintptr_t{1} << 46) {
  return {.x = at(x),
          .y = const_cast<void*>(at(y)),
          .x_type = type,
          .y_type = type,
          .form = Form::tanh,
          .rows = rows,
          .cols = cols,
          .x_row_stride = cols,
          .x_col_stride = 1,
          .y_row_stride = cols,
          .y_col_stride = 1};
}

DeviceProperties h200() {
  DeviceProperties p;
  p.cc_major = 9;
  p.sm_count = 132;
  p.max_threads_per_sm = 2048;
  return p;
}

TEST(GeluPlan, DenseRowsBecomeOne) {
  const Problem p = normalised(problem(70, 33));
  EXPECT_EQ(p.rows, 1);
  EXPECT_EQ(p.cols, 70 * 33);
}

TEST(GeluPlan, ColumnMajorIsTransposed) {
  Problem p = problem(70, 33);
  p.x_row_stride = p.y_row_stride = 1;
  p.x_col_stride = p.y_col_stride = 80;  // a pitch, so that rows do not merge
  EXPECT_EQ(make_plan(p, kShape).path, Path::rows);
  EXPECT_EQ(normalised(p).rows, 33);
  EXPECT_EQ(normalised(p).cols, 70);
  p.x_row_stride = 33;  // x row-major, y column-major
  p.x_col_stride = 1;
  EXPECT_EQ(make_plan(p, kShape).path, Path::strided);
}

TEST(GeluPlan, OneColumnIsOneRow) {
  Problem p = problem(1000, 1);
  EXPECT_EQ(normalised(p).rows, 1);
  EXPECT_EQ(normalised(p).cols, 1000);
  p.x_row_stride = 3;  // every third element
  EXPECT_EQ(normalised(p).x_col_stride, 3);
  EXPECT_EQ(make_plan(p, kShape).path, Path::strided);
}

TEST(GeluPlan, StridesOfExtentsOfOneAreIgnored) {
  Problem p = problem(1, 1);
  p.x_row_stride = p.x_col_stride = 77;
  p.y_row_stride = p.y_col_stride = 99;
  EXPECT_EQ(make_plan(p, kShape).path, Path::one_row);
  p = problem(1, 50);
  p.x_row_stride = 1;
  p.y_row_stride = 1;
  EXPECT_EQ(make_plan(p, kShape).path, Path::one_row);
}

// Every element of every row lies in exactly one window: window w of a row whose start is `phase`
// elements into its window holds the columns [w k - phase, w k - phase + k).
TEST(GeluPlan, WindowsCoverEveryElementOnce) {
  for (const DType type : {DType::bf16, DType::f32}) {
    const std::int64_t size = std::int64_t(size_of(type));
    const std::int64_t k = kWindowBytes / size;
    for (std::int64_t offset = 0; offset < k; ++offset) {
      for (const std::int64_t pitch : {100, 101, 104, 107}) {
        for (const std::int64_t cols : {1, 2, 7, 8, 9, 31, 99, 100}) {
          Problem p = problem(5, cols, type, 4096, std::uintptr_t(1 << 20) + offset * size);
          p.x_row_stride = p.y_row_stride = pitch;
          const Plan plan = make_plan(p, kShape);
          if (plan.path != Path::rows) continue;  // cols == 1
          const std::int64_t per_row = plan.params.per_row.divisor;
          EXPECT_EQ(plan.params.items, per_row * plan.params.rows);
          for (std::int64_t r = 0; r < plan.params.rows; ++r) {
            const std::int64_t phase = (offset + r * pitch) % k;
            EXPECT_LE(-phase, 0);
            EXPECT_GE(per_row * k - phase, cols) << "row " << r << " is not covered";
          }
          EXPECT_LE(per_row, (cols + k - 2) / k + 1) << "more windows than any phase needs";
        }
      }
    }
  }
}

// One row: each element is in one window or at an end, window 0 begins a line of y, and the two
// vectors from which a window of x is realigned lie inside the row.
TEST(GeluPlan, OneRowIsCutIntoWindowsAndEnds) {
  constexpr std::int64_t kLine = 128;
  for (const DType type : {DType::bf16, DType::f32}) {
    const std::int64_t size = std::int64_t(size_of(type));
    const std::int64_t k = kWindowBytes / size;
    for (std::int64_t x_offset = 0; x_offset < k; ++x_offset) {
      for (std::int64_t y_offset = 0; y_offset <= kLine / size; ++y_offset) {
        for (std::int64_t cols = 1; cols < 2 * kLine / size + 5 * k; ++cols) {
          const Problem p = problem(1, cols, type, std::uintptr_t(4096 + x_offset * size),
                                    std::uintptr_t(8192 + y_offset * size));
          const Plan plan = make_plan(p, kShape);
          const Params& q = plan.params;
          const auto x = std::int64_t(reinterpret_cast<std::uintptr_t>(q.x)) - 4096;
          const auto y = std::int64_t(reinterpret_cast<std::uintptr_t>(q.y)) - 8192;
          ASSERT_EQ(x, (x_offset + q.before) * size);
          ASSERT_EQ(y, (y_offset + q.before) * size);
          ASSERT_GE(q.before, 0);
          ASSERT_LE(q.before + q.windows * k, cols);
          ASSERT_EQ(q.ends, cols - q.windows * k);
          ASSERT_LT(q.ends, 2 * kLine / size + 3 * k) << "almost no window is whole";
          const bool whole = q.ends == 0 && q.x_phase == 0;
          ASSERT_EQ(plan.path, whole ? Path::singles : Path::one_row);
          ASSERT_EQ(plan.ctas, (q.windows + kThreads - 1) / kThreads + (whole ? 0 : 1));
          if (q.windows == 0) continue;
          ASSERT_EQ(y % kWindowBytes, 0);
          ASSERT_EQ(y % kLine, 0);
          ASSERT_EQ(x % kWindowBytes, q.x_phase);
          if (q.x_phase == 0) continue;
          ASSERT_GE(x - q.x_phase, x_offset * size);
          ASSERT_LE(x - q.x_phase + (q.windows + 1) * kWindowBytes, (x_offset + cols) * size);
        }
      }
    }
  }
}

TEST(GeluPlan, ACappedRowLoopsOverItsWindows) {
  const Problem p = problem(1, 100003, DType::bf16, 4098, 8200);
  const Plan whole = make_plan(p, kShape);
  EXPECT_EQ(whole.path, Path::one_row);
  Shape shape = kShape;
  shape.most_ctas = whole.ctas;
  EXPECT_EQ(make_plan(p, shape).path, Path::one_row);
  shape.most_ctas = whole.ctas - 1;
  const Plan capped = make_plan(p, shape);
  EXPECT_EQ(capped.path, Path::rows);
  EXPECT_EQ(capped.params.x, p.x);
  EXPECT_EQ(capped.params.rows, 1);
  EXPECT_EQ(capped.params.per_row.divisor, capped.params.items);
}

TEST(GeluPlan, PairsWhereTheyFillAWave) {
  Shape shape = kShape;
  shape.resident_ctas = 100;
  const auto plan = [&](std::int64_t windows, Pairs pairs) {
    shape.pairs = pairs;
    return make_plan(problem(1, 8 * windows), shape);
  };
  EXPECT_EQ(plan(200 * kThreads, Pairs::never).path, Path::singles);
  for (const Pairs pairs : {Pairs::in_one_wave, Pairs::beyond_one_wave}) {
    EXPECT_EQ(plan(150 * kThreads, pairs).path, Path::singles);
    EXPECT_EQ(plan(150 * kThreads + 1, pairs).path, Path::pairs);
    EXPECT_EQ(plan(150 * kThreads + 1, pairs).ctas, 76);
    EXPECT_EQ(plan(200 * kThreads, pairs).path, Path::pairs);
    EXPECT_EQ(plan(200 * kThreads, pairs).ctas, 100);
  }
  EXPECT_EQ(plan(200 * kThreads + 1, Pairs::in_one_wave).path, Path::singles);
  EXPECT_EQ(plan(200 * kThreads + 1, Pairs::beyond_one_wave).path, Path::pairs);
  // Not with single elements, nor with x out of phase.
  shape.pairs = Pairs::beyond_one_wave;
  const std::int64_t n = 8 * 200 * kThreads;
  EXPECT_EQ(make_plan(problem(1, n + 1), shape).path, Path::one_row);
  EXPECT_EQ(make_plan(problem(1, n, DType::bf16, 4098), shape).path, Path::one_row);
}

// C8: element counts at which a 32-bit count, or a ceiling division of ints, overflows.
TEST(GeluPlan, C8GridsOfHugeProblemsAreLegalAndCoverThem) {
  const std::int64_t two31 = std::int64_t{1} << 31;
  const DeviceProperties properties = h200();
  const LaunchContext all{properties, properties.sm_count, false, nullptr, nullptr};
  for (const std::int64_t n :
       {two31 - 1, two31, 2 * two31, 4 * two31, 9 * (two31 >> 3), two31 << 10}) {
    for (const DType type : {DType::bf16, DType::f32}) {
      for (Problem p : {problem(1, n, type), problem(n, 1, type), problem(n / 9, 9, type)}) {
        const Plan plan = make_plan(p, kShape);
        const std::int64_t per_window = kWindowBytes / std::int64_t(size_of(type));
        const bool rows = plan.path == Path::rows;
        const std::int64_t windows = rows ? plan.params.items : plan.params.windows;
        EXPECT_GE(windows * per_window + plan.params.ends, p.rows * p.cols);
        const std::int64_t of_windows = plan.ctas - (plan.path == Path::one_row ? 1 : 0);
        EXPECT_GE(of_windows * kThreads, windows);
        EXPECT_LT((of_windows - 1) * kThreads, windows);
        const unsigned grid = capped_grid(plan.ctas, all, kThreads);
        EXPECT_EQ(grid, std::min(plan.ctas, kMostCtas));
      }
    }
  }
}

TEST(GeluPlan, StridedTilesCoverTheMatrix) {
  for (const std::int64_t rows : {1, 2, 3, 31, 32, 33, 1000}) {
    for (const std::int64_t cols : {1, 31, 33, 1023, 1025, 5000}) {
      Problem p = problem(rows, cols);
      p.x_row_stride = 3 * cols + 1;
      p.x_col_stride = 3;
      const Plan plan = make_plan(p, kShape);
      if (plan.path != Path::strided) continue;  // one element
      const std::int64_t tile_cols = std::int64_t{1} << plan.params.tile_cols_log2;
      const std::int64_t tile_rows = kTileElements / tile_cols;
      const std::int64_t across = plan.params.per_row.divisor;
      const std::int64_t down = plan.params.items / across;
      EXPECT_EQ(down * across, plan.params.items);
      EXPECT_GE(across * tile_cols, plan.params.cols);
      EXPECT_LT((across - 1) * tile_cols, plan.params.cols);
      EXPECT_GE(down * tile_rows, plan.params.rows);
      EXPECT_LT((down - 1) * tile_rows, plan.params.rows);
    }
  }
}

TEST(GeluPlan, MaxSmsCapsTheGrid) {
  const DeviceProperties properties = h200();
  const Plan plan = make_plan(problem(1, 1 << 24), kShape);
  const LaunchContext all{properties, 132, false, nullptr, nullptr};
  const LaunchContext one{properties, 1, false, nullptr, nullptr};
  EXPECT_EQ(capped_grid(plan.ctas, all, kThreads), plan.ctas);
  EXPECT_EQ(capped_grid(plan.ctas, one, kThreads), 2048u / kThreads);
}

TEST(GeluPlan, DescriptionSaysWhatAlignmentCosts) {
  const DeviceProperties properties = h200();
  const LaunchContext all{properties, 132, false, nullptr, nullptr};
  const auto text = [&](const Problem& p) {
    return describe_plan(p, make_plan(p, kShape), kShape, all, false);
  };
  EXPECT_NE(text(problem(1, 1000)).find("in phase"), std::string::npos);
  EXPECT_NE(text(problem(1, 1000, DType::bf16, 4098)).find("out of phase"), std::string::npos);
  EXPECT_NE(text(problem(1, 1000, DType::bf16, 4098, 8194)).find("x is in phase"),
            std::string::npos);
  Problem p = problem(10, 1000);
  p.x_row_stride = 1001;
  EXPECT_NE(text(p).find("where a row of x is out of phase"), std::string::npos);
  p.x_col_stride = 2;
  EXPECT_NE(text(p).find("strided"), std::string::npos);
}

}  // namespace
}  // namespace libkernels::op::gelu
