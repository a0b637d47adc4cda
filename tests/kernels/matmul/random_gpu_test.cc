// 2000 random products, each by every kernel that takes it, against fp64 on the GPU: all types and
// layouts, odd strides and offsets, M and N from 1, K from 0 to 3000, batches, epilogues. Beside
// C's elements nothing may be written, and beside the inputs' all is NaN. Cost: 4 s on an H200;
// nothing without a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include "tests/kernels/matmul/random_kernels.h"
#include "tests/support/backends.h"
#include "tests/support/fill.h"
#include "tests/support/large_memory.h"
#include "tests/support/refusal.h"

namespace libkernels::test {
namespace {

#if defined(LK_HAVE_CUDA)

Device& device() { return cuda_backend().device(); }

// Draws one after the other.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  // 0 .. n - 1.
  std::int64_t below(std::int64_t n) { return std::int64_t(random_bits(seed_, next_++) >> 16) % n; }
  bool percent(int p) { return below(100) < p; }
  template <class T, std::size_t N>
  T among(const T (&values)[N]) {
    return values[below(N)];
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// The contract's bound for zero-mean random data is one of chance: so many results may be beyond
// it, but none beyond the guarantee.
constexpr double kUnlikely = 1e-6;
constexpr std::int64_t kMost = 3000;
constexpr double kMostProducts = 4e10;

// As often small as large; near the tiles' multiples, too.
std::int64_t draw_extent(Dice& dice) {
  if (dice.percent(30)) {
    return std::max<std::int64_t>(1, 64 * dice.below(kMost / 64) + dice.below(3) - 1);
  }
  const double unit = double(dice.below(1 << 20)) / (1 << 20);
  return std::int64_t(std::pow(double(kMost), unit) + 0.5);
}

// Element strides, and how far from 256 bytes the first element lies.
struct Drawn {
  RandomView view;
  std::int64_t offset, extent;  // elements
};

Drawn draw_view(Dice& dice, DType type, std::int64_t rows, std::int64_t cols, std::int64_t batch,
                bool output) {
  constexpr std::int64_t kGaps[] = {0, 0, 0, 1, 2, 3, 7, 8, 16, 24, 37};
  constexpr std::int64_t kOffsets[] = {0, 0, 0, 1, 2, 3, 4, 5, 7, 8, 9, 15};
  Drawn d{{.data = nullptr,
           .type = type,
           .rows = rows,
           .cols = cols,
           .batch = batch,
           .row_stride = 0,
           .col_stride = 0,
           .batch_stride = 0},
          dice.among(kOffsets),
          0};
  RandomView& v = d.view;
  const bool columns = dice.percent(50);
  std::int64_t& inner = columns ? v.row_stride : v.col_stride;
  std::int64_t& outer = columns ? v.col_stride : v.row_stride;
  const std::int64_t length = columns ? rows : cols;
  inner = rows * cols < 300'000 && dice.percent(10) ? 2 + dice.below(2) : 1;
  outer = length * inner + dice.among(kGaps);
  if (dice.percent(20)) outer = (outer + 7) / 8 * 8;
  if (!output && dice.percent(3)) outer = 0;
  if (!output && dice.percent(1)) inner = 0;
  const auto span = [](std::int64_t n, std::int64_t stride) {
    return n < 2 ? 0 : (n - 1) * stride;
  };
  d.extent = span(rows, v.row_stride) + span(cols, v.col_stride) + 1;
  v.batch_stride = batch > 1 && !output && dice.percent(30) ? 0 : d.extent + dice.among(kGaps);
  d.extent += span(batch, v.batch_stride);
  return d;
}

struct Types {
  DType a, b, c;
  lk_math math;
};

Types draw_types(Dice& dice) {
  constexpr DType k16[] = {DType::bf16, DType::f16};
  constexpr DType k8[] = {DType::f8_e4m3, DType::f8_e5m2};
  constexpr DType kOut[] = {DType::f32, DType::f16, DType::bf16};
  constexpr lk_math kMath[] = {LK_MATH_FP32, LK_MATH_TF32, LK_MATH_TF32X3};
  if (dice.percent(45)) {
    const DType t = dice.among(k16);
    return {t, t, dice.percent(60) ? t : DType::f32, LK_MATH_FP32};
  }
  if (dice.percent(50)) return {dice.among(k8), dice.among(k8), dice.among(kOut), LK_MATH_FP32};
  return {DType::f32, DType::f32, DType::f32, dice.among(kMath)};
}

struct Problem {
  std::int64_t m, n, k, batch;
  Types types;
  Drawn a, b, c, c_in;
  float alpha, beta, scale_a, scale_b;
  bool scales, in_place, bias, integers;
  DType bias_type;
  std::int64_t bias_offset;
  reference::MatmulActivation activation;

  // Then the sums are, whatever their order.
  bool exact() const {
    return integers && activation <= reference::MatmulActivation::relu &&
           alpha * 2 == int(alpha * 2);
  }
};

Problem draw_problem(std::uint64_t seed) {
  constexpr float kAlphas[] = {1, 1, 1, 1, 0, -1.5f, 0.37f};
  constexpr float kBetas[] = {0, 0, 0, 1, 0.5f, -1};
  constexpr float kScales[] = {0.5f, 2, -1};
  using reference::MatmulActivation;
  constexpr MatmulActivation kActivations[] = {MatmulActivation::none, MatmulActivation::relu,
                                               MatmulActivation::relu, MatmulActivation::gelu_tanh,
                                               MatmulActivation::gelu_erf};
  Dice dice(seed);
  Problem p{};
  p.types = draw_types(dice);
  p.m = draw_extent(dice);
  p.n = draw_extent(dice);
  p.k = dice.percent(2) ? 0 : draw_extent(dice);
  p.batch = dice.percent(85) ? 1 : 2 + dice.below(3);
  if (double(p.m) * double(p.n) * double(p.k) * double(p.batch) > kMostProducts) p.batch = 1;
  p.a = draw_view(dice, p.types.a, p.m, p.k, p.batch, false);
  p.b = draw_view(dice, p.types.b, p.k, p.n, p.batch, false);
  p.c = draw_view(dice, p.types.c, p.m, p.n, p.batch, true);
  p.c_in = draw_view(dice, p.types.c, p.m, p.n, p.batch, false);
  p.alpha = dice.among(kAlphas);
  p.beta = dice.among(kBetas);
  p.scales = dice.percent(20);
  p.scale_a = p.scales ? dice.among(kScales) : 1;
  p.scale_b = p.scales ? dice.among(kScales) : 1;
  p.in_place = dice.percent(50);
  p.bias = dice.percent(60);
  p.bias_type = dice.percent(50) ? DType::f32 : p.types.c;
  p.bias_offset = dice.below(8);
  p.activation = dice.among(kActivations);
  p.integers = dice.percent(50);
  return p;
}

std::string show(const char* name, const Drawn& d) {
  return std::string(name) + " strides " + std::to_string(d.view.row_stride) + "," +
         std::to_string(d.view.col_stride) + "," + std::to_string(d.view.batch_stride) +
         " offset " + std::to_string(d.offset) + "; ";
}
std::string show(const Problem& p) {
  return std::string(name(p.types.a)) + " x " + name(p.types.b) + " -> " + name(p.types.c) +
         " math " + std::to_string(p.types.math) + ", " + std::to_string(p.batch) + " of " +
         std::to_string(p.m) + " x " + std::to_string(p.n) + " x " + std::to_string(p.k) + ": " +
         show("a", p.a) + show("b", p.b) + show("c", p.c) +
         (p.beta == 0  ? ""
          : p.in_place ? "c_in is c; "
                       : show("c_in", p.c_in)) +
         "alpha " + std::to_string(p.alpha) + " beta " + std::to_string(p.beta) + " scales " +
         std::to_string(p.scale_a) + "," + std::to_string(p.scale_b) + " bias " +
         (p.bias ? name(p.bias_type) : "none") + "+" + std::to_string(p.bias_offset) +
         " activation " + std::to_string(int(p.activation)) +
         (p.integers ? ", integers" : ", normal");
}

lk_cmatrix cview(const RandomView& v) {
  return {v.data, std::int32_t(v.type), v.rows, v.cols, v.row_stride, v.col_stride};
}

// Memory of one operand at a time, NaN around its elements.
class Arena {
 public:
  explicit Arena(std::size_t bytes) : memory_(device(), bytes), bytes_(bytes) {}
  bool there() const { return memory_.data() != nullptr; }

  void* place(std::int64_t extent, std::int64_t offset, DType type) {
    const std::size_t size = size_of(type);
    used_ = 2 * kGuard + std::size_t(extent + offset) * size;
    EXPECT_LE(used_, bytes_);
    EXPECT_EQ(device().fill(memory_.data(), kRandomPoison, used_, nullptr), cudaSuccess);
    return static_cast<char*>(memory_.data()) + kGuard + std::size_t(offset) * size;
  }
  void place(Drawn& d) { d.view.data = place(d.extent, d.offset, d.view.type); }
  void* data() const { return memory_.data(); }
  std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kGuard = 4096;
  BigBuffer memory_;
  std::size_t bytes_;
  std::size_t used_ = 0;
};

struct Memory {
  static constexpr std::size_t kOperand = std::size_t{400} << 20;
  Arena a{kOperand}, b{kOperand}, c{kOperand}, c_in{kOperand}, bias{1 << 20}, scales{1 << 14},
      exact{std::size_t{4 * kMost * kMost} * sizeof(RandomElement)}, findings{1 << 14};
  bool there() const {
    return a.there() && b.there() && c.there() && c_in.there() && bias.there() && scales.there() &&
           exact.there() && findings.there();
  }
};

double least_normal(const Types& t) {
  if (t.a == DType::f16 || size_of(t.a) == 1) return 0x1p-14;
  return t.a == DType::f32 && t.math == LK_MATH_FP32 ? 0 : 0x1p-126;
}

struct Bound {
  double relative, absolute, typical;
};
Bound bound_of(const Problem& p, int cc_major, const Kernel& kernel) {
  const Types& t = p.types;
  const bool wide = t.a == DType::f32;
  Bound bound{};
  if (p.exact()) return bound;
  const auto relative = [&](bool zero_mean) {
    if (size_of(t.a) == 1) {
      return reference::matmul_bound_f8(p.k, zero_mean, cc_major, converts_f8(kernel));
    }
    if (!wide) return reference::matmul_bound_16bit(p.k, zero_mean, cc_major);
    if (t.math == LK_MATH_TF32) return reference::matmul_bound_tf32(p.k, zero_mean, cc_major);
    const double fp32 = reference::matmul_bound_fp32(p.k, zero_mean);
    return t.math == LK_MATH_FP32 ? fp32 : 4 * fp32 + 0x1p-21;
  };
  // With a stride of 0 along K all products may have one sign.
  const bool zero_mean = !p.integers && p.a.view.col_stride != 0 && p.b.view.row_stride != 0;
  const double alpha = double(p.alpha) * p.scale_a * p.scale_b;
  bound.relative = relative(false);
  bound.typical = relative(zero_mean);
  bound.absolute = reference::matmul_bound_absolute(p.k, alpha);
  return bound;
}

class MatmulRandomGpu : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(cuda_backend()); !why.empty()) GTEST_SKIP() << why;
    ASSERT_EQ(device().properties(&properties_), cudaSuccess);
    if (!memory_.there()) GTEST_SKIP() << "not enough device memory";
  }

  void check(std::uint64_t seed) {
    Problem p = draw_problem(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + show(p));
    const int most = p.integers ? 3 : 0;
    const double factor = size_of(p.types.a) == 1 ? 4 : 1;
    memory_.a.place(p.a);
    memory_.b.place(p.b);
    memory_.c_in.place(p.c_in);
    ASSERT_EQ(fill_random(p.a.view, 4 * seed, most, factor), cudaSuccess);
    ASSERT_EQ(fill_random(p.b.view, 4 * seed + 1, most, factor), cudaSuccess);
    ASSERT_EQ(fill_random(p.c_in.view, 4 * seed + 2, most, 1), cudaSuccess);
    RandomView bias{};
    if (p.bias) {
      bias = {
          memory_.bias.place(p.n, p.bias_offset, p.bias_type), p.bias_type, 1, p.n, 1, p.n, 1, 0};
      ASSERT_EQ(fill_random(bias, 4 * seed + 3, most, 1), cudaSuccess);
    }
    memory_.c.place(p.c);
    if (p.in_place) take_c_for_c_in(p);
    RandomProduct product{.a = p.a.view,
                          .b = p.b.view,
                          .c = p.c.view,
                          .c_in = p.c_in.view,
                          .bias = bias.data,
                          .bias_type = p.bias_type,
                          .alpha = double(p.alpha) * p.scale_a * p.scale_b,
                          .beta = p.beta,
                          .activation = p.activation,
                          .relative = 0,  // these three are each kernel's
                          .absolute = 0,
                          .typical = 0,
                          .least_normal = least_normal(p.types)};
    auto* exact = static_cast<RandomElement*>(memory_.exact.data());
    const auto fill_c = [&] {
      if (!p.in_place) return;
      EXPECT_EQ(fill_random(p.c.view, 4 * seed + 2, most, 1), cudaSuccess);
    };
    fill_c();
    ASSERT_EQ(exact_product(product, exact), cudaSuccess);
    int takers = 0;
    for (const Kernel& kernel : kernels_of(LK_OP_MATMUL)) {
      if (is_emulated(*kernel.backend) || !why_not_here(kernel).empty()) continue;
      memory_.c.place(p.c);
      fill_c();
      if (!run(p, bias.data, kernel.info->name)) continue;
      ++takers;
      const Bound bound = bound_of(p, properties_->cc_major, kernel);
      product.relative = bound.relative;
      product.absolute = bound.absolute;
      product.typical = bound.typical;
      judge(product, exact, kernel.info->name);
    }
    EXPECT_GE(takers, 1);
  }

  RandomFindings findings(const RandomProduct& product, const RandomElement* exact) {
    auto* findings = static_cast<RandomFindings*>(memory_.findings.data());
    EXPECT_EQ(device().fill(findings, 0, sizeof(RandomFindings), nullptr), cudaSuccess);
    EXPECT_EQ(judge_product(product, exact, findings), cudaSuccess);
    EXPECT_EQ(count_strays(memory_.c.data(), memory_.c.used(), findings), cudaSuccess);
    RandomFindings found{};
    EXPECT_EQ(device().copy_to_host(&found, findings, sizeof(found), nullptr), cudaSuccess);
    EXPECT_EQ(device().stream_synchronize(nullptr), cudaSuccess);
    return found;
  }

  Memory memory_;

 private:
  // C_in is C: the same place and strides.
  static void take_c_for_c_in(Problem& p) { p.c_in = p.c; }

  bool run(const Problem& p, const void* bias, const char* pin) {
    const lk_cmatrix a = cview(p.a.view), b = cview(p.b.view), c_in = cview(p.c_in.view);
    const RandomView& v = p.c.view;
    const lk_matrix c{v.data, std::int32_t(v.type), v.rows, v.cols, v.row_stride, v.col_stride};
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.has_alpha = 1;
    o.alpha = p.alpha;
    o.beta = p.beta;
    o.activation = lk_activation(p.activation);
    o.math = p.types.math;
    if (bias != nullptr) {
      o.bias = bias;
      o.bias_dtype = lk_dtype(p.bias_type);
    }
    if (p.scales) {
      auto* scales = static_cast<float*>(memory_.scales.data());
      const float values[] = {p.scale_a, p.scale_b};
      EXPECT_EQ(device().copy_to_device(scales, values, sizeof(values), nullptr), cudaSuccess);
      o.scale_a = scales;
      o.scale_b = scales + 1;
    }
    if (p.beta != 0 && !p.in_place) o.c_in = &c_in;
    if (p.batch > 1) {
      o.has_batch = 1;
      o.batch_count = p.batch;
      o.a_batch_stride = p.a.view.batch_stride;
      o.b_batch_stride = p.b.view.batch_stride;
      o.c_batch_stride = v.batch_stride;
      if (o.c_in != nullptr) o.c_in_batch_stride = p.c_in.view.batch_stride;
    }
    const Refusal r = refusal(
        [&] { cuda_backend().matmul.run({.a = &a, .b = &b, .c = &c, .options = &o, .pin = pin}); });
    if (r.status == LK_UNSUPPORTED && std::string(pin) != "matmul_sm80") return false;
    EXPECT_TRUE(is_accepted(r)) << pin;
    return is_accepted(r);
  }

  void judge(const RandomProduct& product, const RandomElement* exact, const char* pin) {
    const RandomFindings found = findings(product, exact);
    EXPECT_EQ(found.wrong, 0u) << pin << ": of "
                               << product.c.batch * product.c.rows * product.c.cols
                               << " elements, such as " << found.first << ", " << found.got
                               << " where " << found.expected << " +- " << found.allowed
                               << " is right";
    const auto elements = double(product.c.batch * product.c.rows * product.c.cols);
    EXPECT_LE(double(found.unlikely), 4 + elements * kUnlikely) << pin;
    EXPECT_EQ(found.stray, 0u) << pin << " wrote beside C";
  }

  const DeviceProperties* properties_ = nullptr;
};

constexpr int kProblems = 2000, kParts = 40;

TEST_P(MatmulRandomGpu, EveryKernelAgreesWithFp64) {
  for (int i = GetParam(); i < kProblems && !HasFailure(); i += kParts) check(std::uint64_t(i));
}

INSTANTIATE_TEST_SUITE_P(, MatmulRandomGpu, testing::Range(0, kParts));

// An element that is off by two ulps, and a byte beside C that was written.
using MatmulRandomGpuJudge = MatmulRandomGpu;
TEST_P(MatmulRandomGpuJudge, SeesOneElementAndOneByte) {
  constexpr std::int64_t kExtent = 3, kPitch = 4;
  Drawn c{{nullptr, DType::f32, kExtent, kExtent, 1, kPitch, 1, 0}, 0, 2 * kPitch + kExtent};
  memory_.c.place(c);
  ASSERT_EQ(fill_random(c.view, 1, 0, 1), cudaSuccess);
  RandomProduct product{};  // K = 0, so that C is the bias: 0
  product.c = c.view;
  product.a = product.b = c.view;
  product.a.cols = 0;
  product.relative = 0;
  auto* exact = static_cast<RandomElement*>(memory_.exact.data());
  ASSERT_EQ(exact_product(product, exact), cudaSuccess);
  auto* values = static_cast<float*>(c.view.data);
  ASSERT_EQ(device().fill(values, 0, 2 * sizeof(float) * kPitch + sizeof(float) * kExtent, nullptr),
            cudaSuccess);
  const float off = 0x1p-148f;
  ASSERT_EQ(device().copy_to_device(values + kPitch + 1, &off, sizeof(off), nullptr), cudaSuccess);
  ASSERT_EQ(device().fill(values + kExtent, kRandomPoison, sizeof(float), nullptr), cudaSuccess);
  const RandomFindings found = findings(product, exact);
  EXPECT_EQ(found.wrong, 1u);
  EXPECT_EQ(found.first, kExtent + 1);
  EXPECT_EQ(found.got, double(off));
  EXPECT_EQ(found.expected, 0);
  EXPECT_EQ(found.stray, sizeof(float));  // the gap of the second row
}
INSTANTIATE_TEST_SUITE_P(, MatmulRandomGpuJudge, testing::Values(0));

#else

TEST(MatmulRandomGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
}  // namespace libkernels::test
