// What must work as the very first library call of a process, for the tests of each operation. Each
// case is a process of its own: the program is run in as many shards as it has cases.
//
// A call C, with memory of its own:
//   void draw(std::uint64_t seed)             writes other inputs
//   void run(cudaStream_t stream)
//   testing::AssertionResult right() const    of the output, once the stream is done
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/backends.h"

namespace libkernels::test {

// Capture into a graph, replays that follow the input, eager calls before and after the graph is
// destroyed. `make(backend)` is a call.
template <class Make>
void check_first_capture(const Make& make) {
  if (backends().size() < 2) GTEST_SKIP() << "built without CUDA; graphs are not emulated";
  const Backend& backend = *backends()[1];
  if (const std::string why = why_no_device(backend); !why.empty()) GTEST_SKIP() << why;
  Device& device = backend.device();
  auto call = make(backend);
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  ASSERT_EQ(device.stream_create(&stream), cudaSuccess);
  ASSERT_EQ(device.capture_begin(stream), cudaSuccess);
  ASSERT_NO_THROW(call.run(stream));
  ASSERT_EQ(device.capture_end(stream, &graph), cudaSuccess);
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    call.draw(seed);
    if (seed == 5) {
      ASSERT_EQ(device.graph_destroy(graph), cudaSuccess);
    }
    if (seed <= 3) {
      ASSERT_EQ(device.graph_launch(graph, stream), cudaSuccess);
    } else {
      ASSERT_NO_THROW(call.run(stream));
    }
    ASSERT_EQ(device.stream_synchronize(stream), cudaSuccess);
    EXPECT_TRUE(call.right()) << seed;
  }
  ASSERT_EQ(device.stream_destroy(stream), cudaSuccess);
}

// Threads that make their first calls at once. Over backends().
class FirstCallThreads : public testing::TestWithParam<const Backend*> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(*GetParam()); !why.empty()) GTEST_SKIP() << why;
  }

  // `make(backend, t)` is the call of thread t, with inputs.
  template <class Make>
  static void check(int count, int repeats, const Make& make) {
    std::atomic<int> ready{0}, failed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        auto call = make(*GetParam(), t);
        ready.fetch_add(1);
        while (ready.load() < count) std::this_thread::yield();
        for (int repeat = 0; repeat < repeats; ++repeat) {
          try {
            call.run(nullptr);
            if (!call.right()) failed.fetch_add(1);
          } catch (const std::exception&) {
            failed.fetch_add(1);
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failed.load(), 0);
  }
};

inline std::string backend_name(const testing::TestParamInfo<const Backend*>& info) {
  return info.param->name;
}

}  // namespace libkernels::test
