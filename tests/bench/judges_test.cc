// The judges: what they find is what a plain computation on the host finds, and what is wrong does
// not pass.
#include "bench/judges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "bench/contestants.h"
#include "bench/inputs.h"
#include "src/backend.h"

namespace libkernels::bench {
namespace {

// fp32 matrices on the host, which is where the emulator's device memory is; the emulator wants to
// know of it.
template <class T>
class Memory {
 public:
  explicit Memory(std::size_t n) : n_(n) {
    EXPECT_EQ(emu_device().allocate(&data_, n * sizeof(T)), cudaSuccess);
    std::memset(data_, 0, n * sizeof(T));
  }
  ~Memory() { (void)emu_device().release(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  T* get() const { return static_cast<T*>(data_); }
  T& operator[](std::size_t i) const { return get()[i]; }
  std::span<const T> all() const { return {get(), n_}; }

 private:
  void* data_ = nullptr;
  std::size_t n_;
};

void fill_normal(const Memory<float>& memory, std::size_t n, int kind = 0) {
  const auto values = normal_period(DType::f32, n, kind);
  std::memcpy(memory.get(), values.data(), n * sizeof(float));
}

const Judges& judges() { return emu_contestants().judges; }

// Rows of x with the exact softmax or sum, rounded to fp32.
class Rows {
 public:
  Rows(std::int64_t rows, std::int64_t cols)
      : rows(rows),
        cols(cols),
        x(std::size_t(rows * cols)),
        y(std::size_t(rows * cols)),
        facts(std::size_t(rows)),
        pieces(std::size_t(facts_pieces(rows, cols)) + 1),
        findings(kFindings) {
    fill_normal(x, std::size_t(rows * cols));
  }

  RowJudgeCall call(std::int64_t y_cols) const {
    return {.x = x.get(),
            .y = y.get(),
            .facts = facts.get(),
            .pieces = pieces.get(),
            .findings = findings.get(),
            .x_type = DType::f32,
            .y_type = DType::f32,
            .rows = rows,
            .cols = cols,
            .x_strides = {cols, 1},
            .y_strides = {y_cols, 1},
            .stream = nullptr};
  }
  Findings softmax() const {
    EXPECT_EQ(judges().row_facts(call(cols), true), cudaSuccess);
    EXPECT_EQ(judges().softmax(call(cols)), cudaSuccess);
    return combine(findings.all());
  }
  Findings row_sum() const {
    EXPECT_EQ(judges().row_facts(call(1), false), cudaSuccess);
    EXPECT_EQ(judges().row_sum(call(1)), cudaSuccess);
    return combine(findings.all());
  }
  double exact_sum(std::int64_t r, const std::function<double(double)>& f) const {
    double sum = 0;
    for (std::int64_t c = 0; c < cols; ++c) sum += f(x[std::size_t(r * cols + c)]);
    return sum;
  }
  double max(std::int64_t r) const {
    return *std::max_element(x.get() + r * cols, x.get() + (r + 1) * cols);
  }
  void solve_softmax() const {
    for (std::int64_t r = 0; r < rows; ++r) {
      const double m = max(r);
      const double s = exact_sum(r, [&](double v) { return std::exp(v - m); });
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::size_t i = std::size_t(r * cols + c);
        y[i] = float(std::exp(double(x[i]) - m) / s);
      }
    }
  }

  std::int64_t rows, cols;
  Memory<float> x, y;
  Memory<RowFacts> facts, pieces;
  Memory<Findings> findings;
};

TEST(RowJudge, FactsAreThoseOfTheRows) {
  for (const auto& [n_rows, n_cols] : {std::pair{5, 7}, {3, 4097}, {1, 20000}, {40, 1}}) {
    const Rows rows(n_rows, n_cols);
    (void)rows.softmax();
    for (std::int64_t r = 0; r < n_rows; ++r) {
      const RowFacts& f = rows.facts[std::size_t(r)];
      const double m = rows.max(r);
      EXPECT_EQ(f.max, m);
      EXPECT_NEAR(f.sum, rows.exact_sum(r, [](double v) { return v; }), 1e-9);
      EXPECT_NEAR(f.sum_abs, rows.exact_sum(r, [](double v) { return std::fabs(v); }), 1e-9);
      EXPECT_NEAR(f.sum_exp, rows.exact_sum(r, [&](double v) { return std::exp(v - m); }), 1e-9);
    }
  }
}

TEST(RowJudge, AnExactSoftmaxPassesWithHalfAnUlp) {
  const Rows rows(4, 300);
  rows.solve_softmax();
  const Findings found = rows.softmax();
  EXPECT_EQ(found.not_finite, 0);
  EXPECT_GT(found.ulp, 0.3);
  EXPECT_LE(found.ulp, 0.5001);
  EXPECT_LT(found.fraction, 0.2);
  EXPECT_EQ(verdict_of(found, true).fault, "");
}

TEST(RowJudge, OneWrongElementIsFoundWhereverItIs) {
  const Rows rows(4, 4100);
  rows.solve_softmax();
  for (const std::size_t where : {0u, 4099u, 4100u, 16399u}) {
    const float right = rows.y[where];
    rows.y[where] = right * (1 + 1e-4f);
    const Findings found = rows.softmax();
    EXPECT_GT(found.fraction, 1) << where;
    EXPECT_EQ(found.worst, std::int64_t(where));
    EXPECT_NE(verdict_of(found, true).fault, "");
    EXPECT_EQ(verdict_of(found, false).fault.empty(), found.wide <= 1);
    rows.y[where] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_NE(verdict_of(rows.softmax(), false).fault, "") << where;
    rows.y[where] = right;
  }
}

TEST(RowJudge, SumsThatMissOneElementDoNotPass) {
  const Rows rows(6, 5000);
  const auto identity = [](double v) { return v; };
  for (std::int64_t r = 0; r < 6; ++r) rows.y[std::size_t(r)] = float(rows.exact_sum(r, identity));
  EXPECT_LT(rows.row_sum().fraction, 0.1);
  rows.y[5] -= rows.x[29999];
  EXPECT_NE(verdict_of(rows.row_sum(), true).fault, "");
  EXPECT_NE(verdict_of(rows.row_sum(), false).fault, "");
}

// C = relu(A B + bias), all fp32.
class Product {
 public:
  Product(std::int64_t m, std::int64_t n, std::int64_t k)
      : a(std::size_t(m * k)),
        b(std::size_t(k * n)),
        c(std::size_t(m * n)),
        bias(std::size_t(n)),
        facts(std::size_t(kMatmulSamples) * kMatmulSamples),
        findings(kFindings),
        args{.a = a.get(),
             .b = b.get(),
             .c = c.get(),
             .bias = bias.get(),
             .scratch = nullptr,
             .in_type = DType::f32,
             .out_type = DType::f32,
             .math = Math::fp32,
             .epilogue = Epilogue::bias_relu,
             .m = m,
             .n = n,
             .k = k,
             .a_strides = {k, 1},
             .b_strides = {1, k},
             .c_strides = {n, 1},
             .stream = nullptr} {
    fill_normal(a, std::size_t(m * k), 0);
    fill_normal(b, std::size_t(k * n), 1);
    fill_normal(bias, std::size_t(n), 2);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = bias[std::size_t(j)];
        for (std::int64_t p = 0; p < k; ++p) {
          sum += double(a[std::size_t(i * k + p)]) * b[std::size_t(j * k + p)];
        }
        c[std::size_t(i * n + j)] = float(std::max(sum, 0.0));
      }
    }
  }
  Findings judge() const {
    const MatmulJudgeCall call{.args = args,
                               .facts = facts.get(),
                               .findings = findings.get(),
                               .bounds = product_bounds(DType::f32, Math::fp32, args.k)};
    EXPECT_EQ(judges().matmul_facts(call), cudaSuccess);
    EXPECT_EQ(judges().matmul(call), cudaSuccess);
    return combine(findings.all());
  }

  Memory<float> a, b, c, bias;
  Memory<ProductFacts> facts;
  Memory<Findings> findings;
  MatmulArgs args;
};

TEST(MatmulJudge, AnExactProductPassesAndAWrongElementDoesNot) {
  const Product product(9, 21, 70);
  EXPECT_LT(product.judge().fraction, 0.2);
  for (const std::size_t where : {0u, 20u, 188u}) {
    const float right = product.c[where];
    product.c[where] = right + 0.01f;
    const Findings found = product.judge();
    EXPECT_GT(found.fraction, 1);
    EXPECT_EQ(found.worst, std::int64_t(where));
    EXPECT_NE(verdict_of(found, false).fault, "");
    product.c[where] = right;
  }
}

TEST(MatmulJudge, OfALargeProductEveryPartIsLookedAt) {
  // 2 columns, 1000 rows: samples of 256 parts, the first and the last row among them.
  const Product product(1000, 2, 8);
  EXPECT_LT(product.judge().fraction, 0.2);
  int found = 0;
  for (std::int64_t part = 0; part < kMatmulSamples; ++part) {
    std::vector<float> right;
    const std::int64_t begin = part * 1000 / kMatmulSamples * 2;
    const std::int64_t end = (part + 1) * 1000 / kMatmulSamples * 2;
    for (std::int64_t i = begin; i < end; ++i) {
      right.push_back(product.c[std::size_t(i)]);
      product.c[std::size_t(i)] += 1;
    }
    if (part % 51 == 0) found += product.judge().fraction > 1;
    for (std::int64_t i = begin; i < end; ++i)
      product.c[std::size_t(i)] = right[std::size_t(i - begin)];
  }
  EXPECT_EQ(found, 6);
}

TEST(MatmulJudge, BoundsAreThoseOfTheSemantics) {
  const auto fused = [](DType in, Math math, std::int64_t k) {
    return product_bounds(in, math, k).fused;
  };
  EXPECT_DOUBLE_EQ(fused(DType::f32, Math::fp32, 64), 8 * 0x1p-24);
  EXPECT_DOUBLE_EQ(fused(DType::f32, Math::fp32, 4096), 32 * 0x1p-24);
  EXPECT_DOUBLE_EQ(fused(DType::bf16, Math::fp32, 64), 2 * 0x1p-23);
  EXPECT_DOUBLE_EQ(fused(DType::f16, Math::fp32, 4096), 8 * 0x1p-23);
  EXPECT_DOUBLE_EQ(fused(DType::f32, Math::tf32, 4096), 0x1p-10 + 8 * 0x1p-23);
  EXPECT_DOUBLE_EQ(fused(DType::f8_e4m3, Math::fp32, 4096), 0x1p-9);
  for (const DType in : {DType::f32, DType::f16, DType::f8_e5m2}) {
    const ProductBounds b = product_bounds(in, Math::fp32, 1000);
    EXPECT_GT(b.wide, b.fused);
  }
}

TEST(Inputs, AreNormalAndOfTheirKind) {
  for (const DType type : {DType::f32, DType::bf16, DType::f8_e4m3}) {
    const auto first = normal_period(type, 1000), second = normal_period(type, 1000, 1);
    EXPECT_EQ(first.size(), 1000 * size_of(type));
    EXPECT_FALSE(std::equal(first.begin(), first.end(), second.begin()));
  }
}

}  // namespace
}  // namespace libkernels::bench
