// Operands that matmul on sm90 copies to scratch first: whatever the strides, alignment and batch,
// the products of integers are exactly right, and so is each byte around what is read. Cost: 1 s
// emulated.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/matmul/matmul_repack_plan.h"
#include "kernels/ptx/emu/emulator.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/fill.h"
#include "tests/support/storage.h"

namespace libkernels::op::matmul {
namespace {

using test::DeviceBuffer;

// A batch of matrices of small integers, of rows x cols, `offset` elements into their buffer.
struct Operands {
  std::int64_t rows, cols, row_stride, col_stride, batch_stride, batch, offset;
  DType type;
  std::uint64_t seed;

  int at(std::int64_t b, std::int64_t r, std::int64_t c) const {
    const std::uint64_t i = std::uint64_t((b * rows + r) * cols + c);
    return int(test::random_word(seed, i) % 7) - 3;
  }
  std::int64_t place(std::int64_t b, std::int64_t r, std::int64_t c) const {
    return offset + b * batch_stride + r * row_stride + c * col_stride;
  }
  // Ends with the last element. What is not an element is NaN.
  DeviceBuffer buffer() const {
    const std::size_t element = size_of(type);
    std::vector<unsigned char> bytes(
        std::size_t(place(batch - 1, rows - 1, cols - 1) + 1) * element, 0xff);
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
          const std::uint32_t x = test::encode(at(b, r, c), type);  // little-endian
          std::memcpy(bytes.data() + std::size_t(place(b, r, c)) * element, &x, element);
        }
      }
    }
    DeviceBuffer buffer(emu_device(), bytes.size());
    buffer.copy_in(bytes.data(), bytes.size());
    buffer.forbid_writes();
    return buffer;
  }
  Matrix matrix(const DeviceBuffer& buffer) const {
    const auto* data = static_cast<const unsigned char*>(buffer.data());
    return {data + std::size_t(offset) * size_of(type), type, row_stride, col_stride, batch_stride};
  }
};

void expect_right(const Operands& a, const Operands& b) {
  const DeviceBuffer a_buffer = a.buffer(), b_buffer = b.buffer();
  const std::int64_t m = a.rows, n = b.cols, k = a.cols, batch = a.batch;
  const std::size_t bytes = std::size_t(batch * m * n) * sizeof(float);
  DeviceBuffer c(emu_device(), bytes);
  Problem p{};
  p.a = a.matrix(a_buffer);
  p.b = b.matrix(b_buffer);
  p.c = {c.data(), DType::f32, n, 1, m * n};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.alpha = 1;
  const DeviceProperties* device = nullptr;
  ASSERT_EQ(emu_device().properties(&device), cudaSuccess);
  DeviceBuffer scratch(emu_device(), sm90_repack.workspace_bytes(p, *device));
  const LaunchContext context{.properties = *device,
                              .max_sms = device->sm_count,
                              .pdl = false,
                              .workspace = scratch.data(),
                              .stream = nullptr};
  ASSERT_EQ(sm90_repack.launch(p, context), cudaSuccess) << emulator::last_fault();
  std::vector<float> got(std::size_t(batch * m * n));
  c.copy_out(got.data(), bytes);
  int wrong = 0;
  for (std::int64_t i = 0; i < batch * m * n && wrong < 4; ++i) {
    const std::int64_t z = i / (m * n), row = i / n % m, col = i % n;
    int sum = 0;
    for (std::int64_t l = 0; l < k; ++l) sum += a.at(z, row, l) * b.at(z, l, col);
    if (got[std::size_t(i)] == float(sum)) continue;
    ++wrong;
    ADD_FAILURE() << "product " << z << ", row " << row << ", column " << col << ": "
                  << got[std::size_t(i)] << ", expected " << sum;
  }
}

class MatmulRepack : public testing::TestWithParam<DType> {
 protected:
  // Which index is adjacent, elements between two lines, and before the first.
  static Operands make(std::int64_t rows, std::int64_t cols, bool by_rows, std::int64_t gap,
                       std::int64_t offset, std::int64_t batch) {
    const std::int64_t pitch = (by_rows ? cols : rows) + gap;
    return {.rows = rows,
            .cols = cols,
            .row_stride = by_rows ? pitch : 1,
            .col_stride = by_rows ? 1 : pitch,
            .batch_stride = pitch * (by_rows ? rows : cols) + gap,
            .batch = batch,
            .offset = offset,
            .type = GetParam(),
            .seed = std::uint64_t(rows + 2 * cols)};
  }
};

// Tails in all directions, gaps, and addresses off by one.
TEST_P(MatmulRepack, EveryLayout) {
  const test::ProfileScope profile("emu90");
  int which = 0;
  for (const std::int64_t k : {1, 15, 128, 145}) {
    for (int i = 0; i < 4; ++i, ++which) {
      const std::int64_t gap = which % 3, offset = which % 5;
      SCOPED_TRACE("k " + std::to_string(k) + ", layout " + std::to_string(i) + ", gap " +
                   std::to_string(gap) + ", offset " + std::to_string(offset));
      expect_right(make(77, k, i & 1, gap, offset, 2), make(k, 35, i & 2, gap, offset + 1, 2));
    }
  }
}

// More than one piece of everything; without gaps, aligned, and in any order of completion.
TEST_P(MatmulRepack, LargeOnes) {
  const test::SettingsScope keep;
  const test::ProfileScope profile("emu90");
  for (const auto order :
       {emulator::Completion::late, emulator::Completion::eager, emulator::Completion::random}) {
    emulator::settings().completion = order;
    const std::int64_t offset = size_of(GetParam()) == 1 ? 0 : 1;  // else nothing is copied
    expect_right(make(272, 288, false, 0, offset, 1), make(288, 144, true, 0, offset, 1));
  }
  expect_right(make(129, 257, false, 1, 3, 1), make(257, 131, true, 1, 1, 1));
}

// Every stride, and none of them 1; one matrix for all products.
TEST_P(MatmulRepack, NoUnitStride) {
  const test::ProfileScope profile("emu90");
  Operands a = make(20, 150, true, 0, 1, 2), b = make(150, 24, false, 0, 2, 2);
  a.row_stride = 2 * 150 + 1, a.col_stride = 2, a.batch_stride = 20 * 301;
  b.row_stride = 3, b.col_stride = 3 * 150 + 2, b.batch_stride = 24 * 452;
  expect_right(a, b);
}

INSTANTIATE_TEST_SUITE_P(All, MatmulRepack,
                         testing::Values(DType::bf16, DType::f8_e4m3, DType::f8_e5m2),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace libkernels::op::matmul
