// What must work as the very first library call of a process. Each case is a process of its own:
// the program is run in as many shards as it has cases.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/matmul/matmul_fixture.h"

namespace libkernels::test {
namespace {

// C = relu(A A^T): integers, so right to the bit.
struct Square {
  static constexpr std::int64_t kN = 96;

  static Bits inputs(DType type, std::uint64_t seed) {
    Bits bits;
    for (std::int64_t i = 0; i < kN * kN; ++i) {
      bits.push_back(encode(int(random_word(seed, std::uint64_t(i)) % 7) - 3, type));
    }
    return bits;
  }
  static Bits expected(const Bits& a, DType type) {
    reference::MatmulProblem p;
    p.m = p.n = p.k = kN;
    p.activation = reference::MatmulActivation::relu;
    for (std::int64_t i = 0; i < kN * kN; ++i) {
      p.a.push_back(decode(a[std::size_t(i)], type));
      p.b.push_back(decode(a[std::size_t(i % kN * kN + i / kN)], type));
    }
    Bits bits;
    for (const auto& e : reference::matmul(p)) bits.push_back(encode(e.value, DType::f32));
    return bits;
  }
  static void run(const Backend& backend, StridedMatrix& a, StridedMatrix& c,
                  cudaStream_t stream = nullptr) {
    const lk_cmatrix av = a.cview();
    lk_cmatrix transposed = av;
    std::swap(transposed.row_stride, transposed.col_stride);
    const lk_matrix cv = c.view();
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.activation = LK_ACT_RELU;
    backend.matmul.run({.a = &av, .b = &transposed, .c = &cv, .options = &o, .stream = stream});
  }
};

// I4: capture into a graph, replays that follow the input, eager calls before and after the graph
// is destroyed.
TEST(MatmulFirstCall, I4GraphCapture) {
  if (backends().size() < 2) GTEST_SKIP() << "built without CUDA; graphs are not emulated";
  const Backend& backend = *backends()[1];
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  Device& device = backend.device();
  constexpr DType kType = DType::bf16;
  StridedMatrix a(device, kType, row_major(Square::kN, Square::kN));
  StridedMatrix c(device, DType::f32, row_major(Square::kN, Square::kN));
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  ASSERT_EQ(device.stream_create(&stream), cudaSuccess);
  ASSERT_EQ(device.capture_begin(stream), cudaSuccess);
  ASSERT_NO_THROW(Square::run(backend, a, c, stream));
  ASSERT_EQ(device.capture_end(stream, &graph), cudaSuccess);
  const auto check = [&](const Bits& bits) {
    ASSERT_EQ(device.stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(bits_equal(c.read(), Square::expected(bits, kType), DType::f32));
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Bits bits = Square::inputs(kType, seed);
    a.write(bits);
    ASSERT_EQ(device.graph_launch(graph, stream), cudaSuccess);
    check(bits);
  }
  for (const bool destroyed : {false, true}) {
    const Bits bits = Square::inputs(kType, destroyed ? 5 : 4);
    a.write(bits);
    if (destroyed) {
      ASSERT_EQ(device.graph_destroy(graph), cudaSuccess);
    }
    ASSERT_NO_THROW(Square::run(backend, a, c, stream));
    check(bits);
  }
  ASSERT_EQ(device.stream_destroy(stream), cudaSuccess);
}

// I5, I7: threads that make their first calls at once, each of another type.
class MatmulFirstCallThreads : public testing::TestWithParam<const Backend*> {};

TEST_P(MatmulFirstCallThreads, I7EightThreads) {
  const Backend& backend = *GetParam();
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  constexpr int kThreads = 8;
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8_e5m2};
      const DType type = kTypes[t % 4];
      const Bits bits = Square::inputs(type, std::uint64_t(t));
      StridedMatrix a(backend.device(), type, row_major(Square::kN, Square::kN, 100 + t), bits);
      StridedMatrix c(backend.device(), DType::f32, row_major(Square::kN, Square::kN));
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      try {
        Square::run(backend, a, c);
        if (!bits_equal(c.read(), Square::expected(bits, type), DType::f32)) failed.fetch_add(1);
      } catch (const std::exception&) {
        failed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(, MatmulFirstCallThreads, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace libkernels::test
