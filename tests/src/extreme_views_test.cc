// Views at the limits of 64 bits: refused, or planned without overflow.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>

#include "include/libkernels/dtype.h"
#include "kernels/gelu/gelu_plan.h"
#include "src/backend.h"
#include "src/check.h"
#include "tests/support/refusal.h"

namespace libkernels {
namespace {

using test::is_invalid;
using test::refusal;

// What the checks accept must have a plan without overflow (the sanitizers' build sees one as
// such): extents, strides and addresses around every power of two, judged in 128 bits.
TEST(ExtremeViewsTest, EveryAcceptedOneHasAPlan) {
  using Wide = __int128;
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  // Around a power of two, 0 to 2^63 - 1; small ones in half of the cases.
  const auto extreme = [&]() -> std::int64_t {
    const int exponent = below(2) == 0 ? int(below(8)) : int(below(64));
    const std::uint64_t value =
        exponent == 63 ? ~std::uint64_t{0} >> 1 : (std::uint64_t{1} << exponent);
    return std::int64_t((value + below(5) - 2) & (~std::uint64_t{0} >> 1));
  };
  const auto address = [&](std::uint64_t size) {
    const std::uint64_t end = below(8) == 0 ? std::uint64_t(extreme()) : 0;
    return reinterpret_cast<void*>(((std::uint64_t(extreme()) << below(2)) - end) & ~(size - 1));
  };
  constexpr std::pair<DType, DType> kMixes[] = {{DType::f32, DType::f32},
                                                {DType::f16, DType::f16},
                                                {DType::f16, DType::f32},
                                                {DType::bf16, DType::f32}};
  int accepted = 0, huge = 0;
  for (int i = 0; i < 400'000; ++i) {
    const auto& mix = kMixes[below(4)];
    const DType x_type = mix.first, y_type = mix.second;
    const std::int64_t rows = below(3) == 0 ? 1 : extreme(), cols = below(3) == 0 ? 1 : extreme();
    // Strides that mean something are rare among random ones.
    const auto stride = [&](std::int64_t extent) {
      switch (below(4)) {
        case 0:
          return extreme();
        case 1:
          return std::int64_t{1};
        case 2:
          return std::int64_t(std::uint64_t(extent) + below(3)) & INT64_MAX;
        default:
          return extent;
      }
    };
    const lk_cmatrix x{
        address(size_of(x_type)), lk_dtype(x_type), rows, cols, stride(cols), stride(rows)};
    const lk_matrix y{
        address(size_of(y_type)), lk_dtype(y_type), rows, cols, stride(cols), stride(rows)};
    op::gelu::Problem p{};
    const auto r = refusal([&] {
      const Operand cx = check_input("gelu", "x", &x);
      const Operand cy = check_output("gelu", "y", &y);
      if (cx.empty()) throw unsupported("empty");
      p = {.x = cx.data,
           .y = const_cast<void*>(cy.data),
           .x_type = x_type,
           .y_type = y_type,
           .form = op::gelu::Form::tanh,
           .rows = rows,
           .cols = cols,
           .x_row_stride = cx.row_stride,
           .x_col_stride = cx.col_stride,
           .y_row_stride = cy.row_stride,
           .y_col_stride = cy.col_stride};
    });
    if (r.status != LK_SUCCESS) continue;
    ++accepted;
    const Wide elements = Wide(rows) * cols;
    if (elements > Wide(1) << 40) ++huge;
    for (const int window_bytes : {16, 32}) {
      constexpr int kThreads = 256;
      const op::gelu::Shape shape{.threads = kThreads, .window_bytes = window_bytes};
      const op::gelu::Plan plan = op::gelu::make_plan(p, shape);
      const op::gelu::Params& q = plan.params;
      const DeviceProperties properties;
      op::gelu::describe_plan(p, plan, shape, {properties, 1, false, nullptr, nullptr}, false);
      ASSERT_GE(Wide(plan.ctas) * kThreads, Wide(q.items) + q.windows) << i;
      if (plan.path == op::gelu::Path::one_row || plan.path == op::gelu::Path::singles) {
        ASSERT_EQ(Wide(q.windows) * (window_bytes / int(size_of(y_type))) + q.ends, elements) << i;
        continue;
      }
      const bool strided = plan.path == op::gelu::Path::strided;
      const Wide in_one = strided ? op::gelu::kTileElements : window_bytes / int(size_of(y_type));
      ASSERT_EQ(Wide(q.rows) * q.cols, elements) << i;
      ASSERT_GE(Wide(q.items) * in_one, elements) << i << ": " << rows << " x " << cols;
      ASSERT_GT(q.per_row.divisor, 0) << i;
      // Not more than two partly filled windows a row beyond what is needed.
      const Wide full = strided ? Wide(q.items) : Wide(q.rows) * (q.cols / in_one + 2);
      ASSERT_LE(Wide(q.items), full) << i << ": " << rows << " x " << cols;
      if (strided) {
        ASSERT_EQ(plan.ctas, q.items) << i;
      }
    }
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(huge, 1'000);
}

TEST(ExtremeViewsTest, BeyondAllAddressesTheyAreRefused) {
  for (const int log2 : {56, 59, 60, 61, 62}) {
    for (const std::int64_t less : {0, 1}) {
      const std::int64_t cols = (std::int64_t{1} << log2) - less;
      const lk_cmatrix x{reinterpret_cast<void*>(4096), LK_F32, 1, cols, cols, 1};
      const lk_matrix y{reinterpret_cast<void*>(4096), LK_F32, 1, cols, cols, 1};
      EXPECT_TRUE(is_invalid(refusal([&] {
                               emu_backend().gelu.run({&x, &y, nullptr});
                             }),
                             "is too large: a view has fewer than 2^56 elements"));
      EXPECT_TRUE(is_invalid(refusal([&] {
                               emu_backend().gelu.explain({&x, &y, nullptr});
                             }),
                             "spans fewer than 2^56 bytes"));
    }
  }
}

}  // namespace
}  // namespace libkernels
