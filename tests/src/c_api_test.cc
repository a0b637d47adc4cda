// The C ABI: statuses, messages, explain buffers, registry, threads.
#include "include/libkernels/c_api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "src/backend.h"
#include "tests/support/backends.h"
#include "tests/support/device_buffer.h"

namespace libkernels {
namespace {

using test::DeviceBuffer;

constexpr lk_cmatrix kX{nullptr, LK_F32, 0, 8, 8, 1};
constexpr lk_matrix kY{nullptr, LK_F32, 0, 8, 8, 1};

// A call that fails, with `mark` in its message.
lk_status fail(int mark) {
  lk_cmatrix x = kX;
  x.rows = -mark;
  return lk_gelu(&x, &kY, nullptr, nullptr);
}
std::string failure(int mark) {
  return "gelu: x.rows is -" + std::to_string(mark) + "; extents are >= 0";
}

TEST(CApiTest, StatusesHaveNames) {
  EXPECT_STREQ(lk_status_name(LK_SUCCESS), "success");
  EXPECT_STREQ(lk_status_name(LK_INVALID_ARGUMENT), "invalid argument");
  EXPECT_STREQ(lk_status_name(LK_UNSUPPORTED), "unsupported");
  EXPECT_STREQ(lk_status_name(LK_CUDA_ERROR), "CUDA error");
  EXPECT_STREQ(lk_status_name(LK_INTERNAL_ERROR), "internal error");
  EXPECT_STREQ(lk_status_name(99), "unknown status");
  EXPECT_STREQ(lk_status_name(-1), "unknown status");
}

TEST(CApiTest, TheMessageIsTheLastFailureOfTheThread) {
  std::thread([] {
    EXPECT_STREQ(lk_last_error_message(), "") << "a thread starts without";
  }).join();
  EXPECT_EQ(fail(1), LK_INVALID_ARGUMENT);
  EXPECT_EQ(lk_last_error_message(), failure(1));
  EXPECT_EQ(lk_gelu(&kX, &kY, nullptr, nullptr), LK_SUCCESS);
  EXPECT_EQ(lk_last_error_message(), failure(1)) << "success keeps it";
  std::thread([] {
    EXPECT_EQ(fail(2), LK_INVALID_ARGUMENT);
    EXPECT_EQ(lk_last_error_message(), failure(2));
  }).join();
  EXPECT_EQ(lk_last_error_message(), failure(1));
}

TEST(CApiTest, NullPointersAreRefused) {
  std::size_t bytes = 7;
  EXPECT_EQ(lk_gelu(nullptr, &kY, nullptr, nullptr), LK_INVALID_ARGUMENT);
  EXPECT_EQ(lk_gelu(&kX, nullptr, nullptr, nullptr), LK_INVALID_ARGUMENT);
  EXPECT_EQ(lk_gelu_workspace_size(nullptr, &kY, nullptr, &bytes), LK_INVALID_ARGUMENT);
  EXPECT_EQ(bytes, 7u);
  EXPECT_EQ(lk_gelu_workspace_size(&kX, &kY, nullptr, nullptr), LK_INVALID_ARGUMENT);
  EXPECT_STREQ(lk_last_error_message(),
               "gelu_workspace_size: bytes is null; a place for the result is needed");
  EXPECT_EQ(lk_gelu_workspace_size(&kX, &kY, nullptr, &bytes), LK_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  EXPECT_EQ(lk_kernel_at(0, nullptr), LK_INVALID_ARGUMENT);
}

TEST(CApiTest, ExplainFillsBuffersLikeSnprintf) {
  std::size_t length = 0;
  ASSERT_EQ(lk_gelu_explain(&kX, &kY, nullptr, nullptr, 0, &length), LK_SUCCESS);
  ASSERT_GT(length, 20u);
  std::string whole(length + 1, '#');
  ASSERT_EQ(lk_gelu_explain(&kX, &kY, nullptr, whole.data(), whole.size(), nullptr), LK_SUCCESS);
  EXPECT_EQ(std::strlen(whole.c_str()), length);

  for (std::size_t capacity : {std::size_t{1}, std::size_t{10}, length, length + 1, length + 9}) {
    std::string buffer(length + 10, '#');
    std::size_t told = 0;
    ASSERT_EQ(lk_gelu_explain(&kX, &kY, nullptr, buffer.data(), capacity, &told), LK_SUCCESS);
    EXPECT_EQ(told, length);
    const std::size_t written = std::min(capacity - 1, length);
    EXPECT_EQ(std::string(buffer.c_str()), whole.substr(0, written));
    EXPECT_EQ(buffer.find_first_not_of('#', written + 1), std::string::npos) << "beyond capacity";
  }

  EXPECT_EQ(lk_gelu_explain(&kX, &kY, nullptr, nullptr, 5, &length), LK_INVALID_ARGUMENT);
  EXPECT_STREQ(lk_last_error_message(), "gelu_explain: buffer is null, but capacity is not 0");
  char byte = '#';
  EXPECT_EQ(lk_gelu_explain(nullptr, &kY, nullptr, &byte, 1, &length), LK_INVALID_ARGUMENT);
  EXPECT_EQ(byte, '#');
}

TEST(CApiTest, TheRegistryListsKernelsInDispatchOrder) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lk_kernel_count(); ++i) {
    const lk_kernel_info* info = nullptr;
    ASSERT_EQ(lk_kernel_at(i, &info), LK_SUCCESS);
    names.push_back(info->name);
    EXPECT_STREQ(info->backend, "emu");
    // <op>_<arch>[_variant]
    EXPECT_NE(names.back().find("_sm" + std::to_string(info->arch)), std::string::npos);
    const lk_kernel_info* again = nullptr;
    ASSERT_EQ(lk_kernel_at(i, &again), LK_SUCCESS);
    EXPECT_EQ(info, again) << "the structs are static";
  }
  ASSERT_GE(names.size(), 3u);
  EXPECT_EQ(names[0], "gelu_sm100");
  EXPECT_EQ(names[1], "gelu_sm90");
  EXPECT_EQ(names[2], "gelu_sm80");
  const lk_kernel_info* info = nullptr;
  EXPECT_EQ(lk_kernel_at(names.size(), &info), LK_INVALID_ARGUMENT);
  EXPECT_EQ(info, nullptr);
  EXPECT_EQ(emu_backend().kernels().size(), names.size());
}

TEST(CApiTest, TheVersionNamesGenerationsAndBackend) {
  const lk_version_info* v = lk_version();
  ASSERT_NE(v, nullptr);
  EXPECT_EQ(v, lk_version());
  EXPECT_GE(v->major, 0);
  EXPECT_STREQ(v->archs, "80;90;100");
  EXPECT_STREQ(v->backend, "emu");
  EXPECT_GE(v->cuda_version, 12090);
}

TEST(CApiTest, PreloadTakesAnOperationOrAll) {
  EXPECT_EQ(lk_preload(LK_OP_ALL), LK_SUCCESS);
  EXPECT_EQ(lk_preload(LK_OP_GELU), LK_SUCCESS);
  EXPECT_EQ(lk_preload(17), LK_INVALID_ARGUMENT);
  const std::string text = lk_last_error_message();
  EXPECT_EQ(text.find("preload: 17 is no operation; there are 0 (all), 1 (gelu), "), 0u) << text;
}

// ---- Texts -------------------------------------------------------------------------------------

TEST(CApiTest, LongTextsAreCutVisibly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto statement = [] {
    setenv("LIBKERNELS_FORCE", std::string(10000, 'k').c_str(), 1);
    const lk_status status = lk_preload(LK_OP_ALL);
    const std::string text = lk_last_error_message();
    const bool good = status == LK_INVALID_ARGUMENT && text.size() == 4095 &&
                      text.rfind("preload: LIBKERNELS_FORCE names 'kkk", 0) == 0 &&
                      text.substr(4090) == "kk...";
    if (!good) std::fprintf(stderr, "status %d: %s\n", status, text.c_str());
    // A shorter one replaces it whole.
    const bool shorter =
        lk_kernel_at(0, nullptr) == LK_INVALID_ARGUMENT &&
        std::strcmp(lk_last_error_message(),
                    "kernel_at: info is null; a place for the result is needed") == 0;
    std::_Exit(good && shorter ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

// ---- Calls at the very end --------------------------------------------------------------------

// Blocks of the sizes that texts take. Whatever writes to freed memory writes to one of them.
class Sentinels {
 public:
  Sentinels() {
    for (std::size_t size = 16; size <= 512; size += 8) {
      for (int i = 0; i < 4; ++i) {
        blocks_.push_back({static_cast<unsigned char*>(std::malloc(size)), size});
        std::memset(blocks_.back().data, 0x5a, size);
      }
    }
  }
  Sentinels(const Sentinels&) = delete;
  Sentinels& operator=(const Sentinels&) = delete;
  ~Sentinels() {
    for (const Block& b : blocks_) std::free(b.data);
  }
  bool whole() const {
    return std::all_of(blocks_.begin(), blocks_.end(), [](const Block& b) {
      return std::all_of(b.data, b.data + b.size, [](unsigned char c) { return c == 0x5a; });
    });
  }

 private:
  struct Block {
    unsigned char* data;
    std::size_t size;
  };
  std::vector<Block> blocks_;
};

// Every kind of failing call, while all that has a destructor may be destroyed.
bool late_calls_fail_properly(const char* expected) {
  const Sentinels sentinels;
  bool good = true;
  for (int i = 0; i < 3; ++i) {
    good = good && lk_gelu(nullptr, &kY, nullptr, nullptr) == LK_INVALID_ARGUMENT &&
           std::string(lk_last_error_message()).rfind(expected, 0) == 0;
    good = good && lk_kernel_at(1000, nullptr) == LK_INVALID_ARGUMENT &&
           std::string(lk_last_error_message()).rfind("kernel_at: info is null", 0) == 0;
    good = good && lk_kernel_count() > 0 && lk_version()->archs != nullptr;
  }
  if (!good) std::fprintf(stderr, "late: \"%s\"\n", lk_last_error_message());
  if (!sentinels.whole()) std::fprintf(stderr, "late: a call wrote to freed memory\n");
  return good && sentinels.whole();
}

constexpr const char* kNullX = "gelu: x is null; a pointer to an lk_cmatrix is needed";
constexpr const char* kWrongForce = "gelu: LIBKERNELS_FORCE names 'gelu_sm70', which is no kernel";

bool thread_was_good = false;
struct FailsWhenDestroyed {
  ~FailsWhenDestroyed() { thread_was_good = late_calls_fail_properly(kNullX); }
  bool used = false;
};
thread_local FailsWhenDestroyed fails_when_destroyed;

TEST(CApiTest, AThreadsDestructorsMayMakeCalls) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto statement = [] {
    std::thread([] {
      fails_when_destroyed.used = true;  // constructed first, so destroyed last
      fail(7);
    }).join();
    std::_Exit(thread_was_good ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "^$");
}

TEST(CApiTest, HandlersOfExitMayMakeCalls) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // Handlers registered before the first call run after what that call left to be destroyed.
  const auto right_environment = [] {
    std::atexit([] {
      if (!late_calls_fail_properly(kNullX)) std::_Exit(1);
    });
    fail(7);
    std::exit(0);
  };
  EXPECT_EXIT(right_environment(), testing::ExitedWithCode(0), "^$");
  const auto wrong_environment = [] {
    setenv("LIBKERNELS_FORCE", "gelu_sm70", 1);
    std::atexit([] {
      if (!late_calls_fail_properly(kWrongForce)) std::_Exit(1);
    });
    fail(7);
    std::exit(0);
  };
  EXPECT_EXIT(wrong_environment(), testing::ExitedWithCode(0), "^$");
}

TEST(CApiTest, SixteenThreadsMayMakeTheFirstCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process in which no call was made yet
  const auto statement = [] {
    constexpr int kThreads = 16;
    std::atomic<int> ready{0}, good{0};
    const auto work = [&](int t) {
      DeviceBuffer x(emu_backend().device(), 64), y(emu_backend().device(), 64);
      const std::vector<float> ones(16, 1.0f);
      x.copy_in(ones.data(), 64);
      const lk_cmatrix cx{x.data(), LK_F32, 2, 8, 8, 1};
      const lk_matrix cy{y.data(), LK_F32, 2, 8, 8, 1};
      for (ready.fetch_add(1); ready.load() < kThreads;) std::this_thread::yield();
      bool ok = lk_gelu(&cx, &cy, nullptr, nullptr) == LK_SUCCESS;
      ok = ok && fail(t + 1) == LK_INVALID_ARGUMENT && lk_last_error_message() == failure(t + 1);
      std::vector<float> result(16);
      y.copy_out(result.data(), 64);
      for (float v : result) ok = ok && std::abs(v - 0.841192f) < 1e-6f;
      if (ok) good.fetch_add(1);
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
    for (std::thread& t : threads) t.join();
    std::_Exit(good == kThreads ? 0 : 1);
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace libkernels
