// Row-sum where only a GPU will do: more than 2^31 columns and rows, streams, many runs.
// Cost: nothing without a GPU; on one not measured yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/kernels/gelu/gpu_kernels.h"
#include "tests/kernels/row_sum/row_sum_fixture.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

std::vector<RowSumParam> only_cuda(bool (*keep)(const RowSumParam&)) {
  std::vector<RowSumParam> kept;
  for (const RowSumParam& p : row_sum_params(keep)) {
    if (!is_emulated(*p.kernel.backend)) kept.push_back(p);
  }
  return kept;
}
std::vector<RowSumParam> only_cuda_to_f32() {
  return only_cuda([](const RowSumParam& p) { return p.y_type == DType::f32; });
}

class RowSumGpu : public RowSumTest {
 protected:
  static void wait(cudaStream_t stream = nullptr) {
    ASSERT_EQ(device().stream_synchronize(stream), cudaSuccess);
  }
  // n elements of 1, and a 2 at each index of `twos`.
  static void fill_with_ones(void* data, std::size_t n, const std::vector<std::size_t>& twos) {
    const std::size_t size = size_of(param().x_type);
    const std::size_t first = std::min(n, std::size_t{1} << 20);
    std::vector<unsigned char> ones(first * size);
    for (std::size_t i = 0; i < first; ++i) store_element(&ones[i * size], x_of(1), param().x_type);
    ASSERT_EQ(device().copy_to_device(data, ones.data(), first * size, nullptr), cudaSuccess);
    for (std::size_t have = first; have < n; have *= 2) {  // doubling
      ASSERT_EQ(device().copy_on_device(static_cast<char*>(data) + have * size, data,
                                        std::min(have, n - have) * size, nullptr),
                cudaSuccess);
    }
    unsigned char two[4];
    store_element(two, x_of(2), param().x_type);
    for (const std::size_t at : twos) {
      ASSERT_EQ(device().copy_to_device(static_cast<char*>(data) + at * size, two, size, nullptr),
                cudaSuccess);
    }
    wait();
  }
};

// C3: one row of more than 2^31 columns, and its end alone.
TEST_P(RowSumGpu, C3RowsBeyond2To31) {
  const std::size_t n = (std::size_t{1} << 31) + (std::size_t{1} << 20);
  const BigBuffer x(device(), n * size_of(param().x_type));
  if (x.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  fill_with_ones(x.data(), n, {});
  StridedMatrix y(device(), param().y_type, row_major(1, 1));
  const lk_cmatrix xv{x.data(), std::int32_t(param().x_type), 1, std::int64_t(n), std::int64_t(n),
                      1};
  call(xv, y.view());
  EXPECT_NEAR(decode(y.read()[0], param().y_type), double(n),
              reference::row_sum_bound(std::int64_t(n), 1) * double(n));
  const std::int64_t late = 1000;
  lk_cmatrix tail = xv;
  tail.data =
      static_cast<const char*>(x.data()) + (n - std::size_t(late)) * size_of(param().x_type);
  tail.cols = late;
  call(tail, y.view());
  EXPECT_EQ(decode(y.read()[0], param().y_type), double(late));
  wait();
}

// C1: rows * columns beyond 2^31, a value in the last row.
TEST_P(RowSumGpu, C1MatricesBeyond2To31) {
  constexpr std::size_t kRows = 42730, kCols = 50259;
  constexpr std::size_t kN = kRows * kCols;
  const BigBuffer x(device(), kN * size_of(param().x_type));
  if (x.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  fill_with_ones(x.data(), kN, {kN - 1, kN - kCols, 5 * kCols + 7});
  StridedMatrix y(device(), param().y_type, column(kRows));
  const lk_cmatrix xv{x.data(), std::int32_t(param().x_type), kRows, kCols, kCols, 1};
  call(xv, y.view());
  Bits expected(kRows, y_of(double(kCols)));
  expected[5] = y_of(double(kCols + 1));
  expected[kRows - 1] = y_of(double(kCols + 2));
  EXPECT_TRUE(bits_equal(y.read(), expected, param().y_type));
}

// More than 2^31 rows, of one column.
TEST_P(RowSumGpu, RowsBeyond2To31) {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 17;
  const std::size_t size = size_of(param().y_type);
  const BigBuffer y(device(), kN * size);
  if (y.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  StridedMatrix x(device(), param().x_type, row_major(1, 2), {x_of(3), x_of(4)});
  ASSERT_EQ(device().fill(y.data(), 0xa5, kN * size, nullptr), cudaSuccess);
  lk_cmatrix xv = x.cview();
  xv.rows = std::int64_t(kN);
  xv.row_stride = 0;
  const lk_matrix yv{y.data(), std::int32_t(param().y_type), std::int64_t(kN), 1, 1, 1};
  call(xv, yv);
  wait();
  for (const std::size_t i : {std::size_t{0}, std::size_t{65536}, (std::size_t{1} << 31) - 1,
                              std::size_t{1} << 31, kN - 1}) {
    unsigned char got[4];
    ASSERT_EQ(
        device().copy_to_host(got, static_cast<const char*>(y.data()) + i * size, size, nullptr),
        cudaSuccess);
    wait();
    EXPECT_EQ(load_element(got, param().y_type), y_of(7)) << i;
  }
}

// I8: on a non-blocking stream every launch of the call, the second pass of split rows too, waits
// for the stream's earlier work. Work on the legacy stream would see the input of before.
TEST_P(RowSumGpu, I8NonBlockingStreamIsInOrder) {
#if defined(LK_HAVE_CUDA)
  if (size_of(param().x_type) != 2) GTEST_SKIP() << "the spinning kernel writes 16-bit words";
  constexpr std::int64_t kRows = 2, kCols = 1 << 17;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(device().stream_create(&stream), cudaSuccess);
  StridedMatrix x(device(), param().x_type, row_major(kRows, kCols), Bits(kRows * kCols, x_of(1)));
  StridedMatrix y(device(), param().y_type, column(kRows));
  ASSERT_EQ(spin_then_fill(static_cast<std::uint16_t*>(x.view().data), std::uint16_t(x_of(2)),
                           kRows * kCols, 50, stream),
            cudaSuccess);
  call(x.cview(), y.view(), {.stream = stream});
  std::vector<float> got(kRows);
  ASSERT_EQ(device().copy_to_host(got.data(), y.view().data, kRows * sizeof(float), stream),
            cudaSuccess);
  wait(stream);
  EXPECT_EQ(got, std::vector<float>(kRows, 2.0f * kCols));
  ASSERT_EQ(device().stream_destroy(stream), cudaSuccess);
#else
  GTEST_SKIP() << "built without CUDA";
#endif
}

// I3: calls on several streams at once do not share scratch.
TEST_P(RowSumGpu, I3StreamsDoNotShareScratch) {
  constexpr int kStreams = 4, kRounds = 25;
  constexpr std::int64_t kCols = (1 << 19) + 3;
  std::vector<StridedMatrix> x, y;
  std::vector<cudaStream_t> streams(kStreams);
  Bits expected;
  for (int i = 0; i < kStreams; ++i) {
    const Bits bits = normal(1, kCols, std::uint64_t(i));
    x.emplace_back(device(), param().x_type, row_major(1, kCols), bits);
    y.emplace_back(device(), param().y_type, row_major(1, 1));
    expected.push_back(alone(1, kCols, bits)[0]);
    ASSERT_EQ(device().stream_create(&streams[std::size_t(i)]), cudaSuccess);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      call(x[i].cview(), y[i].view(), {.stream = streams[i]});
    }
    for (std::size_t i = 0; i < kStreams; ++i) {
      wait(streams[i]);
      ASSERT_EQ(y[i].read()[0], expected[i]) << "round " << round << " stream " << i;
    }
  }
  for (const cudaStream_t stream : streams) {
    ASSERT_EQ(device().stream_destroy(stream), cudaSuccess);
  }
}

// J3: a thousand runs, one result.
TEST_P(RowSumGpu, J3AThousandRuns) {
  constexpr std::int64_t kRows = 10, kCols = 262144;
  StridedMatrix x(device(), param().x_type, row_major(kRows, kCols), normal(kRows, kCols, 1));
  StridedMatrix y(device(), param().y_type, column(kRows));
  call(x.cview(), y.view());
  const Bits first = y.read();
  for (int run = 0; run < 1000; ++run) {
    call(x.cview(), y.view());
    ASSERT_EQ(y.read(), first) << run;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RowSumGpu);
INSTANTIATE_TEST_SUITE_P(, RowSumGpu, testing::ValuesIn(only_cuda_to_f32()), row_sum_name);

}  // namespace
}  // namespace libkernels::test
