// The CUDA backend's host layer. Most cases need a GPU; what a machine without one must do is here
// as well.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"
#include "tests/support/refusal.h"

namespace libkernels {
namespace {

#if defined(LK_HAVE_CUDA)

using test::DeviceBuffer;
using test::is_accepted;
using test::is_cuda_error;
using test::refusal;

const Backend& cuda() { return cuda_backend(); }

struct Call {
  DeviceBuffer x_memory{cuda().device(), 128}, y_memory{cuda().device(), 128};
  lk_cmatrix x{x_memory.data(), LK_F32, 4, 8, 8, 1};
  lk_matrix y{y_memory.data(), LK_F32, 4, 8, 8, 1};
  GeluCall operator()(cudaStream_t stream = nullptr) const { return {&x, &y, nullptr, stream}; }
};

TEST(CudaDeviceTest, WithoutAGpuTheCountIsZeroAndCallsSaySo) {
  // Without a driver the runtime answers even this with an error; ours must add none.
  const cudaError_t before = cudaPeekAtLastError();
  int count = -1;
  ASSERT_EQ(cuda().device().count(&count), cudaSuccess);
  if (count > 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(count, 0);
  EXPECT_EQ(cudaPeekAtLastError(), before);
  const lk_cmatrix x{reinterpret_cast<void*>(0x1000), LK_F32, 1, 1, 1, 1};
  const lk_matrix y{reinterpret_cast<void*>(0x2000), LK_F32, 1, 1, 1, 1};
  EXPECT_TRUE(is_cuda_error(refusal([&] {
                              cuda().gelu.run({&x, &y, nullptr});
                            }),
                            "gelu: asking for the current device failed: cudaError"));
  EXPECT_EQ(cudaPeekAtLastError(), before);
  const lk_cmatrix none{nullptr, LK_F32, 0, 1, 1, 1};
  const lk_matrix nowhere{nullptr, LK_F32, 0, 1, 1, 1};
  EXPECT_TRUE(is_accepted(refusal([&] { cuda().gelu.run({&none, &nowhere, nullptr}); })));
}

class CudaGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const std::string reason = test::why_no_device(cuda());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(CudaGpuTest, PropertiesAreFilledIn) {
  const DeviceProperties *p = nullptr, *again = nullptr;
  ASSERT_EQ(cuda().device().properties(&p), cudaSuccess);
  ASSERT_EQ(cuda().device().properties(&again), cudaSuccess);
  EXPECT_EQ(p, again);
  EXPECT_GE(p->cc_major, 7);
  EXPECT_GT(p->sm_count, 0);
  EXPECT_GE(p->max_threads_per_cta, 1024);
  EXPECT_GT(p->max_ctas_per_sm, 0);
  EXPECT_EQ(p->registers_per_sm, 65536);
  EXPECT_GE(p->smem_per_sm, p->smem_per_cta_optin);
  EXPECT_GT(p->l2_bytes, 0u);
  EXPECT_GT(p->memory_bytes, std::size_t{1} << 30);
  EXPECT_STRNE(p->name, "");
  EXPECT_STRNE(p->name, "unnamed CUDA device");
  EXPECT_GT(p->peak_bytes_per_s, 1e11);
  EXPECT_LT(p->peak_bytes_per_s, 1e14);
}

TEST_F(CudaGpuTest, AStaleErrorOfTheCallersIsNeitherReportedNorCleared) {
  const Call c;
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);
  ASSERT_NE(cudaSetDevice(-1), cudaSuccess);
  const cudaError_t stale = cudaPeekAtLastError();
  ASSERT_NE(stale, cudaSuccess);
  EXPECT_TRUE(is_accepted(refusal([&] { cuda().gelu.run(c()); })));
  EXPECT_EQ(cudaGetLastError(), stale);
}

TEST_F(CudaGpuTest, TheVeryFirstCallCanBeCaptured) {
  const auto statement = [] {
    Call c;
    const std::vector<float> ones(32, 1.0f);
    c.x_memory.copy_in(ones.data(), 128);
    Device& d = cuda().device();
    cudaStream_t stream = nullptr;
    cudaGraphExec_t graph = nullptr;
    bool ok = d.stream_create(&stream) == cudaSuccess && d.capture_begin(stream) == cudaSuccess;
    ok = ok && refusal([&] { cuda().gelu.run(c(stream)); }).status == LK_SUCCESS;
    ok = ok && d.capture_end(stream, &graph) == cudaSuccess;
    ok = ok && d.graph_launch(graph, stream) == cudaSuccess;
    ok = ok && d.stream_synchronize(stream) == cudaSuccess;
    std::vector<float> result(32);
    if (ok) c.y_memory.copy_out(result.data(), 128);
    for (float v : result) ok = ok && v > 0.8411f && v < 0.8413f;
    std::_Exit(ok ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaGpuTest, AStickyErrorWasThereBefore) {
  const auto statement = [] {
    const lk_cmatrix x{reinterpret_cast<void*>(0x1000), LK_F32, 4, 8, 8, 1};
    const lk_matrix y{reinterpret_cast<void*>(0x2000), LK_F32, 4, 8, 8, 1};
    cuda().gelu.run({&x, &y, nullptr});  // faults on the device
    static_cast<void>(cuda().device().stream_synchronize(nullptr));
    const auto r = refusal([&] { cuda().gelu.run({&x, &y, nullptr}); });
    const bool ok = r.status == LK_CUDA_ERROR &&
                    r.text.find("an error was there before this call") != std::string::npos &&
                    r.text.find("cudaErrorIllegalAddress") != std::string::npos;
    if (!ok) std::fprintf(stderr, "status %d: %s\n", r.status, r.text.c_str());
    std::_Exit(ok ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaGpuTest, CheckLooksAtTheMemory) {
  const auto beyond = [] {
    setenv("LIBKERNELS_CHECK", "1", 1);
    Call c;
    if (refusal([&] { cuda().gelu.run(c()); }).status != LK_SUCCESS) std::_Exit(2);
    c.x.row_stride = c.y.row_stride = 1 << 24;
    c.x.data = c.y.data;  // in place: apart they might overlap
    const auto r = refusal([&] { cuda().gelu.run(c()); });
    if (r.text.find("but its allocation ends after") == std::string::npos) {
      std::fprintf(stderr, "status %d: %s\n", r.status, r.text.c_str());
      std::_Exit(1);
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(beyond(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaGpuTest, PreloadsEverything) {
  EXPECT_TRUE(is_accepted(refusal([] { cuda().preload(LK_OP_ALL); })));
}

#else

TEST(CudaDeviceTest, IsNotInThisBuild) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
}  // namespace libkernels
