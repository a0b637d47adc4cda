// The emulated device as src/device.h promises it.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "src/backend.h"
#include "tests/support/backends.h"

namespace libkernels {
namespace {

Device& emu() { return emu_device(); }

TEST(EmuDeviceTest, ItsPropertiesAreTheProfiles) {
  const test::ProfileScope profile("rtx4090");
  const DeviceProperties* p = nullptr;
  int count = 0;
  ASSERT_EQ(emu().properties(&p), cudaSuccess);
  EXPECT_EQ(p->cc_major * 10 + p->cc_minor, 89);
  ASSERT_EQ(emu().count(&count), cudaSuccess);
  EXPECT_EQ(count, 1);
  EXPECT_STREQ(emu().backend(), "emu");
  EXPECT_EQ(&emu_backend().device(), &emu());
}

TEST(EmuDeviceTest, CopiesStayInsideLiveBuffers) {
  void *a = nullptr, *b = nullptr;
  ASSERT_EQ(emu().allocate(&a, 100), cudaSuccess);
  ASSERT_EQ(emu().allocate_async(&b, 100, nullptr), cudaSuccess);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 256, 0u);
  char host[101];
  std::memset(host, 7, sizeof(host));
  EXPECT_EQ(emu().copy_to_device(a, host, 100, nullptr), cudaSuccess);
  EXPECT_EQ(emu().copy_on_device(b, a, 100, nullptr), cudaSuccess);
  EXPECT_EQ(emu().fill(static_cast<char*>(b) + 99, 9, 1, nullptr), cudaSuccess);
  EXPECT_EQ(emu().copy_to_host(host, b, 100, nullptr), cudaSuccess);
  EXPECT_EQ(host[98], 7);
  EXPECT_EQ(host[99], 9);
  EXPECT_EQ(emu().copy_to_device(a, host, 101, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(emu().copy_to_device(host, host + 1, 1, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(emu().copy_to_host(host, host + 1, 1, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(emu().copy_on_device(a, static_cast<char*>(b) + 1, 100, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(emu().fill(a, 0, 101, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(emu().copy_to_host(nullptr, nullptr, 0, nullptr), cudaSuccess);

  Device::PointerInfo info;
  ASSERT_EQ(emu().pointer_info(static_cast<char*>(a) + 5, &info), cudaSuccess);
  EXPECT_TRUE(info.device_accessible && info.on_current_device);
  EXPECT_EQ(info.base, a);
  EXPECT_EQ(info.bytes, 100u);
  ASSERT_EQ(emu().pointer_info(host, &info), cudaSuccess);
  EXPECT_FALSE(info.device_accessible || info.on_current_device);

  EXPECT_EQ(emu().release(a), cudaSuccess);
  EXPECT_EQ(emu().release_async(b, nullptr), cudaSuccess);
  ASSERT_EQ(emu().pointer_info(a, &info), cudaSuccess);
  EXPECT_FALSE(info.device_accessible);
}

TEST(EmuDeviceTest, StreamsAndEventsAreDistinctHandles) {
  cudaStream_t s = nullptr, t = nullptr;
  ASSERT_EQ(emu().stream_create(&s), cudaSuccess);
  ASSERT_EQ(emu().stream_create(&t), cudaSuccess);
  EXPECT_NE(s, nullptr);
  EXPECT_NE(s, t);
  EXPECT_NE(s, cudaStreamLegacy);
  EXPECT_NE(s, cudaStreamPerThread);
  EXPECT_EQ(emu().stream_synchronize(s), cudaSuccess);
  cudaEvent_t e = nullptr, f = nullptr;
  ASSERT_EQ(emu().event_create(&e), cudaSuccess);
  ASSERT_EQ(emu().event_create(&f), cudaSuccess);
  EXPECT_NE(e, f);
  float ms = -1;
  EXPECT_EQ(emu().event_record(e, s), cudaSuccess);
  EXPECT_EQ(emu().elapsed_ms(e, f, &ms), cudaSuccess);
  EXPECT_EQ(ms, 0);
  EXPECT_EQ(emu().event_destroy(e), cudaSuccess);
  EXPECT_EQ(emu().stream_destroy(s), cudaSuccess);
  EXPECT_EQ(emu().capture_begin(t), cudaErrorNotSupported);
}

TEST(EmuDeviceTest, ErrorsAreDescribed) {
  EXPECT_EQ(emu().describe(cudaErrorInvalidValue).rfind("cudaErrorInvalidValue: invalid", 0), 0u);
  EXPECT_EQ(emu().describe(cudaError_t(12345)).rfind("CUDA error 12345", 0), 0u);
  EXPECT_EQ(emu().describe(cudaSuccess), "cudaSuccess: no error");
  EXPECT_EQ(emu().sticky_error(), cudaSuccess);
  EXPECT_FALSE(emu().is_sticky(cudaErrorIllegalAddress));
}

}  // namespace
}  // namespace libkernels
