// Every tile of matmul on sm90, in every layout: products of integers, exactly right. Cost: 6 s
// emulated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/matmul/matmul_sm90.h"
#include "kernels/ptx/emu/emulator.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"
#include "tests/support/storage.h"

namespace libkernels::op::matmul {
namespace {

using test::DeviceBuffer;

// A rows x cols matrix of -1, 0 and 1, times `scale`, and its bits with either index adjacent.
struct Factor {
  std::int64_t rows, cols;
  std::vector<int> values;  // row major

  Factor(std::int64_t r, std::int64_t c, std::uint64_t seed, int scale) : rows(r), cols(c) {
    for (std::int64_t i = 0; i < r * c; ++i) {
      const double x = test::random_normal(seed, std::uint64_t(i));
      values.push_back(x > 0.5 ? scale : x < -0.5 ? -scale : 0);
    }
  }
  int at(std::int64_t r, std::int64_t c) const { return values[std::size_t(r * cols + c)]; }
  std::vector<unsigned char> bytes(DType type, bool columns_adjacent, std::int64_t pitch) const {
    const std::size_t element = size_of(type);
    std::vector<unsigned char> out(std::size_t((columns_adjacent ? rows : cols) * pitch) * element);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < cols; ++c) {
        const std::int64_t place = columns_adjacent ? r * pitch + c : c * pitch + r;
        const std::uint32_t bits = test::encode(at(r, c), type);
        std::memcpy(out.data() + std::size_t(place) * element, &bits, element);
      }
    }
    return out;
  }
};

std::int64_t pitch_of(std::int64_t extent, DType type) {
  const std::int64_t vector = 16 / std::int64_t(size_of(type));
  return (extent + vector - 1) / vector * vector;
}

struct Product {
  Factor a, b;
  std::vector<int> bias;
  Product(std::int64_t m, std::int64_t n, std::int64_t k, int scale_a = 1, int scale_b = 1)
      : a(m, k, 1, scale_a), b(k, n, 2, scale_b) {
    for (std::int64_t j = 0; j < n; ++j) bias.push_back(int(j % 7) - 3);
  }
};

// Row-major C (pitch), or column major, which transposes the problem.
void expect_right(const Product& p, DType a_type, DType b_type, DType c_type, int tile, bool a_k,
                  bool b_k, bool c_rows, Math math = Math::fp32) {
  const std::int64_t m = p.a.rows, n = p.b.cols, k = p.a.cols;
  const std::int64_t pitch_a = pitch_of(a_k ? k : m, a_type);
  const std::int64_t pitch_b = pitch_of(b_k ? k : n, b_type);
  const std::int64_t pitch_c = pitch_of(c_rows ? n : m, c_type);
  const auto a_bytes = p.a.bytes(a_type, a_k, pitch_a), b_bytes = p.b.bytes(b_type, !b_k, pitch_b);
  const std::size_t c_bytes = std::size_t((c_rows ? m : n) * pitch_c) * size_of(c_type);
  DeviceBuffer a(emu_device(), a_bytes.size()), b(emu_device(), b_bytes.size());
  DeviceBuffer c(emu_device(), c_bytes), bias(emu_device(), std::size_t(n) * 4);
  a.copy_in(a_bytes.data(), a_bytes.size());
  b.copy_in(b_bytes.data(), b_bytes.size());
  std::vector<float> bias_values(p.bias.begin(), p.bias.end());
  bias.copy_in(bias_values.data(), bias_values.size() * 4);
  Problem q{};
  q.a = {a.data(), a_type, a_k ? pitch_a : 1, a_k ? 1 : pitch_a, 0};
  q.b = {b.data(), b_type, b_k ? 1 : pitch_b, b_k ? pitch_b : 1, 0};
  q.c = {c.data(), c_type, c_rows ? pitch_c : 1, c_rows ? 1 : pitch_c, 0};
  q.m = m;
  q.n = n;
  q.k = k;
  q.batch = 1;
  q.alpha = 2;
  q.bias = bias.data();
  q.bias_type = DType::f32;
  q.activation = Activation::relu;
  q.math = math;
  ASSERT_EQ(why_not_sm90(q), nullptr);
  const DeviceProperties* device = nullptr;
  ASSERT_EQ(emu_device().properties(&device), cudaSuccess);
  const LaunchContext context{.properties = *device,
                              .max_sms = device->sm_count,
                              .pdl = false,
                              .workspace = nullptr,
                              .stream = nullptr};
  ASSERT_EQ(launch_sm90(make_plan_sm90(q, *device, tile), context), cudaSuccess)
      << emulator::last_fault();
  std::vector<unsigned char> got(c_bytes);
  c.copy_out(got.data(), c_bytes);
  int wrong = 0;
  for (std::int64_t i = 0; i < m && wrong < 4; ++i) {
    for (std::int64_t j = 0; j < n && wrong < 4; ++j) {
      int sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += p.a.at(i, l) * p.b.at(l, j);
      const double expected = std::max(0, 2 * sum + p.bias[std::size_t(j)]);
      const std::int64_t at = c_rows ? i * pitch_c + j : j * pitch_c + i;
      const double value = test::decode(
          c_type == DType::f32 ? reinterpret_cast<const std::uint32_t*>(got.data())[at]
                               : reinterpret_cast<const std::uint16_t*>(got.data())[at],
          c_type);
      if (value == test::decode(test::encode(expected, c_type), c_type)) continue;
      ++wrong;
      ADD_FAILURE() << "row " << i << ", column " << j << ": " << value << ", expected "
                    << expected;
    }
  }
}

class MatmulTilesSm90 : public testing::TestWithParam<int> {};

// A tile and a rest in both directions; C as 16-bit vectors and fp32, by rows and by columns.
TEST_P(MatmulTilesSm90, EveryLayout) {
  const test::ProfileScope profile("emu90");
  const TileSm90 t = tiles_sm90(Arithmetic::bf16)[std::size_t(GetParam())];
  const Product product(t.m + 40, t.n + 24, 72);
  for (const bool a_k : {true, false}) {
    for (const bool b_k : {true, false}) {
      SCOPED_TRACE(std::string(a_k ? "a k" : "a m") + (b_k ? ", b k" : ", b n"));
      expect_right(product, DType::bf16, DType::bf16, DType::bf16, GetParam(), a_k, b_k, true);
      expect_right(product, DType::f16, DType::f16, DType::f32, GetParam(), a_k, b_k, !a_k);
    }
  }
}

// C's rows begin and end anywhere: realigned.
TEST_P(MatmulTilesSm90, OddColumns) {
  const test::ProfileScope profile("emu90");
  const TileSm90 t = tiles_sm90(Arithmetic::bf16)[std::size_t(GetParam())];
  const Product product(t.m + 9, t.n + 19, 72);
  expect_right(product, DType::bf16, DType::bf16, DType::bf16, GetParam(), true, true, true);
  expect_right(product, DType::f16, DType::f16, DType::f16, GetParam(), true, false, false);
  expect_right(product, DType::f16, DType::f16, DType::f32, GetParam(), true, true, true);
}

// More of K than the ring holds, several tiles a CTA, C by the copy engine, any order.
TEST_P(MatmulTilesSm90, LongRows) {
  const test::SettingsScope keep;
  const test::ProfileScope profile("emu90");
  const TileSm90 t = tiles_sm90(Arithmetic::bf16)[std::size_t(GetParam())];
  const Product product(4 * t.m, 2 * t.n + 8, (t.stages + 1) * 64);
  for (const auto order :
       {emulator::Completion::late, emulator::Completion::eager, emulator::Completion::random}) {
    emulator::settings().completion = order;
    expect_right(product, DType::bf16, DType::bf16, DType::bf16, GetParam(), true, true, true);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatmulTilesSm90,
                         testing::Range(0, int(tiles_sm90(Arithmetic::bf16).size())));

// fp8: K adjacent in A and in B, every mix.
class MatmulTilesSm90F8 : public testing::TestWithParam<int> {
 protected:
  static void expect(const Product& product, DType c_type, bool c_rows, int mixes) {
    constexpr DType kTypes[] = {DType::f8_e4m3, DType::f8_e5m2};
    for (int mix = 0; mix < mixes; ++mix) {
      SCOPED_TRACE(mix);
      expect_right(product, kTypes[mix / 2], kTypes[mix % 2], c_type, GetParam(), true, true,
                   c_rows);
    }
  }
};

TEST_P(MatmulTilesSm90F8, EveryMix) {
  const test::ProfileScope profile("emu90");
  const TileSm90 t = tiles_sm90(Arithmetic::f8)[std::size_t(GetParam())];
  const Product product(t.m + 40, t.n + 24, 80);
  expect(product, DType::bf16, true, 4);
  expect(product, DType::f32, true, 1);
  expect(product, DType::f16, false, 2);
}

// More stages than the ring holds, several tiles a CTA, in any order.
TEST_P(MatmulTilesSm90F8, LongRows) {
  const test::SettingsScope keep;
  const test::ProfileScope profile("emu90");
  const TileSm90 t = tiles_sm90(Arithmetic::f8)[std::size_t(GetParam())];
  const Product product(4 * t.m, 2 * t.n + 8, (t.stages + 1) * 128);
  for (const auto order :
       {emulator::Completion::late, emulator::Completion::eager, emulator::Completion::random}) {
    emulator::settings().completion = order;
    expect(product, DType::bf16, true, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatmulTilesSm90F8,
                         testing::Range(0, int(tiles_sm90(Arithmetic::f8).size())));

// The same of f32. Not with M and N adjacent. With tf32x3 A or B has bits that one tf32 has not.
void expect_right_f32(const TileSm90& t, int tile, Math math) {
  constexpr int kLong = (1 << 18) + 1;
  const int scale = math == Math::tf32x3 ? kLong : 1;
  for (const bool a_k : {true, false}) {
    for (const bool b_k : {true, false}) {
      if (!a_k && !b_k) continue;
      SCOPED_TRACE(std::string(a_k ? "a k" : "a m") + (b_k ? ", b k" : ", b n"));
      for (const bool c_rows : {true, false}) {
        const Product product(t.m + 20, t.n + (c_rows ? 12 : 11), c_rows ? 40 : 72,
                              c_rows ? scale : 1, c_rows ? 1 : scale);
        expect_right(product, DType::f32, DType::f32, DType::f32, tile, a_k, b_k, c_rows, math);
      }
    }
  }
}

class MatmulTilesTf32 : public testing::TestWithParam<int> {};
TEST_P(MatmulTilesTf32, EveryLayout) {
  const test::ProfileScope profile("emu90");
  expect_right_f32(tiles_sm90(Arithmetic::tf32)[std::size_t(GetParam())], GetParam(), Math::tf32);
}
INSTANTIATE_TEST_SUITE_P(All, MatmulTilesTf32,
                         testing::Range(0, int(tiles_sm90(Arithmetic::tf32).size())));

class MatmulTilesTf32x3 : public testing::TestWithParam<int> {};
TEST_P(MatmulTilesTf32x3, EveryLayout) {
  const test::ProfileScope profile("emu90");
  expect_right_f32(tiles_sm90(Arithmetic::tf32x3)[std::size_t(GetParam())], GetParam(),
                   Math::tf32x3);
}
INSTANTIATE_TEST_SUITE_P(All, MatmulTilesTf32x3,
                         testing::Range(0, int(tiles_sm90(Arithmetic::tf32x3).size())));

}  // namespace
}  // namespace libkernels::op::matmul
