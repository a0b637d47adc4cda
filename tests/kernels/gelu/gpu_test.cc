// GeLU where only a GPU will do: more than 2^31 elements, all 2^32 fp32 inputs, streams, threads.
// Cost: nothing without a GPU; on one not measured yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/kernels/gelu/gelu_fixture.h"
#include "tests/kernels/gelu/gpu_kernels.h"
#include "tests/support/large_memory.h"

namespace libkernels::test {
namespace {

std::vector<GeluParam> only_cuda(bool (*keep)(const GeluParam&)) {
  std::vector<GeluParam> kept;
  for (const GeluParam& p : gelu_params(keep)) {
    if (!is_emulated(*p.kernel.backend)) kept.push_back(p);
  }
  return kept;
}

class GeluGpu : public GeluTest {
 protected:
  void wait() { ASSERT_EQ(device().stream_synchronize(nullptr), cudaSuccess); }
};

// C1, C3: 16-bit input that repeats all 65536 patterns beyond 2^31 elements, verified whole.
class GeluBeyond2To31 : public GeluGpu {};

TEST_P(GeluBeyond2To31, C1C3EveryElementIsRight) {
  constexpr std::size_t kPeriod = 1u << 16, kN = (std::size_t{1} << 31) + 17;
  const Bits table = evaluate(all_16bit_patterns());
  BigBuffer x(device(), 2 * kN), y(device(), 2 * kN);
  if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough device memory";

  std::vector<std::uint16_t> patterns(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i) patterns[i] = std::uint16_t(i);
  ASSERT_EQ(device().copy_to_device(x.data(), patterns.data(), 2 * kPeriod, nullptr), cudaSuccess);
  for (std::size_t have = kPeriod; have < kN; have *= 2) {  // doubling
    ASSERT_EQ(device().copy_on_device(static_cast<char*>(x.data()) + 2 * have, x.data(),
                                      2 * std::min(have, kN - have), nullptr),
              cudaSuccess);
  }
  ASSERT_EQ(device().fill(y.data(), 0xa5, 2 * kN, nullptr), cudaSuccess);
  const lk_cmatrix xv{x.data(), std::int32_t(param().x_type), 1, std::int64_t(kN), std::int64_t(kN),
                      1};
  const lk_matrix yv{y.data(), std::int32_t(param().y_type), 1, std::int64_t(kN), std::int64_t(kN),
                     1};
  call(xv, yv);
  wait();

  constexpr std::size_t kChunk = 512 * kPeriod;  // elements; 64 MiB
  std::vector<std::uint16_t> expected(kChunk), got(kChunk);
  for (std::size_t i = 0; i < kChunk; ++i) expected[i] = std::uint16_t(table[i % kPeriod]);
  for (std::size_t begin = 0; begin < kN; begin += kChunk) {
    const std::size_t n = std::min(kChunk, kN - begin);
    ASSERT_EQ(device().copy_to_host(got.data(), static_cast<const char*>(y.data()) + 2 * begin,
                                    2 * n, nullptr),
              cudaSuccess);
    wait();
    if (std::memcmp(got.data(), expected.data(), 2 * n) == 0) continue;
    const auto wrong =
        std::mismatch(got.begin(), got.begin() + std::ptrdiff_t(n), expected.begin());
    FAIL() << "element " << begin + std::size_t(wrong.first - got.begin()) << ": got "
           << show(*wrong.first, param().y_type) << ", expected "
           << show(*wrong.second, param().y_type);
  }
}

// More than 2^31 rows of one element, and as a column-major view: the same memory.
TEST_P(GeluBeyond2To31, RowsBeyond2To31) {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 17;
  BigBuffer y(device(), 2 * kN);
  if (y.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  const std::uint32_t one = encode(1.0, param().x_type);
  StridedMatrix x(device(), param().x_type, row_major(1, 1), {one});
  const std::uint16_t expected = std::uint16_t(evaluate({one})[0]);
  ASSERT_EQ(device().fill(y.data(), 0xa5, 2 * kN, nullptr), cudaSuccess);
  lk_cmatrix xv = x.cview();
  xv.rows = std::int64_t(kN);
  xv.row_stride = 0;
  const lk_matrix yv{y.data(), std::int32_t(param().y_type), std::int64_t(kN), 1, 1, 1};
  if (!try_call(xv, yv)) GTEST_SKIP() << "this kernel leaves broadcast inputs to another";
  wait();
  for (const std::size_t i : {std::size_t{0}, std::size_t{65536}, (std::size_t{1} << 31) - 1,
                              std::size_t{1} << 31, kN - 1}) {
    std::uint16_t got = 0;
    ASSERT_EQ(device().copy_to_host(&got, static_cast<const char*>(y.data()) + 2 * i, 2, nullptr),
              cudaSuccess);
    wait();
    EXPECT_EQ(got, expected) << i;
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeluBeyond2To31);
INSTANTIATE_TEST_SUITE_P(, GeluBeyond2To31, testing::ValuesIn(only_cuda([](const GeluParam& p) {
                           return p.y_type == DType::bf16;
                         })),
                         gelu_name);

#if defined(LK_HAVE_CUDA)

class GeluExhaustive : public GeluGpu {};

TEST_P(GeluExhaustive, All2To32Inputs) {
  constexpr std::size_t kChunk = std::size_t{1} << 28;
  BigBuffer x(device(), 4 * kChunk), y(device(), 4 * kChunk), result(device(), sizeof(SweepResult));
  if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  SweepResult seen{0, ~0u, 0, 0};
  ASSERT_EQ(device().copy_to_device(result.data(), &seen, sizeof(seen), nullptr), cudaSuccess);
  const lk_cmatrix xv{x.data(), LK_F32, 1, kChunk, kChunk, 1};
  const lk_matrix yv{y.data(), LK_F32, 1, kChunk, kChunk, 1};
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kChunk) {
    ASSERT_EQ(fill_with_bit_patterns(static_cast<float*>(x.data()), std::uint32_t(first), kChunk,
                                     nullptr),
              cudaSuccess);
    call(xv, yv);
    ASSERT_EQ(
        compare_with_reference(static_cast<float*>(x.data()), static_cast<float*>(y.data()), kChunk,
                               param().form, static_cast<SweepResult*>(result.data()), nullptr),
        cudaSuccess);
  }
  ASSERT_EQ(device().copy_to_host(&seen, result.data(), sizeof(seen), nullptr), cudaSuccess);
  wait();
  std::printf("%s: %.3f ulp for x >= -1, %.3f of the bound below\n", show(param()).c_str(),
              double(seen.largest_ulps), double(seen.largest_of_bound));
  EXPECT_EQ(seen.violations, 0u) << "first at " << show(seen.first_violation, DType::f32);
  EXPECT_GT(seen.largest_ulps, 0.5f) << "the comparison saw no error at all";
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeluExhaustive);
INSTANTIATE_TEST_SUITE_P(, GeluExhaustive, testing::ValuesIn(only_cuda([](const GeluParam& p) {
                           return p.x_type == DType::f32;
                         })),
                         gelu_name);

// I8: on a non-blocking stream the call waits for the stream's earlier work and nothing overtakes
// it. Work on the legacy stream would see the input of before.
class GeluStreams : public GeluGpu {};

TEST_P(GeluStreams, I8NonBlockingStreamIsInOrder) {
  constexpr std::size_t kN = 1 << 16;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(device().stream_create(&stream), cudaSuccess);
  const std::uint32_t late = encode(2.0, param().x_type);
  StridedMatrix x(device(), param().x_type, row_major(1, kN),
                  Bits(kN, encode(1.0, param().x_type)));
  StridedMatrix y(device(), param().y_type, row_major(1, kN));
  const std::uint32_t expected = evaluate({late})[0];
  ASSERT_EQ(spin_then_fill(static_cast<std::uint16_t*>(x.view().data), std::uint16_t(late), kN, 50,
                           stream),
            cudaSuccess);
  call(x.cview(), y.view(), 0, stream);
  std::vector<std::uint16_t> got(kN);
  ASSERT_EQ(device().copy_to_host(got.data(), y.view().data, 2 * kN, stream), cudaSuccess);
  ASSERT_EQ(device().stream_synchronize(stream), cudaSuccess);
  EXPECT_EQ(std::size_t(std::count(got.begin(), got.end(), std::uint16_t(expected))), kN);
  ASSERT_EQ(device().stream_destroy(stream), cudaSuccess);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GeluStreams);
INSTANTIATE_TEST_SUITE_P(, GeluStreams, testing::ValuesIn(only_cuda([](const GeluParam& p) {
                           return p.y_type == DType::bf16 && p.form == LK_GELU_TANH;
                         })),
                         gelu_name);

#else

TEST(GeluGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
}  // namespace libkernels::test
