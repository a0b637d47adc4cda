// Public bug cases that the host layer decides, for every operation: what is refused, and that
// nothing is launched then. Those that concern results stand beside the kernels.
// Cost: nothing to speak of.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "include/libkernels/matrix.h"
#include "tests/kernels/all/any_call.h"
#include "tests/support/refusal.h"

namespace libkernels::test {
namespace {

const Backend& emu() { return emu_backend(); }

std::vector<AnyTypes> one_type_each() {
  std::vector<AnyTypes> all;
  for (const lk_op op : kAllOps) all.push_back(types_of(op).front());
  return all;
}

// Nothing between construction and destruction launches a kernel.
class NoLaunches {
 public:
  NoLaunches() {
    emulator::settings().count = true;
    emulator::reset_counters();
  }
  ~NoLaunches() { EXPECT_EQ(emulator::counters().launches, 0u); }
  NoLaunches(const NoLaunches&) = delete;
  NoLaunches& operator=(const NoLaunches&) = delete;

 private:
  SettingsScope restore_;
};

class PublicBugs : public testing::TestWithParam<AnyTypes> {
 protected:
  static std::string op() { return op_name(GetParam().op); }
  static bool is_matmul() { return GetParam().op == LK_OP_MATMUL; }
  // Of a view: its name in the texts.
  static std::string input() { return op() + (is_matmul() ? ": a" : ": x"); }
  static std::string output() { return op() + (is_matmul() ? ": c" : ": y"); }
  static Refusal run(const AnyViews& views) {
    return refusal([&] { views.run(emu()); });
  }
};

// C4, C8: strides and counts beyond 32 bits have a plan or, where an element lay beyond every
// address, a refusal.
TEST_P(PublicBugs, C8CountsBeyond32BitsArePlanned) {
  const NoLaunches none;
  for (const std::int64_t count : {(std::int64_t{1} << 31) - 1, std::int64_t{1} << 31,
                                   std::int64_t{1} << 32, std::int64_t{1} << 33}) {
    for (const AnyShape& shape :
         {AnyShape{.rows = count, .cols = 1}, AnyShape{.rows = 1, .cols = count},
          AnyShape{.rows = count, .cols = 9, .columns = true},
          AnyShape{.rows = count / 9, .cols = 9, .depth = 3}}) {
      const bool too_long = GetParam().op == LK_OP_SOFTMAX && shape.cols >= std::int64_t{1} << 31;
      const Refusal r = refusal([&] { far_views(GetParam(), shape).explain(emu()); });
      if (too_long && r.status != LK_SUCCESS) {
        EXPECT_TRUE(is_unsupported(r, "softmax")) << show(shape);
      } else {
        EXPECT_TRUE(is_accepted(r)) << show(shape);
      }
    }
  }
}

// E2: no rows or no columns, null data, strides of 0 and 1.
TEST_P(PublicBugs, E2ViewsWithoutElementsAreAcceptedAndLaunchNothing) {
  const NoLaunches none;
  for (const std::int64_t stride : {0, 1}) {
    for (const auto& [rows, cols] : {std::pair{0, 5}, std::pair{0, 0}, std::pair{3, 0}}) {
      if (GetParam().op == LK_OP_ROW_SUM && rows > 0) continue;  // sums of nothing are written
      AnyViews v = far_views(GetParam(), {.rows = rows, .cols = cols, .depth = 0});
      v.x.data = v.b.data = v.y.data = nullptr;
      v.x.row_stride = v.x.col_stride = v.b.row_stride = v.b.col_stride = stride;
      v.y.row_stride = v.y.col_stride = stride;
      EXPECT_TRUE(is_accepted(run(v))) << rows << "x" << cols;
    }
  }
}

// F4: an output whose elements share a place.
TEST_P(PublicBugs, F4BroadcastOutputsAreRefused) {
  AnyCall call(emu(), GetParam(), {.rows = 2, .cols = 3, .depth = 4}, 1);
  const NoLaunches none;
  AnyViews v = call.views();
  v.y.row_stride = 0;
  EXPECT_TRUE(is_invalid(run(v), output() + ".row_stride is 0"));
}

// F5: a flipped view is refused by name, whichever operand it is.
TEST_P(PublicBugs, F5NegativeStridesAreRefusedByName) {
  AnyCall call(emu(), GetParam(), {.rows = 2, .cols = 3, .depth = 4}, 1);
  const Bits before = call.result();
  const NoLaunches none;
  AnyViews v = call.views();
  v.x.col_stride = -1;
  EXPECT_TRUE(is_invalid(run(v), input() + ".col_stride is -1"));
  v = call.views();
  v.x.row_stride = -4;
  EXPECT_TRUE(is_invalid(run(v), input() + ".row_stride is -4"));
  v = call.views();
  v.y.row_stride = -3;
  EXPECT_TRUE(is_invalid(run(v), output() + ".row_stride is -3"));
  if (is_matmul()) {
    v = call.views();
    v.b.row_stride = -3;
    EXPECT_TRUE(is_invalid(run(v), "matmul: b.row_stride is -3"));
  }
  EXPECT_EQ(call.result(), before);
}

// F6: an output that meets an input in part, and one of matmul's that is an input or its bias.
TEST_P(PublicBugs, F6OverlapIsRefusedBeforeTheLaunch) {
  AnyCall call(emu(), GetParam(), {.rows = 4, .cols = 4, .depth = 4}, 1);
  const Bits x = call.x().read(), y = call.result();
  const NoLaunches none;
  AnyViews v = call.views();
  const std::size_t element = size_of(GetParam().of.a);
  v.x.data = static_cast<const char*>(call.views().y.data) + element;
  EXPECT_TRUE(is_invalid(run(v), "overlaps"));
  v = call.views();
  if (is_matmul()) {
    v.x.data = v.y.data;
    EXPECT_TRUE(is_invalid(run(v), "overlaps the input a"));
    v = call.views();
    v.b.data = v.y.data;
    EXPECT_TRUE(is_invalid(run(v), "overlaps the input b"));
    lk_matmul_options o = LK_OPTIONS_INIT(lk_matmul_options);
    o.bias = call.views().y.data;
    o.bias_dtype = call.views().y.dtype;
    const AnyViews& w = call.views();
    EXPECT_TRUE(is_invalid(refusal([&] {
                             emu().matmul.run({&w.x, &w.b, &w.y, &o});
                           }),
                           "overlaps the input options.bias"));
  }
  EXPECT_EQ(call.x().read(), x);
  EXPECT_EQ(call.result(), y);
}

// B13, G3: no operation writes fp8, whose overflow policies differ; each says so by name.
TEST_P(PublicBugs, B13G3Fp8OutputsAreRefusedByName) {
  AnyCall call(emu(), GetParam(), {.rows = 2, .cols = 3, .depth = 4}, 1);
  const NoLaunches none;
  for (const DType type : {DType::f8_e4m3, DType::f8_e5m2}) {
    AnyViews v = call.views();
    v.y.dtype = lk_dtype(type);
    const Refusal r = run(v);
    EXPECT_TRUE(is_unsupported(r, op()));
    EXPECT_TRUE(is_unsupported(r, name(type)));
  }
}

INSTANTIATE_TEST_SUITE_P(, PublicBugs, testing::ValuesIn(one_type_each()),
                         [](const auto& info) { return op_name(info.param.op); });

// C4: the packed stride of 49152 x 65536 products.
TEST(PublicBugsOfViews, C4PackedStridesAre64Bit) {
  float* none = nullptr;
  const MatrixView<float> rows = libkernels::row_major(none, 49152, 65536);
  const MatrixView<float> columns = libkernels::col_major(none, 65536, 49152);
  EXPECT_EQ(rows.rows * rows.row_stride, std::int64_t{3221225472});
  EXPECT_EQ(columns.cols * columns.col_stride, std::int64_t{3221225472});
}

// G6: every mix of types says without a launch whether it runs; explain() and run() agree.
TEST(PublicBugsOfTypes, G6TheTableIsAskedWithoutLaunching) {
  constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::f8_e5m2};
  const ProfileScope profile("emu80");
  int accepted = 0, refused = 0;
  for (const lk_op op : kAllOps) {
    for (const DType a : kTypes) {
      for (const DType b : kTypes) {
        for (const DType c : kTypes) {
          if (op != LK_OP_MATMUL && a != b) continue;
          const AnyTypes types{op, {a, b, c}};
          SCOPED_TRACE(show(types));
          AnyCall call(emu(), types, {.rows = 2, .cols = 3, .depth = 4}, 1);
          Refusal asked;
          {
            const NoLaunches none;
            asked = refusal([&] { call.views().explain(emu()); });
          }
          const Refusal ran = refusal([&] { call.run(); });
          EXPECT_EQ(asked.status, ran.status) << asked.text << "\n" << ran.text;
          EXPECT_EQ(asked.text, ran.text);
          if (asked.status == LK_SUCCESS) {
            ++accepted;
            EXPECT_TRUE(call.right());
          } else {
            ++refused;
            EXPECT_TRUE(is_unsupported(asked, op_name(op)));
          }
        }
      }
    }
  }
  EXPECT_EQ(accepted, 3 * 5 + 5 + 4 * 3);  // matmul: f32, 16-bit twice two; fp8 mixes to three
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace libkernels::test
