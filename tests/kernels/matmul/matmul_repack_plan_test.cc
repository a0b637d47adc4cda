// Matmul's copies of operands that the copy engine cannot read, without a device: what is copied,
// to where, and when that pays.
#include "kernels/matmul/matmul_repack_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "kernels/matmul/matmul_plan_sm90.h"
#include "kernels/ptx/emu/emulator.h"

namespace libkernels::op::matmul {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }
constexpr std::uintptr_t kAligned = 4096;

// Row major, without gaps.
Problem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  Problem p{};
  p.a = {at(kAligned), DType::bf16, k, 1, 0};
  p.b = {at(kAligned), DType::bf16, n, 1, 0};
  p.c = {at(kAligned), DType::bf16, n, 1, 0};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = 1;
  p.alpha = 1;
  return p;
}
const DeviceProperties& h200() { return *emulator::find_profile("h200"); }
std::string why_not(const Problem& p) {
  const char* why = why_not_repacked(p, h200());
  return why == nullptr ? "" : why;
}

TEST(MatmulRepackPlan, TakesWhatPaysAndNothingElse) {
  for (const std::int64_t n : {1001, 1793, 4095, 4097, 8191}) {
    EXPECT_EQ(why_not(problem(n, n, n)), "") << n;
  }
  EXPECT_EQ(why_not(problem(1792, 1792, 1792)), "the copy engine reads a and b as they are");
  EXPECT_EQ(why_not(problem(63, 63, 63)),
            "copying a or b first would take longer than the product does without");
  Problem p = problem(1793, 1793, 1793);
  p.a.type = p.b.type = DType::f32;
  EXPECT_EQ(why_not(p), "multiplies no f32 in fp32");
  p = problem(1793, 1793, 0);
  EXPECT_EQ(why_not(p), "needs a product: k or alpha is 0");
  p = problem(1024, 1024, std::int64_t{1} << 31);
  p.a.row_stride = p.k + 1;
  EXPECT_EQ(why_not(p), "takes extents below 2^31 and strides below 2^40 bytes");
}

// An aligned operand stays; a copy keeps the adjacent dimension, and the copy engine can read it.
TEST(MatmulRepackPlan, CopiesTheOperandsThatNeedIt) {
  unsigned char* const scratch = nullptr;
  Problem p = problem(1000, 1001, 1024);
  RepackPlan plan = make_repack_plan(p, scratch);
  EXPECT_EQ(plan.params.a.items, 0);
  EXPECT_EQ(plan.problem.a.data, p.a.data);
  EXPECT_EQ(plan.problem.b.row_stride, 1024);
  EXPECT_EQ(plan.problem.b.col_stride, 1);
  EXPECT_TRUE(plan.params.b.dense);
  EXPECT_EQ(plan.scratch, std::size_t(1024 * 1024 * 2));
  EXPECT_EQ(plan.traffic, std::size_t(1024 * 1001 * 4));
  EXPECT_EQ(why_not_sm90(plan.problem), nullptr);

  p = problem(300, 200, 999);
  p.batch = 3;
  p.a.row_stride = 1, p.a.col_stride = 301, p.a.batch_stride = 301 * 999;  // m adjacent
  p.b.row_stride = 7, p.b.col_stride = 3 * 999;                            // no unit stride
  plan = make_repack_plan(p, scratch);
  EXPECT_EQ(plan.problem.a.row_stride, 1);
  EXPECT_EQ(plan.problem.a.col_stride, 320);
  EXPECT_EQ(plan.problem.a.batch_stride, 320 * 999);
  EXPECT_FALSE(plan.params.a.dense);
  EXPECT_EQ(plan.problem.b.row_stride, 1);
  EXPECT_EQ(plan.problem.b.col_stride, 1024);
  EXPECT_EQ(plan.problem.b.batch_stride, 0);  // one for all products
  EXPECT_EQ(plan.params.b.step, 7);
  EXPECT_GE(plan.params.b.place, plan.params.a.bytes());
  EXPECT_GE(plan.scratch, plan.params.b.place + plan.params.b.bytes());
  EXPECT_EQ(why_not_sm90(plan.problem), nullptr);
}

// Of f32 wgmma wants K adjacent in one operand: of two that have not, the smaller is transposed.
TEST(MatmulRepackPlan, TransposesOneOperandOfF32) {
  Problem p = problem(512, 300, 256);
  p.a.type = p.b.type = p.c.type = DType::f32;
  p.math = Math::tf32;
  EXPECT_EQ(why_not_sm90(p), nullptr);  // k and n adjacent
  p.a.row_stride = 1, p.a.col_stride = 512;
  EXPECT_NE(why_not_sm90(p), nullptr);
  const RepackPlan plan = make_repack_plan(p, nullptr);
  EXPECT_EQ(plan.params.a.items, 0);
  EXPECT_TRUE(plan.params.b.transposes);
  EXPECT_EQ(plan.problem.b.row_stride, 1);
  EXPECT_EQ(plan.problem.b.col_stride, 256);
  EXPECT_EQ(plan.traffic, std::size_t(300 * 256 * 4 * 2));
  EXPECT_EQ(why_not_sm90(plan.problem), nullptr);
  for (const Math math : {Math::tf32, Math::tf32x3}) {
    p = problem(1793, 1793, 1793);
    p.a.type = p.b.type = p.c.type = DType::f32;
    p.math = math;
    EXPECT_EQ(why_not(p), "");
  }
}

// Strides of 0, extents of one, addresses off by one: all that is left the copy engine can read.
TEST(MatmulRepackPlan, AnyViewBecomesReadable) {
  for (const std::int64_t mn : {1, 7, 64}) {
    for (const std::int64_t k : {1, 8, 333}) {
      for (const std::int64_t row : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, k, 2 * k}) {
        for (const std::int64_t col : {0, 1, 2, 65}) {
          for (const DType type : {DType::bf16, DType::f32}) {
            Problem p = problem(mn, mn, k);
            p.a = {at(kAligned + 4), type, row, col, 0};
            p.b = {at(kAligned + 4), type, col, row, 0};
            p.math = Math::tf32;
            const RepackPlan plan = make_repack_plan(p, nullptr);
            EXPECT_EQ(why_not_sm90(plan.problem), nullptr)
                << mn << " " << k << " " << row << " " << col;
            EXPECT_EQ(plan.params.a.items > 0, plan.params.b.items > 0);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace libkernels::op::matmul
