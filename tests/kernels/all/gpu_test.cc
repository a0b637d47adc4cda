// All operations where only a GPU will do: streams, several devices, many runs, sizes beyond 32
// bits. Cost: nothing without a GPU; on one not measured yet.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/all/any_call.h"
#include "tests/kernels/all/spin_kernels.h"
#include "tests/support/large_memory.h"
#include "tests/support/refusal.h"

namespace libkernels::test {
namespace {

#if defined(LK_HAVE_CUDA)

const Backend& cuda() { return cuda_backend(); }
Device& device() { return cuda().device(); }

// A call of each way through an operation: short rows, and long ones that are split.
struct Way {
  const char* name;
  AnyTypes types;
  AnyShape shape;
};
const Way kWays[] = {
    {"gelu_f32", {LK_OP_GELU, {DType::f32, DType::f32, DType::f32}}, {.rows = 33, .cols = 3001}},
    {"gelu_bf16", {LK_OP_GELU, {DType::bf16, DType::bf16, DType::bf16}}, {.rows = 64, .cols = 64}},
    {"softmax", {LK_OP_SOFTMAX, {DType::f16, DType::f16, DType::f16}}, {.rows = 40, .cols = 999}},
    {"softmax_split",
     {LK_OP_SOFTMAX, {DType::f32, DType::f32, DType::f32}},
     {.rows = 2, .cols = 262144}},
    {"softmax_strided",
     {LK_OP_SOFTMAX, {DType::bf16, DType::bf16, DType::bf16}},
     {.rows = 50, .cols = 70, .columns = true}},
    {"row_sum", {LK_OP_ROW_SUM, {DType::f16, DType::f16, DType::f32}}, {.rows = 300, .cols = 77}},
    {"row_sum_split",
     {LK_OP_ROW_SUM, {DType::f32, DType::f32, DType::f32}},
     {.rows = 2, .cols = 524291}},
    {"matmul_bf16",
     {LK_OP_MATMUL, {DType::bf16, DType::bf16, DType::f32}},
     {.rows = 200, .cols = 136, .depth = 72}},
    {"matmul_deep",  // where an implementation would split K
     {LK_OP_MATMUL, {DType::f16, DType::f16, DType::f32}},
     {.rows = 64, .cols = 64, .depth = 65536}},
    {"matmul_f32",
     {LK_OP_MATMUL, {DType::f32, DType::f32, DType::f32}},
     {.rows = 65, .cols = 33, .depth = 129, .offset = 1}},
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class Stream {
 public:
  Stream() { require(device(), device().stream_create(&stream_), "stream_create"); }
  ~Stream() {
    if (stream_ != nullptr) {
      EXPECT_EQ(device().stream_destroy(stream_), cudaSuccess);
    }
  }
  Stream(Stream&& other) noexcept : stream_(other.stream_) { other.stream_ = nullptr; }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;

  operator cudaStream_t() const { return stream_; }
  void wait() const { require(device(), device().stream_synchronize(stream_), "synchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

// The output's bytes, poison between elements included.
std::vector<unsigned char> bytes_of(AnyCall& call) {
  std::vector<unsigned char> bytes(call.y().buffer().bytes());
  call.y().buffer().copy_out(bytes.data(), bytes.size());
  return bytes;
}

class AllGpu : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(cuda()); !why.empty()) GTEST_SKIP() << why;
  }
  static AnyCall call(std::uint64_t seed) {
    return AnyCall(cuda(), GetParam().types, GetParam().shape, seed);
  }
};

// I3: several streams at once, scratch allocated on each; a call without rows takes nobody's.
TEST_P(AllGpu, I3StreamsDoNotShareScratch) {
  constexpr std::size_t kStreams = 4;
  const int rounds = 100;
  std::vector<Stream> streams(kStreams);
  std::vector<AnyCall> calls;
  std::vector<std::vector<unsigned char>> expected;
  for (std::size_t i = 0; i < kStreams; ++i) {
    calls.push_back(call(i + 1));
    calls[i].run();
    expected.push_back(bytes_of(calls[i]));
  }
  AnyViews empty = far_views(GetParam().types, {.rows = 0, .cols = 8, .depth = 8});
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      calls[i].run({.stream = streams[i]});
      empty.run(cuda(), {.stream = streams[i]});
    }
    for (std::size_t i = 0; i < kStreams; ++i) {
      streams[i].wait();
      ASSERT_EQ(bytes_of(calls[i]), expected[i]) << "round " << round << " stream " << i;
    }
  }
}

// I8: every launch of the call, second passes too, is on its stream, and so is its scratch: the
// input arrives late, the output leaves after. Work on the legacy stream would see the old input.
TEST_P(AllGpu, I8StreamsAreInOrder) {
  const Stream non_blocking;
  for (const cudaStream_t stream : {cudaStream_t(non_blocking), cudaStreamPerThread}) {
    AnyCall late = call(1), early = call(2);
    late.run();
    const std::vector<unsigned char> expected = bytes_of(late);
    early.run();
    ASSERT_NE(bytes_of(early), expected);
    DeviceBuffer taken(device(), expected.size());
    AnyViews views = early.views();
    views.b = late.views().b;  // there from the start: one late operand tells
    ASSERT_EQ(spin_then_copy(early.x().buffer().data(), late.x().buffer().data(),
                             late.x().buffer().bytes(), 50, stream),
              cudaSuccess);
    views.run(cuda(), {.stream = stream});
    ASSERT_EQ(
        device().copy_on_device(taken.data(), early.y().buffer().data(), expected.size(), stream),
        cudaSuccess);
    require(device(), device().stream_synchronize(stream), "synchronize");
    std::vector<unsigned char> got(expected.size());
    taken.copy_out(got.data(), got.size());
    EXPECT_EQ(got, expected);
  }
}

// J3: many runs, one result.
TEST_P(AllGpu, J3ManyRunsAreAlike) {
  AnyCall c = call(3);
  c.run();
  EXPECT_TRUE(c.right());
  const std::vector<unsigned char> first = bytes_of(c);
  const int runs = first.size() > (1u << 20) ? 200 : 1000;
  for (int run = 0; run < runs; ++run) {
    c.run();
    ASSERT_EQ(bytes_of(c), first) << run;
  }
}

// I6, H7: the current device is used and stays current; its properties are its own; a stream of
// another device is refused by the driver and nothing is written.
TEST_P(AllGpu, I6TheCurrentDeviceIsUsed) {
  int count = 0;
  ASSERT_EQ(device().count(&count), cudaSuccess);
  if (count < 2) GTEST_SKIP() << "fewer than two GPUs";
  const auto current = [] {
    int ordinal = -1;
    EXPECT_EQ(cudaGetDevice(&ordinal), cudaSuccess);
    return ordinal;
  };
  for (const int mine : {1, 0}) {
    ASSERT_EQ(cudaSetDevice(1 - mine), cudaSuccess);
    const DeviceProperties *other = nullptr, *own = nullptr;
    ASSERT_EQ(device().properties(&other), cudaSuccess);
    const Stream foreign;
    ASSERT_EQ(cudaSetDevice(mine), cudaSuccess);
    ASSERT_EQ(device().properties(&own), cudaSuccess);
    EXPECT_NE(own, other);
    {
      const Stream stream;
      AnyCall c = call(4);
      const Bits before = c.result();
      const Refusal r = refusal([&] { c.run({.stream = foreign}); });
      EXPECT_TRUE(is_cuda_error(r, op_name(GetParam().types.op)));
      EXPECT_EQ(c.result(), before);
      c.run({.stream = stream});
      stream.wait();
      EXPECT_TRUE(c.right());
      EXPECT_EQ(current(), mine);
    }
    ASSERT_EQ(cudaSetDevice(1 - mine), cudaSuccess);  // where `foreign` belongs
  }
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(, AllGpu, testing::ValuesIn(kWays),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- Single cases -----------------------------------------------------------------------------

class GpuCase : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_device(cuda()); !why.empty()) GTEST_SKIP() << why;
  }
  static std::uint32_t element(const void* data, std::size_t at, DType type) {
    unsigned char bytes[4];
    require(device(),
            device().copy_to_host(bytes, static_cast<const char*>(data) + at * size_of(type),
                                  size_of(type), nullptr),
            "copy_to_host");
    require(device(), device().stream_synchronize(nullptr), "stream_synchronize");
    return load_element(bytes, type);
  }
};

// C1: the last rows of a matrix of more than 2^31 elements, each against that row alone.
TEST_F(GpuCase, C1SoftmaxBeyond2To31) {
  constexpr std::int64_t kRows = 42730, kCols = 50259, kTail = 5;
  constexpr std::size_t kBytes = std::size_t(kRows * kCols) * 2;
  const BigBuffer x(device(), kBytes), y(device(), kBytes);
  if (x.data() == nullptr || y.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  require(device(), device().fill(x.data(), 0, kBytes, nullptr), "fill");
  AnyCall alone(cuda(), {LK_OP_SOFTMAX, {DType::f16, DType::f16, DType::f16}},
                {.rows = kTail, .cols = kCols}, 1);
  const auto tail = [&](const BigBuffer& m) {
    return static_cast<char*>(m.data()) + std::size_t((kRows - kTail) * kCols) * 2;
  };
  const std::size_t tail_bytes = std::size_t(kTail * kCols) * 2;
  require(device(),
          device().copy_on_device(tail(x), alone.x().buffer().data(), tail_bytes, nullptr), "copy");
  AnyViews all = alone.views();
  all.x.data = x.data();
  all.y.data = y.data();
  all.x.rows = all.y.rows = kRows;
  all.run(cuda());
  alone.run();
  EXPECT_TRUE(alone.right());
  std::vector<unsigned char> got(tail_bytes);
  require(device(), device().copy_to_host(got.data(), tail(y), tail_bytes, nullptr), "copy");
  require(device(), device().stream_synchronize(nullptr), "stream_synchronize");
  EXPECT_EQ(got, bytes_of(alone));
}

// C4: an output of more than 2^31 elements of K = 1.
TEST_F(GpuCase, C4MatmulBeyond2To31) {
  constexpr std::int64_t kM = 65537, kN = 32769;
  const BigBuffer c(device(), std::size_t(kM * kN) * 2);
  if (c.data() == nullptr) GTEST_SKIP() << "not enough device memory";
  require(device(), device().fill(c.data(), 0xff, std::size_t(kM * kN) * 2, nullptr), "fill");
  const std::uint32_t one = encode(1, DType::f16);
  const StridedMatrix a(device(), DType::f16, row_major(kM, 1), Bits(kM, one));
  const StridedMatrix b(device(), DType::f16, row_major(1, kN), Bits(kN, one));
  const AnyViews views{{LK_OP_MATMUL, {DType::f16, DType::f16, DType::f16}},
                       a.cview(),
                       b.cview(),
                       {c.data(), LK_F16, kM, kN, kN, 1}};
  views.run(cuda());
  for (const std::int64_t at : {std::int64_t{0}, (std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                kM * kN - kN - 1, kM * kN - 2, kM * kN - 1}) {
    EXPECT_EQ(element(c.data(), std::size_t(at), DType::f16), one) << at;
  }
  // All of it: its sum, row by row.
  StridedMatrix sums(device(), DType::f32, row_major(kM, 1));
  const AnyViews sum{{LK_OP_ROW_SUM, {DType::f16, DType::f16, DType::f32}},
                     any_cview(row_major(kM, kN), DType::f16, c.data()),
                     {},
                     sums.view()};
  sum.run(cuda());
  EXPECT_EQ(sums.read(), Bits(kM, encode(double(kN), DType::f32)));
}

// C6, F4: 65536 products of a batch, of which A is one and the same.
TEST_F(GpuCase, C6F4ABatchOf65536Products) {
  constexpr std::int64_t kN = 16, kK = 8, kCount = 65536;
  for (const DType type : {DType::f16, DType::f32}) {
    const std::uint32_t one = encode(1, type);
    const StridedMatrix a(device(), type, row_major(kN, kK), Bits(kN * kK, one));
    const StridedMatrix b(device(), type, row_major(kK * kCount, kN), Bits(kK * kN * kCount, one));
    const StridedMatrix c(device(), type, row_major(kN * kCount, kN));
    const lk_cmatrix av = a.cview();
    lk_cmatrix bv = b.cview();
    lk_matrix cv = c.view();
    bv.rows = kK;
    cv.rows = kN;
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.has_batch = 1;
    o.batch_count = kCount;
    o.b_batch_stride = kK * kN;
    o.c_batch_stride = kN * kN;
    cuda().matmul.run({&av, &bv, &cv, &o});
    EXPECT_TRUE(bits_equal(c.read(), Bits(kN * kN * kCount, encode(kK, type)), type));
  }
}

// D5, E9, E10: products of ones at the sizes as reported, by every kernel that takes them.
TEST_F(GpuCase, D5E9E10MatmulsOfTheReportedSizes) {
  struct Size {
    std::int64_t m, n, k;
  };
  constexpr Size kSizes[] = {{1024, 1024, 1024}, {1152, 1152, 1024}, {1280, 1280, 1024},
                             {1536, 1536, 1024}, {1664, 1664, 1024}, {2560, 2560, 1024},
                             {192, 192, 192},    {2048, 768, 4096},  {1536, 256, 2048},
                             {1638, 64, 64},     {64, 1638, 64},     {64, 64, 1638},
                             {4097, 64, 64},     {64, 4097, 64},     {64, 64, 4097}};
  for (const Kernel& kernel : kernels_of(LK_OP_MATMUL)) {
    if (is_emulated(*kernel.backend) || !why_not_here(kernel).empty()) continue;
    for (const DType type : {DType::bf16, DType::f16, DType::f8_e4m3}) {
      for (const auto& [m, n, k] : kSizes) {
        const Bits ones(std::size_t(std::max(m, n) * k), encode(1, type));
        const StridedMatrix a(device(), type, row_major(m, k), ones);
        const StridedMatrix b(device(), type, row_major(k, n), ones);
        const StridedMatrix c(device(), DType::f32, row_major(m, n));
        const AnyViews views{
            {LK_OP_MATMUL, {type, type, DType::f32}}, a.cview(), b.cview(), c.view()};
        const Refusal r = refusal([&] { views.run(cuda(), {.pin = kernel.info->name}); });
        const bool portable = std::string(kernel.info->name) == "matmul_sm80";
        if (r.status == LK_UNSUPPORTED && !portable) continue;
        ASSERT_TRUE(is_accepted(r));
        EXPECT_TRUE(bits_equal(c.read(), Bits(std::size_t(m * n), encode(double(k), DType::f32)),
                               DType::f32))
            << kernel.info->name << " " << name(type) << " " << m << "x" << n << "x" << k;
      }
    }
  }
}

// J2: a row's bits whatever M is, by one kernel at the size of the case.
TEST_F(GpuCase, J2MatmulRowsDoNotDependOnM) {
  constexpr std::int64_t kN = 2048, kMost = 1024;
  for (const DType type : {DType::bf16, DType::f16}) {
    const AnyTypes types{LK_OP_MATMUL, {type, type, type}};
    const StridedMatrix a(device(), type, row_major(kMost, kN),
                          normal_bits(std::size_t(kMost * kN), type, 1));
    const StridedMatrix b(device(), type, row_major(kN, kN),
                          normal_bits(std::size_t(kN * kN), type, 2));
    Bits anchor;
    for (const std::int64_t m : {kMost, std::int64_t{1}, std::int64_t{2}, std::int64_t{17},
                                 std::int64_t{33}, std::int64_t{128}, std::int64_t{257}}) {
      StridedMatrix c(device(), type, row_major(m, kN));
      AnyViews views{types, a.cview(), b.cview(), c.view()};
      views.x.rows = m;
      views.run(cuda(), {.pin = "matmul_sm80"});
      Bits first = c.read();
      first.resize(std::size_t(kN));
      if (anchor.empty()) anchor = first;
      EXPECT_TRUE(bits_equal(first, anchor, type)) << m;
    }
  }
}

#else

TEST(AllGpu, NeedsCuda) { GTEST_SKIP() << "built without CUDA"; }

#endif

}  // namespace
}  // namespace libkernels::test
