// The C++ API over the C ABI, in C++17 and without CUDA's types complete.
#include <libkernels/libkernels.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/ptx/emu/emulator.h"

extern "C" int c_api_from_c(void);  // c_api_test.c

namespace libkernels {
namespace {

// Emulated device memory, which is host memory that kernels may touch.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t n, T value = T()) {
    void* p = nullptr;
    EXPECT_EQ(emulator::memory_allocate(&p, n * sizeof(T)), cudaSuccess);
    data = static_cast<T*>(p);
    for (std::size_t i = 0; i < n; ++i) data[i] = value;
  }
  ~Buffer() { EXPECT_EQ(emulator::memory_free(data), cudaSuccess); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  T* data;
};

constexpr float kTanhOfOne = 0.841192f, kErfOfOne = 0.841345f;

// As std::mdspan.
template <std::size_t Rank>
struct Mdspan {
  float* p;
  std::array<std::size_t, Rank> extents, strides;
  static constexpr std::size_t rank() { return Rank; }
  float* const& data_handle() const { return p; }
  std::size_t extent(std::size_t i) const { return extents[i]; }
  std::size_t stride(std::size_t i) const { return strides[i]; }
};

TEST(CppApiTest, TheCAbiWorksFromC) { EXPECT_EQ(c_api_from_c(), 0) << "line of c_api_test.c"; }

TEST(CppApiTest, GeluTakesEveryKindOfView) {
  const Buffer<float> x(12, 1.0f), y(12);
  const float* cx = x.data;
  const auto check_and_clear = [&](float expected) {
    for (int i = 0; i < 12; ++i) {
      EXPECT_NEAR(y.data[i], expected, 1e-6) << i;
      y.data[i] = 0;
    }
  };
  gelu(row_major(x.data, 3, 4), row_major(y.data, 3, 4));
  check_and_clear(kTanhOfOne);
  gelu(row_major(cx, 3, 4), col_major(y.data, 3, 4));
  check_and_clear(kTanhOfOne);
  gelu(VectorView(cx, 12), VectorView(y.data, 12));
  check_and_clear(kTanhOfOne);
  GeluOptions options;
  options.form = GeluForm::erf;
  options.max_sms = 1;
  gelu(Mdspan<2>{x.data, {3, 4}, {4, 1}}, Mdspan<2>{y.data, {3, 4}, {4, 1}}, options);
  check_and_clear(kErfOfOne);
  gelu(Mdspan<1>{x.data, {12}, {1}}, VectorView(y.data, 12), options, nullptr);
  check_and_clear(kErfOfOne);
  gelu(strided(cx, 3, 4, 0, 0), row_major(y.data, 3, 4));  // one element, broadcast
  check_and_clear(kTanhOfOne);
}

TEST(CppApiTest, RowSumTakesEveryKindOfView) {
  const Buffer<float> x(12, 1.0f), y(12);
  const float* cx = x.data;
  const auto check_and_clear = [&](int rows, int stride, float expected) {
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(y.data[i], i % stride == 0 && i / stride < rows ? expected : 0) << i;
      y.data[i] = 0;
    }
  };
  row_sum(row_major(x.data, 3, 4), VectorView(y.data, 3));
  check_and_clear(3, 1, 4);
  row_sum(row_major(cx, 3, 4).transposed(), VectorView(y.data, 4, 2));
  check_and_clear(4, 2, 3);
  RowSumOptions options;
  options.max_sms = 1;
  row_sum(Mdspan<2>{x.data, {6, 2}, {2, 1}}, Mdspan<1>{y.data, {6}, {1}}, options);
  check_and_clear(6, 1, 2);
  row_sum(VectorView(cx, 12).as_row(), row_major(y.data, 1, 1), options, nullptr);
  check_and_clear(1, 1, 12);
  row_sum(strided(cx, 3, 100000, 0, 0), strided(y.data, 3, 1, 4, 1));  // one element, broadcast
  check_and_clear(3, 4, 100000);
  row_sum(row_major(static_cast<float*>(nullptr), 2, 0), VectorView(y.data + 1, 2));
  check_and_clear(0, 1, 0);

  const std::string text = row_sum_explain(row_major(cx, 3, 4), VectorView(y.data, 3));
  EXPECT_EQ(text.rfind("row_sum\nx: f32, 3 x 4, ", 0), 0u) << text;
  EXPECT_EQ(row_sum_workspace_size(row_major(cx, 3, 4), VectorView(y.data, 3)), 0u);
  EXPECT_EQ(row_sum_workspace_size(row_major(cx, 1, 1 << 20), VectorView(y.data, 1)), 256u);
  EXPECT_THROW(row_sum(row_major(cx, 3, 4), row_major(y.data, 3, 4)), invalid_argument);
  EXPECT_NO_THROW(preload(Op::row_sum));
}

TEST(CppApiTest, SoftmaxTakesMatricesAndOptions) {
  const Buffer<float> x(12, 1.0f), y(12);
  const float* cx = x.data;
  softmax(row_major(cx, 3, 4), row_major(y.data, 3, 4));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(y.data[i], 0.25f) << i;
  SoftmaxOptions options;
  options.log = true;
  options.scale = -3;
  options.max_sms = 1;
  softmax(Mdspan<2>{x.data, {3, 4}, {4, 1}}, col_major(y.data, 3, 4), options, nullptr);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(y.data[i], -1.3862944f, 1e-6) << i;
  x.data[0] = x.data[1] = x.data[2] = x.data[3] = -HUGE_VALF;
  options = {};
  options.neg_inf_row = NegInfRow::zero;
  softmax(row_major(cx, 3, 4), row_major(y.data, 3, 4), options);
  EXPECT_EQ(y.data[3], 0.0f);
  EXPECT_EQ(y.data[4], 0.25f);
  EXPECT_EQ(softmax_workspace_size(row_major(cx, 3, 4), row_major(y.data, 3, 4)), 0u);
  EXPECT_EQ(softmax_explain(row_major(cx, 3, 4), row_major(y.data, 3, 4)).rfind("softmax, ", 0),
            0u);
  options.scale = HUGE_VALF;
  EXPECT_THROW(softmax(row_major(cx, 3, 4), row_major(y.data, 3, 4), options), invalid_argument);
}

TEST(CppApiTest, FailuresBecomeTheirExceptions) {
  const Buffer<float> x(12, 1.0f), y(12, 7.0f);
  try {
    gelu(row_major(x.data, 3, 4), row_major(y.data, 4, 3));
    FAIL();
  } catch (const invalid_argument& e) {
    EXPECT_STREQ(e.what(), "gelu: x is 3 x 4 and y is 4 x 3; both need the same shape");
    EXPECT_EQ(e.status(), LK_INVALID_ARGUMENT);
  }
  EXPECT_EQ(y.data[0], 7.0f);
  __half* half = reinterpret_cast<__half*>(y.data);
  EXPECT_THROW(gelu(row_major(x.data, 1, 4), row_major(half, 1, 4)), unsupported);
  EXPECT_THROW(gelu(row_major(x.data, 1, 4), row_major(half, 1, 4)), error);
  EXPECT_THROW(throw_error(LK_CUDA_ERROR, "x"), cuda_error);
  EXPECT_THROW(throw_error(LK_INTERNAL_ERROR, "x"), internal_error);
  EXPECT_THROW(throw_error(77, "x"), error);
  EXPECT_NO_THROW(throw_if_failed(LK_SUCCESS));
}

TEST(CppApiTest, ExplainReturnsTheWholeText) {
  const Buffer<float> x(12), y(12);
  const std::string text = gelu_explain(row_major(x.data, 3, 4), row_major(y.data, 3, 4));
  EXPECT_EQ(text.rfind("gelu, tanh form\n", 0), 0u) << text;
  EXPECT_NE(text.find("chosen"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_EQ(gelu_workspace_size(row_major(x.data, 3, 4), row_major(y.data, 3, 4)), 0u);
  EXPECT_THROW(gelu_explain(row_major(x.data, 3, 4), row_major(y.data, 4, 3)), invalid_argument);

  // Longer than the first guess, and exactly as long: room for the terminating 0 is needed.
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1999}, std::size_t{2000}, std::size_t{9000}}) {
    const std::string whole(n, 'a');
    EXPECT_EQ(
        detail::read_explanation([&](char* buffer, std::size_t capacity, std::size_t* length) {
          *length = n;
          const std::size_t written = n < capacity ? n : capacity - 1;
          whole.copy(buffer, written);
          buffer[written] = '\0';
          return lk_status{LK_SUCCESS};
        }),
        whole);
  }
}

TEST(CppApiTest, TellsOfItself) {
  const std::vector<KernelInfo> list = kernels();
  ASSERT_EQ(list.size(), lk_kernel_count());
  EXPECT_STREQ(list[0].name, "gelu_sm100");
  EXPECT_EQ(list[0].op, Op::gelu);
  EXPECT_EQ(list[0].arch, Arch::sm100);
  EXPECT_STREQ(version().backend, "emu");
  EXPECT_NO_THROW(preload());
  EXPECT_NO_THROW(preload(Op::gelu));
  EXPECT_THROW(preload(static_cast<Op>(-1)), invalid_argument);
}

TEST(ArchTest, WhoRunsWhat) {
  struct Device {
    int major, minor;
    bool sm80, sm90, sm100;
  };
  constexpr Device devices[] = {
      {7, 5, false, false, false}, {8, 0, true, false, false},  {8, 6, true, false, false},
      {8, 9, true, false, false},  {9, 0, true, true, false},   {10, 0, true, false, true},
      {10, 3, true, false, true},  {11, 0, true, false, false}, {12, 0, true, false, false},
  };
  for (const Device& d : devices) {
    EXPECT_EQ(runs_on(Arch::sm80, d.major, d.minor), d.sm80) << d.major << "." << d.minor;
    EXPECT_EQ(runs_on(Arch::sm90, d.major, d.minor), d.sm90) << d.major << "." << d.minor;
    EXPECT_EQ(runs_on(Arch::sm100, d.major, d.minor), d.sm100) << d.major << "." << d.minor;
  }
  static_assert(!runs_on(static_cast<Arch>(70), 9, 0));
  EXPECT_STREQ(name(Arch::sm90), "sm90");
  EXPECT_STREQ(name(static_cast<Arch>(70)), "invalid");
}

TEST(DTypeTest, NamesAndSizes) {
  EXPECT_STREQ(name(DType::bf16), "bf16");
  EXPECT_STREQ(name(DType::f8_e4m3), "f8_e4m3");
  EXPECT_STREQ(name(static_cast<DType>(0)), "invalid");
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::f8_e5m2), 1u);
  EXPECT_EQ(size_of(static_cast<DType>(6)), 0u);
  EXPECT_FALSE(is_valid(static_cast<DType>(0)) || is_valid(static_cast<DType>(6)));
  static_assert(static_cast<lk_dtype>(DType::f32) == LK_F32);
  static_assert(static_cast<lk_dtype>(DType::f16) == LK_F16);
  static_assert(static_cast<lk_dtype>(DType::bf16) == LK_BF16);
  static_assert(static_cast<lk_dtype>(DType::f8_e4m3) == LK_F8_E4M3);
  static_assert(static_cast<lk_dtype>(DType::f8_e5m2) == LK_F8_E5M2);
}

}  // namespace
}  // namespace libkernels
