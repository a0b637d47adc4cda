// What must work as the very first library call of a process. Each case is a process of its own:
// the program is run in as many shards as it has cases.
// Cost: 0.2 s emulated, all cases.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/softmax/softmax_fixture.h"

namespace libkernels::test {
namespace {

// Is y the softmax of the rows of x? No earlier call may have made a table of results.
bool is_right(const Bits& x, const Bits& y, std::int64_t rows, DType type) {
  const std::size_t cols = x.size() / std::size_t(rows);
  for (std::size_t r = 0; r < std::size_t(rows); ++r) {
    std::vector<double> row(cols);
    for (std::size_t c = 0; c < cols; ++c) row[c] = decode(x[r * cols + c], type);
    const auto expected = reference::softmax(row);
    for (std::size_t c = 0; c < cols; ++c) {
      const double half = type == DType::f32 ? 0 : ulp_at(expected.y[c], format_of(type)) / 2;
      const double error = std::fabs(decode(y[r * cols + c], type) - expected.y[c]);
      if (!(error <= expected.bound[c] + half)) return false;
    }
  }
  return true;
}

// I4: capture into a graph, replays that follow the input, eager calls before and after the graph
// is destroyed. Of rows on chip, and of split rows, whose scratch is allocated in the graph.
void check_capture(std::int64_t cols) {
  if (backends().size() < 2) GTEST_SKIP() << "built without CUDA; graphs are not emulated";
  const Backend& backend = *backends()[1];
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  Device& device = backend.device();
  constexpr DType kType = DType::bf16;
  const Layout layout = row_major(2, cols);
  StridedMatrix x(device, kType, layout), y(device, kType, layout);
  const lk_cmatrix xv = x.cview();
  const lk_matrix yv = y.view();
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  ASSERT_EQ(device.stream_create(&stream), cudaSuccess);
  ASSERT_EQ(device.capture_begin(stream), cudaSuccess);
  ASSERT_NO_THROW(backend.softmax.run({.x = &xv, .y = &yv, .options = nullptr, .stream = stream}));
  ASSERT_EQ(device.capture_end(stream, &graph), cudaSuccess);
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    const Bits bits = normal_bits(std::size_t(layout.elements()), kType, seed);
    x.write(bits);
    if (seed == 5) {
      ASSERT_EQ(device.graph_destroy(graph), cudaSuccess);
    }
    if (seed < 4) {
      ASSERT_EQ(device.graph_launch(graph, stream), cudaSuccess);
    } else {
      backend.softmax.run({.x = &xv, .y = &yv, .options = nullptr, .stream = stream});
    }
    ASSERT_EQ(device.stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(is_right(bits, y.read(), 2, kType)) << seed;
  }
  ASSERT_EQ(device.stream_destroy(stream), cudaSuccess);
}

TEST(SoftmaxFirstCall, I4GraphCapture) { check_capture(3000); }
TEST(SoftmaxFirstCall, I4GraphCaptureOfSplitRows) { check_capture(100000); }

// I7: threads that make their first calls at once, each with another length and type.
class SoftmaxFirstCallThreads : public testing::TestWithParam<const Backend*> {};

TEST_P(SoftmaxFirstCallThreads, I7SixteenThreads) {
  const Backend& backend = *GetParam();
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  constexpr int kThreads = 16;
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
      const Layout layout = row_major(3, t == 0 ? 60000 : 1 << (t % 12), -1, t % 5);
      const Bits bits = normal_bits(std::size_t(layout.elements()), type, std::uint64_t(t));
      StridedMatrix x(backend.device(), type, layout, bits), y(backend.device(), type, layout);
      const lk_cmatrix xv = x.cview();
      const lk_matrix yv = y.view();
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      for (int repeat = 0; repeat < 2; ++repeat) {
        try {
          backend.softmax.run({.x = &xv, .y = &yv, .options = nullptr});
          if (!is_right(bits, y.read(), 3, type) || !y.gaps_intact()) failed.fetch_add(1);
        } catch (const std::exception&) {
          failed.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(, SoftmaxFirstCallThreads, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace libkernels::test
