// Matmul beyond 32 bits: strides and offsets past 2^31 elements in memory of which only the few
// pages that hold elements exist; more rows and products than a grid's y dimension has.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "tests/kernels/matmul/matmul_fixture.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

class MatmulLargeIndex : public MatmulTest {
 protected:
  static constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;

  static std::size_t bytes(const Layout& l, DType type) {
    return std::size_t(l.extent()) * size_of(type);
  }
  static lk_cmatrix view(const SparseBuffer& memory, const Layout& l, DType type) {
    return {memory.data(), std::int32_t(type), l.rows, l.cols, l.row_stride, l.col_stride};
  }
  static void fill(SparseBuffer& memory, const Layout& l, const Bits& bits, DType type) {
    for (std::int64_t r = 0; r < l.rows; ++r) {
      for (std::int64_t c = 0; c < l.cols; ++c) {
        memory.set(std::size_t(l.index(r, c)) * size_of(type), bits[std::size_t(r * l.cols + c)],
                   type);
      }
    }
  }

  static void check_sparse(MatmulCase t) {
    SCOPED_TRACE(show(t));
    SparseBuffer a(device(), emulated(), bytes(t.a, types().a));
    SparseBuffer b(device(), emulated(), bytes(t.b, types().b));
    SparseBuffer c(device(), emulated(), bytes(t.c, types().c));
    if (a.data() == nullptr || b.data() == nullptr || c.data() == nullptr) {
      GTEST_SKIP() << "not enough memory";
    }
    t.a_bits = integers(t.a, types().a, 1);
    t.b_bits = integers(t.b, types().b, 2);
    fill(a, t.a, t.a_bits, types().a);
    fill(b, t.b, t.b_bits, types().b);
    const lk_matrix cv{c.data(), std::int32_t(types().c), t.m, t.n, t.c.row_stride, t.c.col_stride};
    if (!try_call([&] { call(view(a, t.a, types().a), view(b, t.b, types().b), cv, t.options); })) {
      return;
    }
    const Bits expected = exact(t);
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) {
        EXPECT_EQ(c.get(std::size_t(t.c.index(i, j)) * size_of(types().c), types().c),
                  expected[std::size_t(i * t.n + j)])
            << i << "," << j;
      }
    }
  }
};

TEST_P(MatmulLargeIndex, StridesPast2To31) {
  for (int which = 0; which < 3; ++which) {
    MatmulCase t(3, 8, 16);
    if (which == 0) t.a = row_major(t.m, t.k, kFar);
    if (which == 1) t.b = col_major(t.k, t.n, kFar);
    if (which == 2) t.c = row_major(t.m, t.n, kFar + 1);
    check_sparse(t);
  }
  MatmulCase general(2, 3, 5);
  general.a = {2, 5, 1, kFar + 1};
  general.b = {5, 3, 2, kFar};
  check_sparse(general);
}

INSTANTIATE_TEST_SUITE_P(, MatmulLargeIndex, testing::ValuesIn(matmul_params_one_c()), matmul_name);

// The limit of a grid's y and z dimensions; matmul_plan_test.cc has the arithmetic.
class MatmulManyRows : public MatmulTest {};

TEST_P(MatmulManyRows, C5ManyProducts) {
  const std::int64_t count = emulated() ? 300 : 131072;  // emulated, a tile takes a millisecond
  StridedMatrix a(device(), types().a, row_major(1, 1), {encode(1, types().a)});
  StridedMatrix b(device(), types().b, row_major(1, 1), {encode(1, types().b)});
  StridedMatrix c(device(), types().c, row_major(count, 1));
  lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
  o.has_batch = 1;
  o.batch_count = count;
  o.c_batch_stride = 1;
  lk_matrix cv = c.view();
  cv.rows = 1;
  if (!try_call([&] { call(a.cview(), b.cview(), cv, o); })) return;
  EXPECT_TRUE(bits_equal(c.read(), Bits(std::size_t(count), encode(1, types().c)), types().c));
  EXPECT_TRUE(c.gaps_intact());
}

TEST_P(MatmulManyRows, C6ManyRows) {
  const std::int64_t m = emulated() ? 65537 / 4 : std::int64_t{65536} * 64 + 3;
  MatmulCase t(m, 1, 1);
  t.a = {m, 1, 0, 1};
  t.a_bits = Bits(std::size_t(m), encode(1, types().a));
  t.b_bits = {encode(2, types().b)};
  const auto got = run(t);
  if (!got) return;
  EXPECT_TRUE(bits_equal(*got, Bits(std::size_t(m), encode(2, types().c)), types().c));
}

INSTANTIATE_TEST_SUITE_P(, MatmulManyRows, testing::ValuesIn(matmul_params_bf16()), matmul_name);

}  // namespace
}  // namespace libkernels::test
