// What must work as the very first library call of a process. Each case is a process of its own:
// the program is run in as many shards as it has cases. Cost: 0.1 s emulated.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/gelu/gelu_fixture.h"

namespace libkernels::test {
namespace {

constexpr std::int64_t kN = 3000;

Bits expected_of(const Bits& x, lk_gelu_form form, DType type, const Bits& got) {
  // Within the contract's bound counts as right: no earlier call may have made a table.
  Bits expected(got);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = decode(x[i], type);
    const double r = form == LK_GELU_TANH ? reference::gelu_tanh(v) : reference::gelu_erf(v);
    const double fp32 =
        form == LK_GELU_TANH ? reference::gelu_tanh_bound(v, r) : reference::gelu_erf_bound(v, r);
    const double half = type == DType::f32 ? 0 : ulp_at(r, format_of(type)) / 2;
    if (!(std::fabs(decode(got[i], type) - r) <= fp32 + half)) expected[i] = encode(r, type);
  }
  return expected;
}

// I4: capture into a graph, replays that follow the input, eager calls before and after the graph
// is destroyed.
TEST(GeluFirstCall, I4GraphCapture) {
  if (backends().size() < 2) GTEST_SKIP() << "built without CUDA; graphs are not emulated";
  const Backend& backend = *backends()[1];
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  Device& device = backend.device();
  constexpr DType kType = DType::bf16;
  const Layout layout = row_major(1, kN);
  StridedMatrix x(device, kType, layout), y(device, kType, layout);
  const lk_cmatrix xv = x.cview();
  const lk_matrix yv = y.view();
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  ASSERT_EQ(device.stream_create(&stream), cudaSuccess);
  ASSERT_EQ(device.capture_begin(stream), cudaSuccess);
  ASSERT_NO_THROW(backend.gelu.run({.x = &xv, .y = &yv, .options = nullptr, .stream = stream}));
  ASSERT_EQ(device.capture_end(stream, &graph), cudaSuccess);
  const auto check = [&](const Bits& bits) {
    ASSERT_EQ(device.stream_synchronize(stream), cudaSuccess);
    const Bits got = y.read();
    EXPECT_TRUE(bits_equal(got, expected_of(bits, LK_GELU_TANH, kType, got), kType));
  };
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Bits bits = normal_bits(kN, kType, seed);
    x.write(bits);
    ASSERT_EQ(device.graph_launch(graph, stream), cudaSuccess);
    check(bits);
  }
  for (const bool destroyed : {false, true}) {
    const Bits bits = normal_bits(kN, kType, destroyed ? 5 : 4);
    x.write(bits);
    if (destroyed) {
      ASSERT_EQ(device.graph_destroy(graph), cudaSuccess);
    }
    ASSERT_NO_THROW(backend.gelu.run({.x = &xv, .y = &yv, .options = nullptr, .stream = stream}));
    check(bits);
  }
  ASSERT_EQ(device.stream_destroy(stream), cudaSuccess);
}

// I7: threads that make their first calls at once, each with another form and type.
class GeluFirstCallThreads : public testing::TestWithParam<const Backend*> {};

TEST_P(GeluFirstCallThreads, I7SixteenThreads) {
  const Backend& backend = *GetParam();
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  constexpr int kThreads = 16;
  std::atomic<int> ready{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const DType type = t % 3 == 0 ? DType::f32 : t % 3 == 1 ? DType::f16 : DType::bf16;
      const lk_gelu_form form = t % 2 == 0 ? LK_GELU_TANH : LK_GELU_ERF;
      const Layout layout = row_major(3, 131 + t, 140 + t, t % 5);
      const Bits bits = normal_bits(std::size_t(layout.elements()), type, std::uint64_t(t));
      StridedMatrix x(backend.device(), type, layout, bits), y(backend.device(), type, layout);
      const lk_cmatrix xv = x.cview();
      const lk_matrix yv = y.view();
      lk_gelu_options options = LK_OPTIONS_INIT(lk_gelu_options);
      options.form = form;
      ready.fetch_add(1);
      while (ready.load() < kThreads) std::this_thread::yield();
      for (int repeat = 0; repeat < 5; ++repeat) {
        try {
          backend.gelu.run({.x = &xv, .y = &yv, .options = &options});
          const Bits got = y.read();
          if (!bits_equal(got, expected_of(bits, form, type, got), type) || !y.gaps_intact()) {
            failed.fetch_add(1);
          }
        } catch (const std::exception&) {
          failed.fetch_add(1);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(, GeluFirstCallThreads, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace libkernels::test
