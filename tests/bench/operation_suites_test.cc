// The drivers of softmax, row-sum and matmul on the emulator, with a fake in the library's place:
// baselines are right, what is wrong is found and not timed, cases are what the tables want.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/matmul_cases.h"
#include "bench/row_cases.h"
#include "bench/runner.h"
#include "bench/suites.h"
#include "tests/bench/fake_library.h"

namespace libkernels::bench {
namespace {

using Fault = FakeLibrary::Fault;

constexpr TypePair kF32{DType::f32, DType::f32};
constexpr TypePair kF16{DType::f16, DType::f16};
constexpr TypePair kBf16{DType::bf16, DType::bf16};
constexpr TypePair kBf16ToF32{DType::bf16, DType::f32};
constexpr TypePair kF16ToF32{DType::f16, DType::f32};

std::vector<Record> count(const Backend& backend, Problem& problem) {
  Flags flags;
  flags.devices = {"h200"};
  return make_counted_runner(backend, emu_contestants(), flags)->run(problem);
}

std::vector<Record> time(const Backend& backend, Problem& problem) {
  Flags flags;
  flags.mode = Mode::isolated;  // a graph's hundreds of calls would all be emulated
  flags.seconds = 1e-3;
  const GpuMonitor monitor("no such GPU");
  return make_timed_runner(backend, emu_contestants(), flags, monitor)->run(problem);
}

const Record* find(const std::vector<Record>& records, const std::string& role) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const Record& r) { return r.role == role; });
  return found == records.end() ? nullptr : &*found;
}

// Every record was counted and judged right, but those that say why not.
void expect_right(const std::vector<Record>& records, const Case& c) {
  ASSERT_GE(records.size(), 2u) << benchmark_name(c) << ": " << records[0].note;
  for (const Record& r : records) {
    EXPECT_FALSE(r.failed) << benchmark_name(c) << ' ' << r.kernel << ": " << r.note;
    if (r.note.empty()) {
      EXPECT_TRUE(r.counted) << benchmark_name(c) << ' ' << r.kernel;
      EXPECT_TRUE(r.error_fraction) << benchmark_name(c) << ' ' << r.kernel;
    } else {
      EXPECT_EQ(r.note.rfind("skipped: ", 0), 0u) << r.note;
    }
  }
}

TEST(SoftmaxSuite, BaselinesAreRightForEveryTypeAndShape) {
  const Backend backend = FakeLibrary::backend();
  for (const TypePair& types : {kF32, kF16, kBf16, kBf16ToF32, kF16ToF32}) {
    for (const auto& [rows, cols] : {std::pair{5, 96}, {3, 257}, {1, 1}, {2, 1027}}) {
      const auto problem = softmax_problem({.types = types, .rows = rows, .cols = cols});
      expect_right(count(backend, *problem), problem->about());
    }
  }
}

TEST(SoftmaxSuite, FewLongRowsGoInPieces) {
  const auto problem = softmax_problem({.types = kBf16, .rows = 1, .cols = 20001});
  const auto records = count(FakeLibrary::backend(), *problem);
  expect_right(records, problem->about());
  const Record* chain = find(records, "unfused");
  ASSERT_NE(chain, nullptr);
  EXPECT_EQ(chain->launches, 7);
}

TEST(SoftmaxSuite, TheChainMovesEightTensors) {
  const auto problem = softmax_problem({.types = kF32, .rows = 16, .cols = 512});
  const auto records = count(FakeLibrary::backend(), *problem);
  const Record* chain = find(records, "unfused");
  ASSERT_TRUE(chain != nullptr && chain->counted);
  EXPECT_EQ(chain->launches, 5);
  const double tensor = 16 * 512 * 4;
  // Five tensors, and in two steps 4 bytes of a row's value for each vector of 16.
  EXPECT_NEAR(double(chain->counted->bytes_read) / tensor, 5.5, 0.01);
  EXPECT_NEAR(double(chain->counted->bytes_written) / tensor, 3, 0.01);
}

TEST(SoftmaxSuite, ColumnsAndShiftedPointers) {
  const auto shifted = softmax_problem({.types = kBf16, .rows = 4, .cols = 130, .x_offset = 1});
  expect_right(count(FakeLibrary::backend(), *shifted), shifted->about());
  // The fake takes packed rows alone; what it makes of columns must be found wrong.
  const auto column = softmax_problem({.types = kBf16, .rows = 4, .cols = 130, .column = true});
  const auto records = count(FakeLibrary::backend(), *column);
  EXPECT_TRUE(records[0].failed);
  EXPECT_EQ(records[1].note, "skipped: takes packed rows");
}

TEST(RowSumSuite, BaselinesAreRightForEveryTypeAndShape) {
  const Backend backend = FakeLibrary::backend();
  for (const TypePair& types : {kF32, kBf16ToF32, kF16ToF32}) {
    for (const auto& [rows, cols] : {std::pair{300, 16}, {3, 257}, {1, 1}, {1, 9001}}) {
      const auto problem = row_sum_problem({.types = types, .rows = rows, .cols = cols});
      expect_right(count(backend, *problem), problem->about());
    }
  }
}

TEST(RowSumSuite, ATooLongRowOfOneThreadIsSkippedWithTheReason) {
  const auto problem = row_sum_problem({.types = kBf16ToF32, .rows = 1, .cols = 9001});
  const auto records = count(FakeLibrary::backend(), *problem);
  const Record* naive = find(records, "naive");
  ASSERT_NE(naive, nullptr);
  EXPECT_NE(naive->note.find("too long"), std::string::npos) << naive->note;
}

MatmulCase product(DType in, DType out, std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.in = in, .out = out, .layout = {}, .m = m, .n = n, .k = k, .emulated = true};
}

TEST(MatmulSuite, BaselinesAreRightForEveryTypeLayoutAndEpilogue) {
  const Backend backend = FakeLibrary::backend();
  using enum DType;
  for (const auto& [in, out] : {std::pair{f32, f32},
                                {f16, f16},
                                {bf16, bf16},
                                {bf16, f32},
                                {f8_e4m3, bf16},
                                {f8_e5m2, f16}}) {
    MatmulCase c = product(in, out, 33, 40, 17);
    expect_right(count(backend, *matmul_problem(c)), matmul_case(c));
  }
  for (const Epilogue epilogue : {Epilogue::none, Epilogue::relu, Epilogue::bias_relu}) {
    for (const bool a : {false, true}) {
      for (const bool b : {false, true}) {
        MatmulCase c = product(bf16, bf16, 34, 31, 65);
        c.epilogue = epilogue;
        c.layout = {.a_transposed = a, .b_transposed = b};
        c.offset = a ? 1 : 0;
        c.pad = b ? 3 : 0;
        expect_right(count(backend, *matmul_problem(c)), matmul_case(c));
      }
    }
  }
}

TEST(MatmulSuite, FusingSavesTheStepsTraffic) {
  MatmulCase c = product(DType::f32, DType::f32, 64, 64, 32);
  const auto records = count(FakeLibrary::backend(), *matmul_problem(c));
  const Record* fused = find(records, "fused");
  const Record* chain = find(records, "unfused");
  ASSERT_TRUE(fused != nullptr && chain != nullptr && fused->counted && chain->counted);
  EXPECT_EQ(chain->launches, 3);
  const std::uint64_t tensor = 64 * 64 * 4;
  EXPECT_EQ(chain->counted->bytes_written - fused->counted->bytes_written, 2 * tensor);
}

TEST(MatmulSuite, TilesReadEachOperandAThirtySecondAsOften) {
  MatmulCase c = product(DType::f32, DType::f32, 64, 64, 64);
  c.epilogue = Epilogue::none;
  const auto records = count(FakeLibrary::backend(), *matmul_problem(c));
  const Record* naive = find(records, "naive");
  const Record* tiled = find(records, "naive_tiled");
  ASSERT_TRUE(naive != nullptr && tiled != nullptr && naive->counted && tiled->counted);
  EXPECT_EQ(naive->counted->bytes_read, 32 * tiled->counted->bytes_read);
}

TEST(OperationSuites, WhatTheEmulatorWouldTakeMinutesForIsSkippedWithTheReason) {
  const Backend backend = FakeLibrary::backend();
  std::vector<std::unique_ptr<Problem>> large;
  large.push_back(softmax_problem({.types = kBf16, .rows = 1 << 20, .cols = 1 << 20}));
  large.push_back(matmul_problem(product(DType::bf16, DType::bf16, 1, 1, (1 << 24) + 1)));
  large.push_back(matmul_problem(product(DType::bf16, DType::bf16, 2048, 2048, 513)));
  for (const auto& problem : large) {
    const auto records = count(backend, *problem);
    ASSERT_EQ(records.size(), 1u);
    EXPECT_FALSE(records[0].failed || records[0].counted);
    EXPECT_EQ(records[0].note.rfind("skipped: ", 0), 0u);
    EXPECT_NE(records[0].note.find("too many for the emulator"), std::string::npos);
  }
}

// ---- Timing with a make-believe clock
// ------------------------------------------------------------

std::vector<std::unique_ptr<Problem>> one_of_each() {
  std::vector<std::unique_ptr<Problem>> all;
  all.push_back(softmax_problem({.types = kBf16, .rows = 3, .cols = 65, .emulated = true}));
  all.push_back(row_sum_problem({.types = kF32, .rows = 3, .cols = 65, .emulated = true}));
  all.push_back(matmul_problem(product(DType::bf16, DType::bf16, 24, 20, 33)));
  return all;
}

TEST(OperationSuites, VerifyThenTimeAllWays) {
  const Backend backend = FakeLibrary::backend();
  for (const auto& problem : one_of_each()) {
    const auto records = time(backend, *problem);
    for (const std::string& role : problem->about().roles) {
      const Record* r = find(records, role);
      ASSERT_NE(r, nullptr) << benchmark_name(problem->about()) << ' ' << role;
      EXPECT_FALSE(r->failed) << r->kernel << ": " << r->note;
      EXPECT_TRUE(r->us) << benchmark_name(problem->about()) << ' ' << r->kernel;
    }
  }
}

TEST(OperationSuites, AWrongKernelIsNotTimed) {
  const Backend backend = FakeLibrary::backend();
  for (const Fault fault :
       {Fault::does_nothing, Fault::wrong_element, Fault::forgets_last_column}) {
    for (const auto& problem : one_of_each()) {
      FakeLibrary::fault = fault;
      const auto records = time(backend, *problem);
      FakeLibrary::fault = Fault::none;
      ASSERT_FALSE(records.empty());
      EXPECT_EQ(records[0].role, "fused");
      EXPECT_TRUE(records[0].failed) << benchmark_name(problem->about()) << int(fault);
      EXPECT_FALSE(records[0].us);
      EXPECT_NE(records[0].note.find("WRONG"), std::string::npos) << records[0].note;
    }
  }
}

TEST(OperationSuites, TheLibraryGetsTheWorkspaceItAsksFor) {
  const Backend backend = FakeLibrary::backend();
  FakeLibrary::workspace_bytes = 1000;
  for (const auto& problem : one_of_each()) (void)time(backend, *problem);
  EXPECT_GT(FakeLibrary::calls, 0);
  EXPECT_EQ(FakeLibrary::calls_with_workspace, FakeLibrary::calls);
}

// ---- Cases
// ---------------------------------------------------------------------------------------

std::set<std::string> names(const char* suite, bool large = false) {
  Flags flags;
  flags.quick = false;
  flags.suites = {suite};
  flags.selection.large = large;
  std::set<std::string> all;
  for (const auto& problem : chosen_problems(flags, false))
    all.insert(benchmark_name(problem->about()));
  return all;
}

TEST(OperationCases, HoldTheShapesOfTheTables) {
  const auto softmax = names("softmax"), row_sum = names("row_sum"), matmul = names("matmul", true);
  const auto cliff = names("cliff"), decode = names("decode");
  for (const char* name :
       {"softmax/bf16/1048576x128", "softmax/f32/32768x4095", "softmax/bf16/2670x50257",
        "softmax/bf16/1046x128255", "softmax/bf16/883x151936", "softmax/bf16/512x262144",
        "softmax/bf16/128x1048576", "softmax/bf16/8x131072", "softmax/f32/1x262144",
        "softmax/bf16/128x1024"}) {
    EXPECT_TRUE(softmax.contains(name)) << name;
  }
  for (const char* name :
       {"row_sum/bf16_f32/1x268435456", "row_sum/f32/16x16777216", "row_sum/bf16_f32/128x2097152",
        "row_sum/f32/16777216x16", "row_sum/bf16_f32/65536x4095", "row_sum/f32/1024x1024"}) {
    EXPECT_TRUE(row_sum.contains(name)) << name;
  }
  for (const char* name :
       {"matmul/bf16/bias+relu/256x256x256/NN", "matmul/bf16/bias+relu/8192x8192x8192/NT",
        "matmul/bf16/bias+relu/16384x16384x16384/NN", "matmul/bf16/bias+relu/512x14336x4096/NT",
        "matmul/bf16/bias+relu/256x256x262144/NT", "matmul/bf16/bias+relu/16384x16384x64/NT",
        "matmul/f8_e4m3_bf16/bias+relu/4096x4096x4096/NT",
        "matmul/tf32/bias+relu/8192x8192x8192/NN", "matmul/f32/bias+relu/4096x4096x4096/NN"}) {
    EXPECT_TRUE(matmul.contains(name)) << name;
  }
  for (const int n : {1023, 1500, 1793, 1794, 2047, 2049, 4095, 4097, 8191}) {
    EXPECT_TRUE(cliff.contains(fmt::format("matmul/bf16/relu/{0}x{0}x{0}/NN", n))) << n;
  }
  for (const int n : {2047, 2048, 4097, 4224}) {  // an odd size, and the multiple of 128 above it
    for (const char* types : {"f16", "tf32"}) {
      EXPECT_TRUE(cliff.contains(fmt::format("matmul/{1}/relu/{0}x{0}x{0}/NN", n, types))) << n;
    }
  }
  for (const int m : {1, 2, 4, 8, 16, 32, 64}) {
    EXPECT_TRUE(decode.contains(fmt::format("matmul/bf16/relu/{}x14336x4096/NT", m))) << m;
  }
}

TEST(OperationCases, TheCliffHasSixtySizesHalfOfThemOdd) {
  const auto sizes = cliff_sizes();
  EXPECT_GE(sizes.size(), 60u);
  EXPECT_GE(sizes.front(), 1000);
  EXPECT_LE(sizes.back(), 8200);
  const auto odd = std::count_if(sizes.begin(), sizes.end(), [](auto n) { return n % 2 == 1; });
  EXPECT_NEAR(double(odd) / double(sizes.size()), 0.5, 0.05);
  for (const std::int64_t n : sizes) {  // what each size is held against is there, too
    if (n == 1500) continue;
    EXPECT_TRUE(std::binary_search(sizes.begin(), sizes.end(), (n + 127) / 128 * 128)) << n;
  }
}

TEST(OperationCases, EmulatedOnesAreSmallAndHaveNoLibrariesInThem) {
  for (const char* suite : {"softmax", "row_sum", "matmul", "cliff", "decode"}) {
    Flags flags;
    flags.quick = false;
    flags.suites = {suite};
    const Problems problems = chosen_problems(flags, true);
    EXPECT_GE(problems.size(), 2u) << suite;
    for (const auto& problem : problems) {
      const Case& c = problem->about();
      EXPECT_LE(elements(c), 1 << 16) << benchmark_name(c);
      EXPECT_LE(c.flops, 2.0 * 128 * 128 * 256) << benchmark_name(c);
      for (const char* role : {"cub", "cublas", "cublaslt"}) {
        EXPECT_EQ(std::count(c.roles.begin(), c.roles.end(), role), 0) << benchmark_name(c);
      }
    }
  }
}

TEST(OperationCases, AShapeOfTheCommandLineMakesOneRowAType) {
  Flags flags;
  flags.quick = false;
  flags.selection.shapes = {{100, 200, 300}};
  flags.selection.types = {"bf16", "tf32"};
  const Problems problems = chosen_problems(flags, false);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(benchmark_name(problems[0]->about()), "matmul/bf16/bias+relu/100x200x300/NN");
  EXPECT_EQ(benchmark_name(problems[1]->about()), "matmul/tf32/bias+relu/100x200x300/NN");
}

}  // namespace
}  // namespace libkernels::bench
