// What must hold in a process that has not called the library before: each case runs in a fresh
// process, which exits 0 if all was right and else tells on stderr what was not.
// Cost: 0.5 s emulated; on a GPU not measured yet (a process takes a third of a second there).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/kernels/all/any_call.h"
#include "tests/support/refusal.h"
#if defined(LK_HAVE_CUDA)
#include "tests/kernels/all/spin_kernels.h"
#endif

namespace libkernels::test {
namespace {

// In the fresh process: ends it, with what `body` says is wrong.
[[noreturn]] void report(const std::function<std::string()>& body) {
  std::string wrong;
  try {
    wrong = body();
  } catch (const std::exception& e) {
    wrong = e.what();
  }
  if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
  std::_Exit(wrong.empty() ? 0 : 1);
}
void expect_right_in_fresh_process(const std::function<std::string()>& body) {
  EXPECT_EXIT(report(body), testing::ExitedWithCode(0), "");
}

std::string why_wrong(const AnyCall& call) {
  const auto right = call.right();
  return right ? "" : show(call.views().types) + ": " + right.message();
}

class ColdProcess : public testing::TestWithParam<const Backend*> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (const std::string why = why_no_device(backend()); !why.empty()) GTEST_SKIP() << why;
  }
  static const Backend& backend() { return *GetParam(); }
  static bool emulated() { return is_emulated(backend()); }

  // The operations and types in turn, each time in another shape.
  static std::unique_ptr<AnyCall> nth_call(int n) {
    static const std::vector<AnyTypes> types = all_types();
    // 7 and the number of types have no common factor: neighbours differ in operation.
    const AnyTypes& t = types[std::size_t(n * 7) % types.size()];
    const bool is_long = t.op != LK_OP_MATMUL && n % 5 == 0 && (!emulated() || n == 0);
    return std::make_unique<AnyCall>(backend(), t,
                                     AnyShape{.rows = is_long ? 2 : 3 + n,
                                              .cols = is_long ? 100003 : 50 + 37 * n,
                                              .depth = 20 + n,
                                              .offset = n % 3},
                                     std::uint64_t(n));
  }

  // `threads` threads that make the first calls at once, each another one.
  static std::string race(int threads) {
    std::vector<std::unique_ptr<AnyCall>> calls;
    for (int t = 0; t < threads; ++t) calls.push_back(nth_call(t));
    std::atomic<int> ready{0};
    std::vector<std::string> wrong(calls.size());
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < calls.size(); ++t) {
      all.emplace_back([&, t] {
        ready.fetch_add(1);
        while (ready.load() < threads) std::this_thread::yield();
        wrong[t] = refusal([&] { calls[t]->run(); }).text;
      });
    }
    for (std::thread& thread : all) thread.join();
    std::string text;
    for (std::size_t t = 0; t < calls.size(); ++t) text += wrong[t] + why_wrong(*calls[t]);
    return text;
  }
};

// I5: threads that have no current context.
TEST_P(ColdProcess, I5FreshThreads) {
  for (const int threads : {1, 8}) {
    expect_right_in_fresh_process([&]() -> std::string { return race(threads); });
  }
}

// I7: sixteen first calls of other operations, types and shapes, several times over.
TEST_P(ColdProcess, I7SixteenThreads) {
  for (int process = 0; process < (emulated() ? 1 : 5); ++process) {
    expect_right_in_fresh_process([&]() -> std::string { return race(16); });
  }
}

INSTANTIATE_TEST_SUITE_P(, ColdProcess, testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name); });

#if defined(LK_HAVE_CUDA)

const Backend& cuda() { return cuda_backend(); }

// One call of each operation, and of each that takes scratch. GeLU by the kernel that dispatch
// chooses and by the portable one.
std::vector<std::unique_ptr<AnyCall>> one_of_each() {
  constexpr MatmulTypes kBf16{DType::bf16, DType::bf16, DType::bf16};
  constexpr MatmulTypes kF32{DType::f32, DType::f32, DType::f32};
  std::vector<std::unique_ptr<AnyCall>> calls;
  const auto add = [&](lk_op op, const MatmulTypes& types, const AnyShape& shape) {
    calls.push_back(std::make_unique<AnyCall>(cuda(), AnyTypes{op, types}, shape, calls.size()));
  };
  add(LK_OP_GELU, kBf16, {.rows = 40, .cols = 300});
  add(LK_OP_SOFTMAX, kF32, {.rows = 40, .cols = 300});
  add(LK_OP_SOFTMAX, kF32, {.rows = 2, .cols = 100003});
  add(LK_OP_ROW_SUM, kF32, {.rows = 40, .cols = 300});
  add(LK_OP_ROW_SUM, kF32, {.rows = 2, .cols = 100003});
  add(LK_OP_MATMUL, kF32, {.rows = 40, .cols = 300, .depth = 70});
  add(LK_OP_MATMUL, kBf16, {.rows = 40, .cols = 300, .depth = 70});
  return calls;
}

class ColdGpu : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (const std::string why = why_no_device(cuda()); !why.empty()) GTEST_SKIP() << why;
  }
};

void check(cudaError_t error, const char* what) { require(cuda().device(), error, what); }

// A variable of the environment for the processes started meanwhile.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

// I4: all operations in one graph, captured in the mode that forbids every thread whatever could
// break a capture, as the process's first calls; replays that follow the inputs; eager calls on the
// stream before and after the graph is destroyed.
std::string capture_all(cudaStreamCaptureMode mode) {
  const auto calls = one_of_each();
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cuda().device().stream_create(&stream), "stream_create");
  check(cudaStreamBeginCapture(stream, mode), "cudaStreamBeginCapture");
  for (const auto& call : calls) call->run({.stream = stream});
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  std::string wrong;
  for (const std::uint64_t round : {1u, 2u, 3u, 4u, 5u}) {
    for (const auto& call : calls) {
      call->draw(100 * round);
      call->fill_output(0);
    }
    if (round == 5) check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    if (round <= 3) {
      check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    } else {
      for (const auto& call : calls) call->run({.stream = stream});
    }
    check(cuda().device().stream_synchronize(stream), "stream_synchronize");
    for (const auto& call : calls) wrong += why_wrong(*call);
  }
  return wrong;
}
TEST_F(ColdGpu, I4CaptureInGlobalMode) {
  expect_right_in_fresh_process(
      [&]() -> std::string { return capture_all(cudaStreamCaptureModeGlobal); });
}
TEST_F(ColdGpu, I4CaptureInThreadLocalMode) {
  expect_right_in_fresh_process(
      [&]() -> std::string { return capture_all(cudaStreamCaptureModeThreadLocal); });
}

// H6: without machine code for the device the portable kernels are compiled from their PTX;
// kernels that have none are refused with a text, and write nothing. (ptxas takes about 8 s for the
// modules of these calls.)
TEST_F(ColdGpu, H6PtxAlone) {
  const Environment ptx("CUDA_FORCE_PTX_JIT", "1");
  expect_right_in_fresh_process([&]() -> std::string {
    std::string wrong;
    const auto calls = one_of_each();
    for (const auto& call : calls) {
      const lk_op op = call->views().types.op;
      const Bits before = call->result();
      const Refusal r = refusal([&] { call->run(); });
      if (r.status == LK_SUCCESS) {
        wrong += why_wrong(*call);
      } else {
        if (!is_cuda_error(r, op_name(op))) wrong += "unexpected: " + r.text;
        if (call->result() != before) wrong += op_name(op) + " wrote in spite of " + r.text;
      }
      // And the portable kernel, whatever dispatch chose.
      for (const lk_kernel_info& info : cuda().kernels()) {
        if (info.op != op || info.arch != 80 || !call->supported(info.name)) continue;
        call->fill_output(0);
        call->run({.pin = info.name});
        wrong += why_wrong(*call);
      }
    }
    return wrong;
  });
}

// H6: nothing needs the driver's compiler on a device of 8.x, 9.0 or 10.x.
TEST_F(ColdGpu, H6NoPtxIsNeeded) {
  const DeviceProperties* p = nullptr;
  ASSERT_EQ(cuda().device().properties(&p), cudaSuccess);
  if (p->cc_major > 10) GTEST_SKIP() << "no machine code is built for this device";
  const Environment no_ptx("CUDA_DISABLE_PTX_JIT", "1");
  expect_right_in_fresh_process([&]() -> std::string {
    std::string wrong;
    for (const auto& call : one_of_each()) {
      call->run();
      wrong += why_wrong(*call);
    }
    return wrong;
  });
}

// B10: what makes cuBLAS round fp32 to tf32 changes nothing here.
TEST_F(ColdGpu, B10TheTf32OverrideChangesNothing) {
  const Environment tf32("NVIDIA_TF32_OVERRIDE", "1");
  expect_right_in_fresh_process([&]() -> std::string {
    const auto calls = one_of_each();
    std::string wrong;
    for (const auto& call : calls) {
      call->run();
      wrong += why_wrong(*call);
    }
    DeviceBuffer memory(cuda().device(), 3 * 256);
    const float in[] = {1 + 0x1p-12f, 1.0f};
    memory.copy_in(&in[0], 4);
    memory.copy_in(&in[1], 4, 256);
    char* const base = static_cast<char*>(memory.data());
    const AnyViews one{{LK_OP_MATMUL, {DType::f32, DType::f32, DType::f32}},
                       {base, LK_F32, 1, 1, 1, 1},
                       {base + 256, LK_F32, 1, 1, 1, 1},
                       {base + 512, LK_F32, 1, 1, 1, 1}};
    one.run(cuda());
    float out = 0;
    memory.copy_out(&out, 4, 512);
    return out == in[0] ? wrong : wrong + "1 + 2^-12 was rounded to " + std::to_string(out);
  });
}

// I9: after preload() no call waits for the GPU to drain: a kernel on another stream spins until
// all calls are enqueued. A deadlock ends by the watchdog.
TEST_F(ColdGpu, I9CallsBesideASpinningKernel) {
  expect_right_in_fresh_process([&]() -> std::string {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(20));
      std::fprintf(stderr, "deadlock: a call waits for a kernel of another stream\n");
      std::_Exit(2);
    }).detach();
    const auto calls = one_of_each();
    cuda().preload(LK_OP_ALL);
    int* flag = nullptr;
    check(cudaHostAlloc(reinterpret_cast<void**>(&flag), sizeof(int), cudaHostAllocMapped), "flag");
    *flag = 0;
    int* device_flag = nullptr;
    check(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device_flag), flag, 0), "flag");
    cudaStream_t spinning = nullptr;
    cudaStream_t ours = nullptr;
    check(cuda().device().stream_create(&spinning), "stream_create");
    check(cuda().device().stream_create(&ours), "stream_create");
    check(spin_until(device_flag, spinning), "spin_until");
    for (const auto& call : calls) call->run({.stream = ours});
    check(cuda().device().stream_synchronize(ours), "stream_synchronize");
    const bool still_spinning = cudaStreamQuery(spinning) == cudaErrorNotReady;
    *static_cast<volatile int*>(flag) = 1;
    check(cuda().device().stream_synchronize(spinning), "stream_synchronize");
    std::string wrong = still_spinning ? "" : "the kernel did not spin";
    for (const auto& call : calls) wrong += why_wrong(*call);
    return wrong;
  });
}

#endif

}  // namespace
}  // namespace libkernels::test
