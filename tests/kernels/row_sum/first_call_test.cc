// What must work as the very first library call of a process. Each case is a process of its own:
// the program is run in as many shards as it has cases. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/row_sum/row_sum_fixture.h"

namespace libkernels::test {
namespace {

// Small integers, whose sums are exact.
Bits draw(const Layout& layout, DType type, std::uint64_t seed) {
  Bits bits(std::size_t(layout.elements()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    bits[i] = encode(double(random_bits(seed, i) % 8), type);
  }
  return bits;
}
Bits exact_sums(const Layout& layout, DType type, const Bits& bits) {
  Bits expected;
  for (std::int64_t r = 0; r < layout.rows; ++r) {
    const auto at = [&](std::int64_t c) {
      return decode(bits[std::size_t(r * layout.cols + c)], type);
    };
    expected.push_back(encode(reference::row_sum(layout.cols, at).sum, DType::f32));
  }
  return expected;
}

// I4: capture into a graph, replays that follow the input, eager calls before and after the graph
// is destroyed. Rows that are split: the scratch, allocated on the stream, is a part of the graph.
TEST(RowSumFirstCall, I4GraphCapture) {
  if (backends().size() < 2) GTEST_SKIP() << "built without CUDA; graphs are not emulated";
  const Backend& backend = *backends()[1];
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  Device& device = backend.device();
  constexpr DType kType = DType::bf16;
  const Layout layout = row_major(3, 200001);
  StridedMatrix x(device, kType, layout), y(device, DType::f32, row_major(3, 1));
  const lk_cmatrix xv = x.cview();
  const lk_matrix yv = y.view();
  const RowSumCall call{.x = &xv, .y = &yv, .options = nullptr};
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  ASSERT_EQ(device.stream_create(&stream), cudaSuccess);
  RowSumCall on_stream = call;
  on_stream.stream = stream;
  ASSERT_EQ(device.capture_begin(stream), cudaSuccess);
  ASSERT_NO_THROW(backend.row_sum.run(on_stream));
  ASSERT_EQ(device.capture_end(stream, &graph), cudaSuccess);
  const auto check = [&](const Bits& bits) {
    ASSERT_EQ(device.stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(bits_equal(y.read(), exact_sums(layout, kType, bits), DType::f32));
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Bits bits = draw(layout, kType, seed);
    x.write(bits);
    ASSERT_EQ(device.graph_launch(graph, stream), cudaSuccess);
    check(bits);
  }
  for (const bool destroyed : {false, true}) {
    const Bits bits = draw(layout, kType, destroyed ? 5 : 4);
    x.write(bits);
    if (destroyed) {
      ASSERT_EQ(device.graph_destroy(graph), cudaSuccess);
    }
    ASSERT_NO_THROW(backend.row_sum.run(on_stream));
    check(bits);
  }
  ASSERT_EQ(device.stream_destroy(stream), cudaSuccess);
}

// I7: threads that make their first calls at once, each with another type, path and shape.
class RowSumFirstCallThreads : public testing::TestWithParam<const Backend*> {};

TEST_P(RowSumFirstCallThreads, I7SixteenThreads) {
  const Backend& backend = *GetParam();
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  constexpr int kThreads = 16;
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
      const std::int64_t cols = std::int64_t{7} << t % 8;
      const Layout layout = t == 15      ? row_major(1, 70001)
                            : t % 4 == 3 ? col_major(5, cols)
                                         : row_major(3, cols, cols + 5, t % 5);
      const Bits bits = draw(layout, type, std::uint64_t(t));
      StridedMatrix x(backend.device(), type, layout, bits);
      StridedMatrix y(backend.device(), DType::f32, row_major(layout.rows, 1));
      const lk_cmatrix xv = x.cview();
      const lk_matrix yv = y.view();
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      for (int repeat = 0; repeat < 3; ++repeat) {
        try {
          backend.row_sum.run({.x = &xv, .y = &yv, .options = nullptr});
          if (y.read() != exact_sums(layout, type, bits)) failed.fetch_add(1);
        } catch (const std::exception&) {
          failed.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(, RowSumFirstCallThreads, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace libkernels::test
